import type { Names } from './access.js';
import { lower } from './conditions.js';
import { fieldsOf } from './fields.js';
import { mayAsk, visibleRelated } from './filters.js';
import type { ReadContext } from './filters.js';
import type { Resource } from './resources.js';
import type { Placed, Row, State } from './state.js';
import { isStringKind } from './values.js';
import { rankedText } from '../schema.js';

/** The terms of a search, separated by blanks or commas; quotation marks enclose a phrase. */
export function searchTerms(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|[^\s,"]+/g)]
    .map((match) => (match[1] ?? match[0]).trim())
    .filter((term) => term !== '');
}

/** The rows in which each term occurs in at least one search field. */
export function searchRows(
  sight: ReadContext,
  { resource, readable }: { readonly resource: Resource; readonly readable: Names },
  { rows, text }: { readonly rows: readonly Row[]; readonly text: string },
): Row[] {
  const { entity, options } = resource;
  const ranked = rankedText({ columns: entity.columns, options });
  if (ranked)
    return mayAsk(sight, { entity, options, readable }, [ranked.name])
      ? rowsWithWords(rows, ranked.name, text)
      : [...rows];
  const fields = searchFields(sight.state, resource).filter(({ path }) =>
    mayAsk(sight, { entity, options, readable }, path),
  );
  const terms = searchTerms(text);
  if (fields.length === 0 || terms.length === 0) return [...rows];
  return rows.filter((row) =>
    terms.every((term) =>
      fields.some(({ path, prefix }) =>
        textsAt(sight, { entity, row }, path).some((value) => occurs(lower(value), lower(term), prefix)),
      ),
    ),
  );
}

/** The rows with each term as whole words, in the order of a phrase (contract 10.9). */
function rowsWithWords(rows: readonly Row[], name: string, text: string): Row[] {
  const terms = searchTerms(text);
  const phrases = terms.map(wordsOf).filter((words) => words.length > 0);
  if (terms.length === 0) return [...rows];
  if (phrases.length === 0) return [];
  return rows.filter((row) => {
    const words = ` ${wordsOf(String(row.values[name] ?? '')).join(' ')} `;
    return phrases.every((phrase) => words.includes(` ${phrase.join(' ')} `));
  });
}

export function wordsOf(text: string): readonly string[] {
  return lower(text).match(/[a-z0-9]+/g) ?? [];
}

function occurs(value: string, term: string, prefix: string): boolean {
  if (prefix === '^') return value.startsWith(term);
  return prefix === '=' ? value === term : value.includes(term);
}

function searchFields(state: State, resource: Resource): { path: string[]; prefix: string }[] {
  const named =
    resource.options.searchFields ??
    fieldsOf(state, resource)
      .filter(({ isReadable, column }) => isReadable && column && isStringKind(column.kind))
      .map(({ name }) => name);
  return named.map((name) => {
    const prefix = /^[\^=]/.exec(name)?.[0] ?? '';
    return { path: name.slice(prefix.length).split('.'), prefix };
  });
}

function textsAt(sight: ReadContext, { entity, row }: Placed, path: readonly string[]): string[] {
  const [name = '', ...rest] = path;
  const relation = entity.relations.find((each) => each.name === name);
  if (!relation) {
    const value = row.values[name] ?? null;
    return value === null ? [] : [String(value)];
  }
  const target = sight.state.entity(relation.target);
  return visibleRelated(sight, { entity, row }, relation).flatMap((related) =>
    textsAt(sight, { entity: target, row: related }, rest),
  );
}
