import type { Json } from '../errors/rest-exception.js';
import { allOf, ALWAYS, oneOf } from './condition.js';
import type { Condition, Operand } from './condition.js';
import type { Column } from '../schema/column.js';
import type { Relation } from '../schema/relation.js';
import type { Resource } from '../schema/resource.js';
import { LOOKUPS, TEXT_LOOKUPS } from './row-filter.js';
import type { RowFilter } from './row-filter.js';
import { parseStored } from '../values/parse-compared.js';
import { parseValue } from '../values/parse-value.js';

/** A value in an author's filter that its column cannot hold. */
export class UnfitValue extends Error {
  constructor(
    said: string,
    readonly messages: readonly string[],
  ) {
    super(`${said}, which does not fit: ${messages.join(' ')}`);
  }
}

/**
 * An author's filter against the compiled model. Hidden columns count; a to-many relation means: at least one related
 * row. Throws a plain error, which is the author's to mend, for a name that the model does not have, and for what is no filter.
 */
export function resolveRowFilter(filter: RowFilter | 'all', resource: Resource): Condition {
  if (filter === 'all') return ALWAYS;
  switch (filter.kind) {
    case 'and':
      return allOf(filter.filters.map((each) => resolveRowFilter(each, resource)));
    case 'or':
      return oneOf(filter.filters.map((each) => resolveRowFilter(each, resource)));
    case 'not':
      return { kind: 'not', condition: resolveRowFilter(filter.filter, resource) };
    case 'where':
      return resolveComparison(filter, resource);
    default:
      // Given back as it is, it would be taken for a condition, and a text of it for SQL.
      throw new Error(
        `A filter of rows is none: ${JSON.stringify(filter satisfies never)}. Make it by where(), and(), or() and not(), and wait for what it is made of.`,
      );
  }
}

type Comparison = Extract<RowFilter, { kind: 'where' }>;

interface Place {
  readonly resource: Resource;
  readonly hops: readonly Relation[];
}

function resolveComparison(filter: Comparison, resource: Resource): Condition {
  return resolveStep(filter.path, filter, { resource, hops: [] });
}

function resolveStep(path: string, filter: Comparison, place: Place): Condition {
  const column = [...place.resource.columns.values()].find((each) => each.path === path);
  if (column) return compare({ hops: place.hops, column }, filter);
  const relation = relationAt(path, place.resource);
  if (!relation)
    throw new Error(
      `"${filter.path}" leads nowhere in ${place.resource.label}. Name a column, or relations and a column with dots between them.`,
    );
  const rest = path.slice(relation.name.length + 1);
  if (relation.kind === 'one-to-many' || relation.kind === 'many-to-many') {
    const inner =
      rest === ''
        ? keyCondition(filter, { resource: relation.target, hops: [] })
        : resolveStep(rest, filter, { resource: relation.target, hops: [] });
    return { kind: 'related', hops: place.hops, relation, condition: inner };
  }
  const next = { resource: relation.target, hops: [...place.hops, relation] };
  return rest === '' ? keyCondition(filter, next, relation) : resolveStep(rest, filter, next);
}

function relationAt(path: string, resource: Resource): Relation | undefined {
  return [...resource.relations.values()].find(
    (relation) => path === relation.name || path.startsWith(`${relation.name}.`),
  );
}

function compare(operand: Operand, filter: Comparison): Condition {
  const { column } = operand;
  // Given as it is, it would be taken for SQL.
  if (!LOOKUPS.includes(filter.lookup))
    throw new Error(
      `where("${filter.path}", "${filter.lookup}", …): there is no such lookup. Known here: ${LOOKUPS.join(', ')}.`,
    );
  return {
    kind: 'compare',
    operand,
    lookup: filter.lookup,
    value: column.transform?.outward ? stored(filter, column) : canonical(filter, column),
  };
}

/** Values are as in a JSON body, so they are read like one. Throws a plain error, which is the author's to mend. */
function canonical({ path, lookup, value }: Comparison, { type }: Column): Json {
  if (value === null || lookup === 'isnull') return value;
  if (lookup === 'in' || lookup === 'range') {
    if (!Array.isArray(value)) throw new Error(`where("${path}", "${lookup}", …) needs an array.`);
    return value.map((each: Json) =>
      canonical(
        { kind: 'where', path, lookup: 'exact', value: each },
        { id: '', path, type, nullable: true },
      ),
    );
  }
  // A part of a text need not be a whole value.
  if (lookup !== 'exact' && lookup !== 'ne' && type.kind === 'string') return String(value);
  const outcome = parseValue(value, type.kind === 'string' ? { ...type, trim: false } : type);
  if (outcome.errors)
    throw new UnfitValue(`where("${path}", …) is given ${JSON.stringify(value)}`, outcome.errors);
  return outcome.value;
}

/** What a transformer stores for values of another kind than the column's, which it is given as they are in a JSON body. */
function stored({ path, lookup, value }: Comparison, column: Column): Json {
  if (lookup === 'isnull') return value;
  if (TEXT_LOOKUPS.has(lookup)) return value === null ? null : String(value);
  if (lookup === 'in' || lookup === 'range') {
    if (!Array.isArray(value)) throw new Error(`where("${path}", "${lookup}", …) needs an array.`);
    return value.map((each: Json) => stored({ kind: 'where', path, lookup: 'exact', value: each }, column));
  }
  const outcome = parseStored(value, column);
  if (outcome.errors)
    throw new UnfitValue(`where("${path}", …) is given ${JSON.stringify(value)}`, outcome.errors);
  return outcome.value;
}

/** A relation itself is compared by its key; the foreign key of this row serves where it is that key. */
function keyCondition(filter: Comparison, place: Place, relation?: Relation): Condition {
  const values: readonly Json[] =
    Array.isArray(filter.value) && place.resource.key.columns.length > 1
      ? (filter.value as readonly Json[])
      : [filter.value];
  return allOf(
    place.resource.key.columns.map((column, index) => {
      const near =
        relation?.kind === 'to-one' && relation.byKey
          ? relation.on.find((pair) => pair.far.id === column.id)?.near
          : undefined;
      const operand = near ? { hops: place.hops.slice(0, -1), column: near } : { hops: place.hops, column };
      return compare(operand, {
        ...filter,
        value: place.resource.key.columns.length > 1 ? (values[index] ?? null) : filter.value,
      });
    }),
  );
}
