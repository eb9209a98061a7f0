import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { MOST_OF_QUERY } from '../../core/schema/limits.js';
import type { QueryLimits } from '../../core/schema/limits.js';
import type { CompilerInput } from '../compiler-input.js';
import { optionLocations } from './option-locations.js';

const MAX_OF_LIMIT: ReadonlyMap<string, number> = new Map(Object.entries(MOST_OF_QUERY));

/** Verifies that a limit is known, positive (features are disabled by other options), and within the bounds of databases. */
export function verifyQueryLimits(input: CompilerInput): readonly DeclarationProblem[] {
  return optionLocations(input).flatMap(({ where, options: { queryLimits } }) =>
    Object.entries((queryLimits ?? {}) as Partial<QueryLimits>).flatMap(
      ([name, limit]): readonly DeclarationProblem[] => {
        const most = MAX_OF_LIMIT.get(name);
        if (most === undefined)
          return [
            {
              where: `${where}.queryLimits.${name}`,
              what: `"${name}" is not a limit`,
              repair: didYouMean(name, MAX_OF_LIMIT.keys()),
            },
          ];
        return Number.isSafeInteger(limit) && limit > 0 && limit <= most
          ? []
          : [
              {
                where: `${where}.queryLimits.${name}`,
                what: `${String(limit)} is not a limit`,
                repair: `Write a whole number from 1 to ${most}.`,
              },
            ];
      },
    ),
  );
}
