import { InvalidInput, InvalidSearchPattern } from '../../core/errors/http-exceptions.js';
import { isPromise } from '../../core/maybe-promise.js';
import { conjunction, disjunction } from '../../core/query/condition.js';
import type { FilterBackend, FilterContext, FilterResult } from '../../core/contracts/filter-backend.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Stage } from '../../request/rest-context.js';
import { runStages } from '../../request/rest-context.js';
import { combineTerms } from './combine-terms.js';

/**
 * `search=<text>`: every term occurs in at least one search field of the object (contract 4.9). Terms are separated by
 * blanks or commas; quotes delimit a phrase. `%` and `_` are literal.
 */
export class SearchFilter implements FilterBackend {
  filter(context: FilterContext): FilterResult {
    return searched(parameterName('search', context.resource), context);
  }

  parameters(resource: ResourceSchema): readonly string[] {
    return [parameterName('search', resource)];
  }
}

/** The condition for the text of this parameter. */
export function searched(name: string, { resource, parameters }: FilterContext): FilterResult {
  const terms = searchTerms(parameters.get(name) ?? '');
  const { searchTerms: limit } = resource.queryLimits;
  if (terms.length > limit) throw InvalidInput.of(name, `Ensure there are no more than ${limit} terms.`);
  if (terms.length === 0 || resource.searchFields.length === 0) return {};
  const needed = combineTerms(
    terms,
    resource.searchFields.map(({ match }) => match),
  );
  return {
    rows: conjunction(
      needed.map((term) =>
        disjunction(
          resource.searchFields.map(({ operand, match, within }) =>
            conjunction([{ kind: 'term', operand, match, term }, ...(within ? [within] : [])]),
          ),
        ),
      ),
    ),
  };
}

/** Splits the text in one pass, so that its time is linear. */
export function searchTerms(text: string): readonly string[] {
  const terms: string[] = [];
  let term = '';
  let quote = '';
  // An unclosed quote is an ordinary character.
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

/** Adds the search parameter to an error of a pattern, if it is renamed: the database does not know its name. */
export function nameSearchErrors(resource: Resource, stages: readonly Stage[]): readonly Stage[] {
  if (!resource.renamed.has('search')) return stages;
  const failed = (error: unknown): never => {
    throw error instanceof InvalidSearchPattern
      ? new InvalidSearchPattern(parameterName('search', resource))
      : error;
  };
  return [
    (context) => {
      try {
        const pending = runStages(stages, context);
        return isPromise(pending) ? pending.catch(failed) : pending;
      } catch (error) {
        return failed(error);
      }
    },
  ];
}
