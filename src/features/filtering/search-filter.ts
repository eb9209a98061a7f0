import type { FilterBackend, FilterContext, FilterResult } from '../../core/contracts/filters.js';
import { InvalidInput, InvalidSearchPattern } from '../../core/errors/http-exceptions.js';
import { settleMaybe } from '../../core/maybe-promise.js';
import { conjunction, disjunction } from '../../core/query/condition.js';
import type { Condition, TermMatch } from '../../core/query/condition.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { ResourceSchema, SearchField } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import { runStages } from '../../request/rest-context.js';
import type { Stage } from '../../request/rest-context.js';
import { groupByRelation } from './parse-filter.js';

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
  const document = resource.searchFields.find(({ operand }) => operand.document);
  if (document)
    return {
      rows: { kind: 'term', operand: document.operand, match: 'fulltext', term: quoteTerms(terms, name) },
    };
  const needed = combineTerms(
    terms,
    resource.searchFields.map(({ match }) => match),
  );
  return {
    rows: conjunction(
      needed.map((term) =>
        disjunction(
          byRelations(resource.searchFields).map(([first, ...others]) =>
            groupByRelation([
              {
                some: first.some,
                condition: disjunction([first, ...others].map((field) => termIn(field, term))),
              },
            ]),
          ),
        ),
      ),
    ),
  };
}

/** Of a phrase. InnoDB takes 127. */
const MOST_WORDS = 100;
const WORDS = /[\p{L}\p{N}]+/gu;

/** Each term in double quotes, so that nothing in it is an operator of the database. One without letters and digits names no word. */
function quoteTerms(terms: readonly string[], name: string): string {
  const quoted = terms
    .map((term) => term.replace(/["\s\p{Cc}]+/gu, ' ').trim())
    .filter((term) => /[\p{L}\p{N}]/u.test(term))
    .map((term) => `"${term}"`);
  if (quoted.some((term) => (term.match(WORDS) ?? []).length > MOST_WORDS))
    throw InvalidInput.of(name, `Ensure a phrase has no more than ${MOST_WORDS} words.`);
  return [...new Set(quoted)].join(' ');
}

function termIn({ operand, match, within }: SearchField, term: string): Condition {
  return conjunction([{ kind: 'term', operand, match, term }, ...(within ? [within] : [])]);
}

type SearchFields = readonly [SearchField, ...SearchField[]];

const BY_RELATIONS = new WeakMap<readonly SearchField[], readonly SearchFields[]>();

/** The fields of the model itself one by one, and those over the same to-many relations together: one EXISTS searches them. */
function byRelations(fields: readonly SearchField[]): readonly SearchFields[] {
  const known = BY_RELATIONS.get(fields);
  if (known) return known;
  const groups = new Map<string, [SearchField, ...SearchField[]]>();
  for (const [index, field] of fields.entries()) {
    const names = field.some.map(({ joinPath, relation }) => [...joinPath, relation].map(({ name }) => name));
    const key = names.length === 0 ? String(index) : JSON.stringify(names);
    const group = groups.get(key);
    if (group) group.push(field);
    else groups.set(key, [field]);
  }
  const found = [...groups.values()];
  BY_RELATIONS.set(fields, found);
  return found;
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
  const done = (): void => undefined;
  const failed = (error: unknown): never => {
    throw error instanceof InvalidSearchPattern
      ? new InvalidSearchPattern(parameterName('search', resource))
      : error;
  };
  return [(context) => settleMaybe(() => runStages(stages, context), done, failed)];
}
