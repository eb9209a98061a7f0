import type { Json } from '../errors/rest-exception.js';
import type { PathOf } from '../schema/entity-paths.js';
import type { Lookup } from './lookups.js';

/**
 * A predicate on the rows of a model, as declared by a permission or a filter backend. Names are those of the entity's
 * properties, with dots over relations (`question.pub_date`; over a to-many relation: at least one), hidden columns included.
 * Resolved against the compiled model, so that no text of a request becomes SQL. Values are as in a JSON body.
 *
 * ```ts
 * and(where('owner', 'exact', actor.id), not(where('choices.votes', 'gt', 100)))
 * ```
 */
export type RowFilter =
  | { readonly kind: 'where'; readonly path: string; readonly lookup: Lookup; readonly value: Json }
  | { readonly kind: 'and' | 'or'; readonly filters: readonly RowFilter[] }
  | { readonly kind: 'not'; readonly filter: RowFilter };

/**
 * Creates a filter by a column. With two arguments the lookup is `exact`. With the class of the entity, TypeScript checks the
 * path, of at most three steps: `where<Ticket>('owner', actor.id)`.
 * @throws TypeError for the value undefined
 */
export function where(path: string, lookup: Lookup, value: Json): RowFilter;
export function where(path: string, value: Json): RowFilter;
export function where<Entity extends object>(
  path: PathOf<Entity>,
  ...args: readonly [value: Json] | readonly [lookup: Lookup, value: Json]
): RowFilter;
export function where(path: string, ...args: readonly [Json] | readonly [Lookup, Json]): RowFilter {
  const [first, second] = args;
  const [lookup, value] =
    args.length === 1 ? (['exact', first] as const) : ([first as Lookup, second] as const);
  // Rejects undefined: otherwise an actor without an id could match rows without an owner.
  if (value === undefined)
    throw new TypeError(
      `where("${path}", …) is given undefined as the value. Use null for rows without a value.`,
    );
  return { kind: 'where', path, lookup, value };
}

/** The conjunction of filters; without filters, all rows. */
export function and(...filters: readonly RowFilter[]): RowFilter {
  return { kind: 'and', filters };
}

/** The disjunction of filters; without filters, no row. */
export function or(...filters: readonly RowFilter[]): RowFilter {
  return { kind: 'or', filters };
}

/** A filter with the name of the class that has made it, for errors. */
export type SourcedFilter = Extract<RowFilter, { filters: unknown }> & { readonly source: string };

export function withSource(filter: RowFilter, source: string): SourcedFilter {
  return { kind: 'and', filters: [filter], source };
}

export function isSourced(filter: RowFilter): filter is SourcedFilter {
  return 'source' in filter;
}
