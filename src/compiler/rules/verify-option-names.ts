import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompilerInput } from '../compiler-input.js';
import { MODEL_OPTIONS } from './option-kinds.js';

/** Rejects unknown options, and arguments beside the options: they would be silently ignored, permissions among them. */
export function verifyOptionNames({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  return drafts.flatMap(({ declaration: { name: model, options, hasMoreArguments } }) => [
    ...(hasMoreArguments
      ? [
          {
            where: model,
            what: '@Restify has one argument, and more are given',
            repair: "Write the app label among the options: @Restify({ app: 'blog', … }).",
          },
        ]
      : []),
    ...Object.keys(options)
      .filter((name) => !Object.hasOwn(MODEL_OPTIONS, name))
      .map((name) => ({
        where: `${model}.${name}`,
        what: `"${name}" is not an option of @Restify`,
        repair: didYouMean(name, Object.keys(MODEL_OPTIONS)),
      })),
  ]);
}
