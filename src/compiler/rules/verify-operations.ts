import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { OPERATIONS } from '../../core/schema/operation.js';
import type { CompilerInput } from '../compiler-input.js';

/** Verifies that `operations` lists known operations. */
export function verifyOperations({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  return drafts.flatMap(({ declaration }) =>
    (declaration.options.operations ?? []).flatMap((name, index): readonly DeclarationProblem[] =>
      (OPERATIONS as readonly string[]).includes(name)
        ? []
        : [
            {
              where: `${declaration.name}.operations[${index}]`,
              what: `"${name}" is not an operation`,
              repair: didYouMean(name, OPERATIONS),
            },
          ],
    ),
  );
}
