import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { MOST_OF_QUERY } from '../../core/schema/limits.js';
import type { CompilerInput } from '../compiler-input.js';

const MAX_OF_LIMIT: ReadonlyMap<string, number> = new Map(Object.entries(MOST_OF_QUERY));

/** Verifies that a limit is known, positive (features are disabled by other options), and within the bounds of databases. */
export function verifyQueryLimits({
  prefix,
  defaults,
  drafts,
}: CompilerInput): readonly DeclarationProblem[] {
  const given = drafts.map(({ declaration }) => ({
    where: `${declaration.name}.queryLimits`,
    limits: declaration.options.queryLimits ?? {},
  }));
  return [
    { where: `RestifyModule.forRoot('${prefix}').queryLimits`, limits: defaults.queryLimits },
    ...given,
  ].flatMap(({ where, limits }) =>
    Object.entries(limits).flatMap(([name, limit]): readonly DeclarationProblem[] => {
      const most = MAX_OF_LIMIT.get(name);
      if (most === undefined)
        return [
          {
            where: `${where}.${name}`,
            what: `"${name}" is not a limit`,
            repair: didYouMean(name, MAX_OF_LIMIT.keys()),
          },
        ];
      return Number.isSafeInteger(limit) && limit > 0 && limit <= most
        ? []
        : [
            {
              where: `${where}.${name}`,
              what: `${String(limit)} is not a limit`,
              repair: `Write a whole number from 1 to ${most}.`,
            },
          ];
    }),
  );
}
