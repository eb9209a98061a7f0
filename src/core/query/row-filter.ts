import type { Json } from '../errors/rest-exception.js';

/** What can be asked of a column (contract 4.7). `exact` is exact in case, accents and blanks on every database. */
export const LOOKUPS = [
  'exact',
  'iexact',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'range',
  'contains',
  'icontains',
  'startswith',
  'istartswith',
  'endswith',
  'iendswith',
  'isnull',
  'ne',
] as const;

export type Lookup = (typeof LOOKUPS)[number];

/** Those whose value need not be a whole one of the column's: it is part of a text, or one in another case. */
export const TEXT_LOOKUPS: ReadonlySet<string> = new Set<Lookup>([
  'iexact',
  'contains',
  'icontains',
  'startswith',
  'istartswith',
  'endswith',
  'iendswith',
]);

/**
 * Which rows of a model, as an author or a filter backend says it. Names are those of the entity's properties, over
 * relations with dots (`question.pub_date`; over a to-many relation: at least one), hidden columns included. Resolved
 * against the compiled model, so that no text of a request becomes SQL. Values are as in a JSON body.
 *
 * ```ts
 * and(where('owner', 'exact', actor.id), not(where('choices.votes', 'gt', 100)))
 * ```
 */
export type RowFilter =
  | { readonly kind: 'where'; readonly path: string; readonly lookup: Lookup; readonly value: Json }
  | { readonly kind: 'and' | 'or'; readonly filters: readonly RowFilter[] }
  | { readonly kind: 'not'; readonly filter: RowFilter };

/** Rows whose column fits. With two arguments the lookup is `exact`. */
export function where(path: string, lookup: Lookup, value: Json): RowFilter;
export function where(path: string, value: Json): RowFilter;
export function where(path: string, ...said: readonly [Json] | readonly [Lookup, Json]): RowFilter {
  const [first, second] = said;
  const [lookup, value] =
    said.length === 1 ? (['exact', first] as const) : ([first as Lookup, second] as const);
  // Not told apart from a value that is meant, an actor without an id would see the rows of somebody else.
  if (value === undefined)
    throw new TypeError(
      `where("${path}", …) is given undefined as the value. Use null for rows without a value.`,
    );
  return { kind: 'where', path, lookup, value };
}

/** Rows that fit all; of no filters, all rows. */
export function and(...filters: readonly RowFilter[]): RowFilter {
  return { kind: 'and', filters };
}

/** Rows that fit one at least; of no filters, no row. */
export function or(...filters: readonly RowFilter[]): RowFilter {
  return { kind: 'or', filters };
}
