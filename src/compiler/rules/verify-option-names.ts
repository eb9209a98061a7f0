import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { OPTION_NAMES } from '../../decorators/restify-options.js';
import type { CompilerInput } from '../blueprint.js';

/** Rejects unknown options: a misspelt one would be silently ignored. */
export function verifyOptionNames({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  return drafts.flatMap(({ declaration }) =>
    Object.keys(declaration.options)
      .filter((name) => !(OPTION_NAMES as readonly string[]).includes(name))
      .map((name) => ({
        where: `${declaration.name}.${name}`,
        what: `"${name}" is no option of @Restify`,
        repair: didYouMean(name, OPTION_NAMES),
      })),
  );
}
