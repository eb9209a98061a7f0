import { rankedText } from '../schema.js';
import type { EntitySpec, Json, JsonType } from '../schema.js';
import type { Names } from './access.js';
import { defaultFilters, keyColumnOf, mayAsk, operandOf, relatedTo, visibleRelated } from './filters.js';
import type { ReadContext } from './filters.js';
import { jsonTypeAt, KINDS_OF_TYPES, typedValue } from './json-paths.js';
import type { Resource } from './resources.js';
import { keyJson } from './state.js';
import type { Row } from './state.js';
import { compareValues } from './values.js';

export interface OrderTerm {
  readonly path: readonly string[];
  readonly isDescending: boolean;
}

/** An entity, and the type of the value in a column of JSON to which a path leads. */
interface Operand {
  readonly entity: EntitySpec;
  readonly path: readonly string[];
  readonly type: JsonType | undefined;
}

export interface OrderContext extends ReadContext {
  readonly readable: Names;
}

/** The order of a list, without the key as the last term. */
export function orderOf(resource: Resource, asked: string | undefined, context: OrderContext): OrderTerm[] {
  const { options, entity } = resource;
  const readable = { entity, options, readable: context.readable };
  const ranked = rankedText({ columns: entity.columns, options });
  const isRanked = ranked?.isOrder === true && mayAsk(context, readable, [ranked.name]);
  const allowed = options.orderingFields ?? Object.keys(defaultFilters(context.state, resource));
  const chosen = (asked ?? '')
    .split(',')
    .map((name) => orderTerm(name.trim(), '__'))
    .filter(
      ({ path }) =>
        (isRanked && isRank({ path })) ||
        (allowed.includes(path.join('.')) && mayAsk(context, readable, path)),
    );
  const terms =
    chosen.length > 0
      ? chosen
      : (options.ordering ?? [])
          .map((name) => orderTerm(name, '.'))
          .filter(({ path }) => context.readable === 'all' || context.readable.has(path[0] ?? ''));
  const names = terms.map(({ path }) => path.join('.'));
  return terms.filter(({ path }, index) => names.indexOf(path.join('.')) === index);
}

function orderTerm(name: string, separator: string): OrderTerm {
  const isDescending = name.startsWith('-');
  return { path: (isDescending ? name.slice(1) : name).split(separator), isDescending };
}

/** Whether a term is the order by rank, which only the database knows. */
export function isRank({ path }: Pick<OrderTerm, 'path'>): boolean {
  return path.length === 1 && path[0] === 'rank';
}

interface Ordered {
  readonly order: readonly OrderTerm[];
  readonly context: OrderContext;
}

export function orderRows(resource: Resource, rows: readonly Row[], ordered: Ordered): Row[] {
  return [...rows].sort((one, other) => compareRows(resource, [one, other], ordered));
}

/** Compares two rows, like a comparator of `sort`; the key breaks ties in the direction of the last term. */
export function compareRows(
  { entity, options: { filterFields: filters } }: Pick<Resource, 'entity' | 'options'>,
  rows: readonly [Row, Row],
  { order, context }: Ordered,
): number {
  for (const { path, isDescending } of order.filter((term) => !isRank(term))) {
    const type = jsonTypeAt(context.state, { entity, path, filters });
    const values = rows.map((row) => valueAt(context, { entity, row }, path, type));
    const difference = compareAt(context, { entity, path, type }, values);
    if (difference !== 0) return isDescending ? -difference : difference;
  }
  const ties = compareKeys(entity, ...rows);
  return order.at(-1)?.isDescending === true ? -ties : ties;
}

/** Composite keys are compared column by column. */
function compareAt(
  { state }: OrderContext,
  { entity, path, type }: Operand,
  values: readonly Json[],
): number {
  if (type) return compareNullable(values, KINDS_OF_TYPES[type], state.database);
  const related = relatedTo(state, entity, path);
  if (!related || related.key.columns.length === 1 || values.includes(null))
    return compareNullable(values, operandOf(state, entity, path).kind, state.database);
  const [one, other] = values.map((key) => state.anyRow(related.name, String(key)));
  return one && other ? compareKeys(related, one, other) : 0;
}

function compareNullable(
  [one = null, other = null]: readonly Json[],
  kind: Parameters<typeof compareValues>[2],
  database: string,
): number {
  if (one === null || other === null) {
    if (one === other) return 0;
    const nullsFirst = database === 'postgres' ? 1 : -1;
    return one === null ? nullsFirst : -nullsFirst;
  }
  return compareValues(one, other, kind);
}

/** The value of a path over forward relations: null where the caller does not see a related object. */
export function valueAt(
  sight: ReadContext,
  { entity, row }: { readonly entity: EntitySpec; readonly row: Row | undefined },
  path: readonly string[],
  type?: JsonType,
): Json {
  const [name = '', ...rest] = path;
  const relation = entity.relations.find((each) => each.name === name);
  if (!row) return null;
  if (!relation)
    return type ? (typedValue(row.values[name] ?? null, rest, type) ?? null) : (row.values[name] ?? null);
  const target = sight.state.entity(relation.target);
  if (rest.length === 0) return keyJson(target, (row.values[name] ?? null) as string | null);
  const related = visibleRelated(sight, { entity, row }, relation)[0];
  return valueAt(sight, { entity: target, row: related }, rest, type);
}

export function compareKeys(entity: EntitySpec, one: Row, other: Row): number {
  if (entity.key.columns.length === 1) {
    const column = keyColumnOf(entity);
    return compareValues(
      one.values[column.name] ?? one.key,
      other.values[column.name] ?? other.key,
      column.kind,
    );
  }
  for (const column of entity.key.columns) {
    const difference = compareValues(
      one.values[column.name] ?? null,
      other.values[column.name] ?? null,
      column.kind,
    );
    if (difference !== 0) return difference;
  }
  return 0;
}
