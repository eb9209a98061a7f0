import type { Json } from '../errors/rest-exception.js';
import { conjunction, ALWAYS, disjunction } from './condition.js';
import type { Condition, Operand } from './condition.js';
import type { Column } from '../schema/column.js';
import type { Relation } from '../schema/relation.js';
import type { ResourceSchema } from '../schema/resource-schema.js';
import { comparesSeveral, LOOKUP_RULES, LOOKUPS } from './lookups.js';
import { didYouMean } from '../errors/declaration-error.js';
import { isSourced } from './row-filter.js';
import type { RowFilter, SourcedFilter } from './row-filter.js';
import { parseStored } from '../values/parse-text.js';
import { parseValue } from '../values/parse-value.js';

/** A value in a declared row filter that its column cannot hold. */
export class UnfitValue extends Error {
  constructor(
    description: string,
    readonly messages: readonly string[],
  ) {
    super(`${description}, which does not fit: ${messages.join(' ')}`);
  }
}

/** A path in a declared row filter that its model does not have. */
export class UnknownPath extends Error {
  /** What is wrong, and where. */
  readonly what: string;
  readonly repair: string;
  private source: string | undefined;

  constructor(path: string, step: string, { className, columns, relations }: ResourceSchema) {
    super();
    this.name = 'UnknownPath';
    const [name = step] = step.split('.');
    this.what = `where("${path}", …): "${name}" is neither a column nor a relation of ${className}`;
    this.repair = didYouMean(name, [
      ...[...columns.values()].map((column) => column.path),
      ...relations.keys(),
    ]);
    this.message = `${this.what}. ${this.repair}`;
  }

  /** Adds the class whose filter it is, once. */
  attribute(source: string): void {
    if (this.source !== undefined) return;
    this.source = source;
    this.message = `${source}: ${this.what}. ${this.repair}`;
  }
}

/**
 * Resolves a row filter of the application against the compiled model. Hidden columns are allowed; a to-many relation means:
 * at least one related row.
 * @throws Error for an unknown name or an invalid filter, which is an error of the application
 */
export function resolveRowFilter(filter: RowFilter | 'all', resource: ResourceSchema): Condition {
  if (filter === 'all') return ALWAYS;
  switch (filter.kind) {
    case 'and':
      return isSourced(filter) ? resolveSourced(filter, resource) : resolveAll(filter.filters, resource);
    case 'or':
      return disjunction(filter.filters.map((each) => resolveRowFilter(each, resource)));
    case 'not':
      return { kind: 'not', condition: resolveRowFilter(filter.filter, resource) };
    case 'where':
      return resolveStep(filter.path, filter, { resource, joinPath: [] });
    default:
      // Returned as it is, it would be used as a condition, and its text as SQL.
      throw new Error(
        `A filter of rows is none: ${JSON.stringify(filter satisfies never)}. Make it by where(), and(), or() and not(), and wait for what it is made of.`,
      );
  }
}

function resolveAll(filters: readonly RowFilter[], resource: ResourceSchema): Condition {
  return conjunction(filters.map((each) => resolveRowFilter(each, resource)));
}

function resolveSourced(filter: SourcedFilter, resource: ResourceSchema): Condition {
  try {
    return resolveAll(filter.filters, resource);
  } catch (error) {
    if (error instanceof UnknownPath) error.attribute(filter.source);
    throw error;
  }
}

type WhereFilter = Extract<RowFilter, { kind: 'where' }>;

interface FilterTarget {
  readonly resource: ResourceSchema;
  readonly joinPath: readonly Relation[];
}

function resolveStep(path: string, filter: WhereFilter, place: FilterTarget): Condition {
  const column = [...place.resource.columns.values()].find((each) => each.path === path);
  if (column) return toCondition({ joinPath: place.joinPath, column }, filter);
  const relation = relationAt(path, place.resource);
  if (!relation) throw new UnknownPath(filter.path, path, place.resource);
  const rest = path.slice(relation.name.length + 1);
  if (relation.kind === 'one-to-many' || relation.kind === 'many-to-many') {
    const inner =
      rest === ''
        ? relatedKeyCondition(filter, { resource: relation.target, joinPath: [] })
        : resolveStep(rest, filter, { resource: relation.target, joinPath: [] });
    return { kind: 'related', joinPath: place.joinPath, relation, condition: inner };
  }
  const next = { resource: relation.target, joinPath: [...place.joinPath, relation] };
  return rest === '' ? relatedKeyCondition(filter, next, relation) : resolveStep(rest, filter, next);
}

function relationAt(path: string, resource: ResourceSchema): Relation | undefined {
  return [...resource.relations.values()].find(
    (relation) => path === relation.name || path.startsWith(`${relation.name}.`),
  );
}

function toCondition(operand: Operand, filter: WhereFilter): Extract<Condition, { kind: 'compare' }> {
  const { column } = operand;
  // Used as it is, it would become part of the SQL.
  if (!LOOKUPS.includes(filter.lookup))
    throw new Error(
      `where("${filter.path}", "${filter.lookup}", …): there is no such lookup. Known here: ${LOOKUPS.join(', ')}.`,
    );
  return {
    kind: 'compare',
    operand,
    lookup: filter.lookup,
    value: column.transform?.outward ? toStored(filter, column) : toCanonical(filter, column),
  };
}

/**
 * Converts a filter's value, which is as in a JSON body, to its canonical form.
 * @throws Error for an invalid value, which is an error of the application
 */
function toCanonical({ path, lookup, value }: WhereFilter, { type }: Pick<Column, 'type'>): Json {
  if (value === null || lookup === 'isnull') return value;
  if (comparesSeveral(lookup))
    return convertEach({ path, lookup, value }, (each) => toCanonical(each, { type }));
  // A substring need not be a valid value of the column.
  if (lookup !== 'exact' && lookup !== 'ne' && type.kind === 'string') return String(value);
  const outcome = parseValue(value, type.kind === 'string' ? { ...type, trim: false } : type);
  if (outcome.errors)
    throw new UnfitValue(`where("${path}", …) is given ${JSON.stringify(value)}`, outcome.errors);
  return outcome.value;
}

/** Converts each value of a list. Null is not in a list: no row without a value matches one. */
function convertEach(
  { path, lookup, value }: Omit<WhereFilter, 'kind'>,
  convert: (each: WhereFilter) => Json,
): readonly Json[] {
  if (!Array.isArray(value)) throw new Error(`where("${path}", "${lookup}", …) needs an array.`);
  const values = value.map((each: Json) => convert({ kind: 'where', path, lookup: 'exact', value: each }));
  return lookup === 'in' ? values.filter((each) => each !== null) : values;
}

/** Converts a filter's value to the stored one with the column's transformer, which gets it as in a JSON body. */
function toStored({ path, lookup, value }: WhereFilter, column: Column): Json {
  if (lookup === 'isnull') return value;
  if (LOOKUP_RULES[lookup].value === 'text') return value === null ? null : String(value);
  if (comparesSeveral(lookup)) return convertEach({ path, lookup, value }, (each) => toStored(each, column));
  const outcome = parseStored(value, column);
  if (outcome.errors)
    throw new UnfitValue(`where("${path}", …) is given ${JSON.stringify(value)}`, outcome.errors);
  return outcome.value;
}

/** Compares a relation by its key. Uses the foreign key of this row if it refers to that key, to avoid a join. */
function relatedKeyCondition(filter: WhereFilter, place: FilterTarget, relation?: Relation): Condition {
  const values: readonly Json[] =
    Array.isArray(filter.value) && place.resource.key.columns.length > 1
      ? (filter.value as readonly Json[])
      : [filter.value];
  return conjunction(
    place.resource.key.columns.map((column, index) => {
      const localColumn =
        relation?.kind === 'to-one' && relation.byKey
          ? relation.on.find((pair) => pair.referencedColumn.id === column.id)?.localColumn
          : undefined;
      const operand = localColumn
        ? { joinPath: place.joinPath.slice(0, -1), column: localColumn }
        : { joinPath: place.joinPath, column };
      const value = place.resource.key.columns.length > 1 ? (values[index] ?? null) : filter.value;
      return { ...toCondition(operand, { ...filter, value }), asKey: true };
    }),
  );
}
