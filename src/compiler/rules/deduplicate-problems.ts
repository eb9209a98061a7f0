import type { DeclarationProblem } from '../../core/errors/declaration-error.js';

/** Removes duplicate problems: a junction is compiled once for each side, which repeats the problems of its declaration. */
export function deduplicateProblems(problems: readonly DeclarationProblem[]): readonly DeclarationProblem[] {
  return problems.filter(
    ({ where, what }, index) =>
      problems.findIndex((each) => each.where === where && each.what === what) === index,
  );
}
