import type { DeclarationProblem } from '../../core/errors/declaration-error.js';

/** A resource is compiled once for each side of a junction, and its author's mistake is one. */
export function deduplicateProblems(problems: readonly DeclarationProblem[]): readonly DeclarationProblem[] {
  return problems.filter(
    ({ where, what }, index) =>
      problems.findIndex((each) => each.where === where && each.what === what) === index,
  );
}
