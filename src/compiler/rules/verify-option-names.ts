import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompilerInput } from '../compiler-input.js';
import { MODEL_OPTIONS } from './option-kinds.js';

/** Rejects unknown options: a misspelt one would be silently ignored. */
export function verifyOptionNames({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  return drafts.flatMap(({ declaration }) =>
    Object.keys(declaration.options)
      .filter((name) => !Object.hasOwn(MODEL_OPTIONS, name))
      .map((name) => ({
        where: `${declaration.name}.${name}`,
        what: `"${name}" is not an option of @Restify`,
        repair: didYouMean(name, Object.keys(MODEL_OPTIONS)),
      })),
  );
}
