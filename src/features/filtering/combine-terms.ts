import type { TermMatch } from '../../core/query/condition.js';

/** True if every value that matches `longer` also matches `term`, under any collation of the database. */
type Follows = (term: string, longer: string) => boolean;

/**
 * The search terms that have to be compared: those that another term implies, under each lookup of the search fields, are
 * left out, which saves a comparison for every row and field.
 */
export function combineTerms(terms: readonly string[], matches: readonly TermMatch[]): readonly string[] {
  if (terms.length < 2) return terms;
  const follows = [...new Set(matches)].map((match) => FOLLOWS[match]);
  const kept: string[] = [];
  for (const term of terms) {
    const isImplied = (by: string): boolean => follows.every((each) => each(term, by));
    if (kept.some(isImplied)) continue;
    const left = kept.filter((each) => !follows.every((follow) => follow(each, term)));
    kept.splice(0, kept.length, ...left, term);
  }
  return kept;
}

const FOLLOWS: Readonly<Record<TermMatch, Follows>> = {
  contains: (term, longer) => isSame(term, longer) || (isAscii(term) && lower(longer).includes(lower(term))),
  startswith: (term, longer) =>
    isSame(term, longer) || (isAscii(term) && lower(longer).startsWith(lower(term))),
  exact: isSame,
  regex: (term, longer) => term === longer,
  fulltext: (term, longer) => term === longer,
};

function isSame(term: string, other: string): boolean {
  return term === other || lower(term) === lower(other);
}

/**
 * ASCII folding, which all databases share; beyond ASCII each folds differently, and some depending on neighboring
 * letters.
 */
function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
