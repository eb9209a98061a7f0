import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { OPERATIONS } from '../../core/schema/operation.js';
import type { CompilerInput } from '../compiler-input.js';
import { optionLocations } from './option-locations.js';

/** Verifies that `operations` lists known operations; its type is verified elsewhere. */
export function verifyOperations(input: CompilerInput): readonly DeclarationProblem[] {
  return optionLocations(input).flatMap(({ where, options: { operations } }) =>
    (Array.isArray(operations) ? (operations as readonly string[]) : []).flatMap(
      (name, index): readonly DeclarationProblem[] =>
        (OPERATIONS as readonly string[]).includes(name)
          ? []
          : [
              {
                where: `${where}.operations[${index}]`,
                what: `"${name}" is not an operation`,
                repair: didYouMean(name, OPERATIONS),
              },
            ],
    ),
  );
}
