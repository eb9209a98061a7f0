/** An invalid declaration: what is wrong, where, and how to repair it. */
export interface DeclarationProblem {
  /** The location in the declaration: `Post.filterFields[2]`. */
  readonly where: string;
  /** What is wrong: `"titel" is not a field of Post`. */
  readonly what: string;
  /** The correction, as a sentence: `Did you mean "title"?` */
  readonly repair: string;
}

/**
 * Thrown at boot for invalid declarations, so that the application does not start. Holds all problems, not only the first.
 * Its message is a list with one line for each problem:
 * `Post.filterFields[2]: "titel" is not a field of Post. Did you mean "title"?`
 */
export class DeclarationError extends Error {
  declare readonly problems: readonly DeclarationProblem[];

  constructor(problems: readonly DeclarationProblem[]) {
    super(DeclarationError.text(problems));
    this.name = 'DeclarationError';
    // Not enumerable: Node and loggers print the members of an error behind its message, which has all problems already.
    Object.defineProperty(this, 'problems', { value: problems });
  }

  private static text(problems: readonly DeclarationProblem[]): string {
    const lines = problems.map(({ where, what, repair }) => `  - ${where}: ${what}. ${repair}`);
    const count = problems.length === 1 ? 'a declaration is' : `${problems.length} declarations are`;
    return `nestjs-restify does not start, because ${count} wrong:\n${lines.join('\n')}`;
  }
}

/** `Did you mean "title"?` for the most similar of `known`, else the list of them. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const names = [...known];
  const nearest = nearestName(name, names);
  if (nearest !== undefined) return `Did you mean "${nearest}"?`;
  if (names.length === 0) return 'There is none to name here.';
  return `Known here: ${names.map((each) => `"${each}"`).join(', ')}.`;
}

/** The name with the smallest edit distance, of a third of the length at most; the first of equals. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const each of known) {
    const distance = editDistance(name.toLowerCase(), each.toLowerCase());
    if (distance < bestDistance) {
      best = each;
      bestDistance = distance;
    }
  }
  return best;
}

/** The number of characters to insert, delete or replace. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
