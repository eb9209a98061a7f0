import type { DeclarationProblem } from '../../core/errors/declaration-error.js';

/** What a rule finds, in the order in which it is listed. */
export type Problems = Iterable<DeclarationProblem>;

/** A problem whose location the caller knows. */
export type Flaw = Omit<DeclarationProblem, 'where'>;

export function problem(where: string, what: string, repair: string): DeclarationProblem {
  return { where, what, repair };
}

/** Each problem once: a junction is compiled for each of its sides, which repeats the problems of its declaration. */
export function unique(problems: Problems): readonly DeclarationProblem[] {
  const found = new Map<string, DeclarationProblem>();
  for (const each of problems) {
    const key = JSON.stringify([each.where, each.what]);
    if (!found.has(key)) found.set(key, each);
  }
  return [...found.values()];
}

/** The location of the options of a prefix. */
export function nameOfPrefix(prefix: string): string {
  return `RestifyModule.forRoot('${prefix}')`;
}
