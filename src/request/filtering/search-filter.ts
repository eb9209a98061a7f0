import { InvalidInput } from '../../errors/request-errors.js';
import { allOf, oneOf } from '../../model/condition.js';
import type { FilterBackend, FilterQuestion, Filtering } from '../../model/filter-backend.js';

/** Terms of one search; more are refused. */
export const MAX_SEARCH_TERMS = 50;

/**
 * `search=<text>`: every term occurs in at least one search field of the object (contract 4). Terms stand between
 * blanks or commas; quotes keep a phrase together. `%` and `_` are literal.
 */
export class SearchFilter implements FilterBackend {
  filter({ resource, parameters }: FilterQuestion): Filtering {
    const terms = searchTerms(parameters.get('search') ?? '');
    if (terms.length > MAX_SEARCH_TERMS) throw InvalidInput.of('search', `Ensure there are no more than ${MAX_SEARCH_TERMS} terms.`);
    if (terms.length === 0 || resource.searchFields.length === 0) return {};
    return {
      rows: allOf(terms.map((term) => oneOf(resource.searchFields.map(({ operand, match, within }) => allOf([{ kind: 'term', operand, match, term }, ...(within ? [within] : [])]))))),
    };
  }

  parameters(): readonly string[] {
    return ['search'];
  }
}

/** One pass over the text, so that no input is slow. */
export function searchTerms(text: string): readonly string[] {
  const terms: string[] = [];
  let term = '';
  let quote = '';
  // A quote that is never closed is a letter.
  const lastQuote = { '"': [...text].lastIndexOf('"'), "'": [...text].lastIndexOf("'") };
  const end = (): void => {
    if (term !== '') terms.push(term);
    term = '';
  };
  const letters = [...text];
  for (const [at, letter] of letters.entries()) {
    if (quote !== '') {
      if (letter === quote) {
        end();
        quote = '';
      } else term += letter;
    } else if ((letter === '"' || letter === "'") && term === '' && at < lastQuote[letter]) quote = letter;
    else if (letter === ',' || letter.trim() === '') end();
    else term += letter;
  }
  end();
  return terms;
}
