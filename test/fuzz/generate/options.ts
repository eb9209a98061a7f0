import { fieldsOf } from '../model/fields.js';
import { jsonTypeAt } from '../model/json-paths.js';
import { State } from '../model/state.js';
import { isPlainKind, isStringKind } from '../model/values.js';
import { deletionOf, entityNamed, toOnesOf } from '../schema.js';
import type {
  AnswerSpec,
  BulkOperationName,
  ColumnSpec,
  EntitySpec,
  FilterSpec,
  JsonType,
  LookupName,
  ManySpec,
  NestedVerb,
  OptionsSpec,
  PaginationSpec,
  PermissionSpec,
  RelationSpec,
  SchemaSpec,
} from '../schema.js';
import { aggregateFor } from './aggregates.js';
import { makePermissions } from './permissions.js';
import type { Random } from './random.js';

const ORDERED: readonly LookupName[] = ['exact', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'range', 'isnull'];
const TEXT: readonly LookupName[] = [
  'exact',
  'iexact',
  'ne',
  'in',
  'isnull',
  'contains',
  'icontains',
  'startswith',
  'istartswith',
  'endswith',
  'iendswith',
  'gt',
  'lte',
];
const FEW: readonly LookupName[] = ['exact', 'in', 'ne', 'isnull'];

/** Keys in columns of JSON that some of the values there have, in some with a value of another type. */
const JSON_PATHS: readonly (readonly [string, JsonType])[] = [
  ['a', 'string'],
  ['n', 'number'],
  ['b', 'boolean'],
  ['t', 'string[]'],
  ['a.b', 'boolean'],
];
const LOOKUPS_OF_TYPES: Readonly<Record<JsonType, readonly LookupName[]>> = {
  string: TEXT,
  number: ORDERED,
  boolean: FEW,
  'string[]': ['contains', 'isnull'],
};

/** Options of an entity, and of its plain junctions; without permissions if it is open. */
export function optionsFor(
  random: Random,
  entity: EntitySpec,
  { schema, isOpen }: { readonly schema: SchemaSpec; readonly isOpen: boolean },
): { readonly options: OptionsSpec; readonly through: Readonly<Record<string, OptionsSpec>> } {
  if (!entity.registered) return { options: {}, through: {} };
  const isProtected = !isOpen && random.chance(0.45);
  const permissions = isProtected ? { permissions: makePermissions(random, entity, schema) } : {};
  const bulk = isProtected ? {} : bulkFor(random, entity);
  return {
    options: {
      ...entity.options,
      ...permissions,
      ...queriesFor(random, entity, schema),
      ...searchFor(random, entity),
      ...shapeFor(random, entity, schema),
      ...bulk,
      ...relatedKeysFor(random, entity, schema),
      ...nestedFor(random, entity, schema),
      ...countsFor(random, entity, schema),
      ...(random.chance(0.6) ? { aggregate: aggregateFor(random, entity, schema) } : {}),
      ...(random.chance(0.4) ? { mergePatch: true } : {}),
      ...(random.chance(0.3) ? { conditional: { require: !('bulk' in bulk) && random.chance(0.3) } } : {}),
      ...(!isProtected && random.chance(0.4) ? { idempotency: { require: random.chance(0.2) } } : {}),
      ...(random.chance(0.12) ? { strict: true } : {}),
      ...(random.chance(0.4) ? { query: true } : {}),
      ...(isProtected && random.chance(0.3) ? { strict: 'writes' as const } : {}),
      ...(random.chance(0.1) ? readOnlyFor(entity) : {}),
      ...(deletionOf(entity) ? trashFor(random) : {}),
    },
    through: throughFor(random, entity, schema),
  };
}

function trashFor(random: Random): OptionsSpec {
  const plain = ['list', 'create', 'retrieve', 'update', 'partialUpdate', 'destroy'] as const;
  const some = random.some(['listDeleted', 'restore', 'purge'] as const, 0.6);
  return {
    ...(random.chance(0.4) ? { exclude: ['gone'] } : {}),
    ...(random.chance(0.85) ? { trash: true } : {}),
    ...(some.length > 0 && random.chance(0.15) ? { trash: true, operations: [...plain, ...some] } : {}),
  };
}

function throughFor(random: Random, entity: EntitySpec, schema: SchemaSpec): Record<string, OptionsSpec> {
  const owned = entity.relations.filter(
    (relation) =>
      relation.kind === 'many-to-many' &&
      relation.owner === entity.name &&
      relation.ownerRelation === relation.name &&
      !relation.through,
  );
  return Object.fromEntries(
    random
      .some(owned, 0.4)
      .map(({ name, target }) => [
        name,
        random.weighted({ pages: 1, 'built-in': 1, own: 1 }) === 'pages'
          ? { pagination: paginationFor(random) }
          : { permissions: [pairPermission(random, entity, entityNamed(schema, target))] },
      ]),
  );
}

/** Of pairs without an entity: by rows of the other side's keys, where these are numbers. */
function pairPermission(random: Random, entity: EntitySpec, target: EntitySpec): PermissionSpec {
  const isPlain = target.key.columns[0]?.kind === 'int' && target.model !== entity.model;
  if (!isPlain || random.chance(0.3)) return { kind: 'built-in', name: 'IsAuthenticatedOrReadOnly' };
  const answer = (): AnswerSpec => {
    if (random.chance(0.12)) return { kind: 'deny' };
    const value = Array.from({ length: 4 }, () => random.between(1, 12));
    const column = `${target.name.toLowerCase()}Id`;
    const rows = { kind: 'where', path: target.model, lookup: 'in', value, column } as const;
    return { kind: 'allow', ...(random.chance(0.6) ? { rows } : {}) };
  };
  const both = (): { read: AnswerSpec; write: AnswerSpec; remove: AnswerSpec } => ({
    read: answer(),
    write: answer(),
    remove: answer(),
  });
  return { kind: 'own', answers: { anonymous: both(), '*': both() } };
}

/** Relations whose pairs are unique, and made of their keys alone. */
function relatedKeysFor(random: Random, { relations }: EntitySpec, schema: SchemaSpec): OptionsSpec {
  const names = random
    .some(
      relations.filter(
        (relation) =>
          relation.kind === 'many-to-many' && isMadeOfKeys(schema, relation) && !isOtherSide(relation),
      ),
      0.6,
    )
    .map(({ name }) => name);
  return names.length > 0 ? { relatedKeys: names } : {};
}

/** Relations to models of their own; new rows with a random key would not be found. */
function nestedFor(random: Random, { relations }: EntitySpec, schema: SchemaSpec): OptionsSpec {
  const found = relations.flatMap((relation): [string, readonly NestedVerb[]][] => {
    if (relation.kind !== 'to-many' && relation.kind !== 'reverse-one') return [];
    const target = entityNamed(schema, relation.target);
    const forward = toOnesOf(target).find(({ name }) => name === relation.forward);
    if (!target.registered || !forward || forward.on || !random.chance(0.6)) return [];
    const isRandom = target.key.generated && target.key.columns[0]?.kind === 'uuid';
    const verbs = (['create', 'update', 'delete'] as const).filter((verb) => !isRandom || verb !== 'create');
    return [[relation.name, random.chance(0.7) ? verbs : [random.pick(verbs)]]];
  });
  return found.length > 0 ? { nested: Object.fromEntries(found) } : {};
}

function countsFor(random: Random, { relations }: EntitySpec, schema: SchemaSpec): OptionsSpec {
  const isList = ({ kind, target }: RelationSpec): boolean =>
    (kind === 'to-many' || kind === 'many-to-many') && entityNamed(schema, target).registered;
  const names = random.some(relations.filter(isList), 0.5).map(({ name }) => name);
  return names.length > 0 ? { counts: names } : {};
}

/** A body that names one pair of an object with itself by both sides of a relation is not sent. */
function isOtherSide({ owner, target, ownerRelation, name }: ManySpec): boolean {
  return owner === target && name !== ownerRelation;
}

function isMadeOfKeys(schema: SchemaSpec, relation: ManySpec): boolean {
  if (!relation.through) return true;
  const { uniques, columns } = entityNamed(schema, relation.through.entity);
  return (
    uniques.length > 0 && columns.every((column) => column.nullable === true || column.default !== undefined)
  );
}

function readOnlyFor({ columns }: EntitySpec): OptionsSpec {
  const free = columns.find(
    ({ name, nullable, default: byDefault }) => name !== 'subjectId' && (nullable || byDefault !== undefined),
  );
  return free ? { readOnly: [free.name] } : {};
}

export function lookupsOf(column: ColumnSpec): readonly LookupName[] {
  if (isStringKind(column.kind)) return TEXT;
  return ['boolean', 'enum', 'uuid'].includes(column.kind) ? FEW : ORDERED;
}

/** Pages, and ranked searches, which pages by a cursor do not order. */
function searchFor(random: Random, { columns }: EntitySpec): OptionsSpec {
  const text = columns.find(({ searched }) => searched);
  const pagination = random.chance(0.35) ? paginationFor(random) : undefined;
  const fullText = pagination?.kind === 'cursor' ? ({ rank: false } as const) : true;
  return {
    ...(pagination ? { pagination } : {}),
    ...(text && random.chance(0.8) ? { searchFields: [`@${text.name}`], fullText } : {}),
  };
}

function queriesFor(random: Random, entity: EntitySpec, schema: SchemaSpec): OptionsSpec {
  const columns = [...entity.key.columns, ...entity.columns].filter(({ kind }) => isPlainKind(kind));
  const texts = columns.filter(({ kind }) => isStringKind(kind)).map(({ name }) => name);
  const names = columns.map(({ name }) => name);
  const filters = random.chance(0.6) ? { filterFields: filtersFor(random, entity, schema) } : {};
  const search = random.some(texts, 0.7).map((name) => `${random.pick(['', '^', '='])}${name}`);
  const paths = random.some(orderedPaths(entity, schema, filters.filterFields ?? {}), 0.7);
  const orderingFields = [...random.some(names, 0.8), ...paths];
  const own = paths.filter((path) => entity.columns.some(({ name }) => path.startsWith(`${name}.`)));
  const ordering = random.some([...names, ...own], 0.5).map((name) => `${random.pick(['', '-'])}${name}`);
  return {
    ...filters,
    ...('filterFields' in filters && random.chance(0.5) ? { filterGroups: true } : {}),
    ...(search.length > 0 && random.chance(0.4) ? { searchFields: search } : {}),
    ...(random.chance(paths.length > 0 ? 0.7 : 0.3) ? { orderingFields } : {}),
    ...(ordering.length > 0 && random.chance(0.3) ? { ordering } : {}),
  };
}

/** The paths into columns of JSON by which rows have an order; over forward relations, too. */
function orderedPaths(
  entity: EntitySpec,
  schema: SchemaSpec,
  filters: Readonly<Record<string, FilterSpec>>,
): string[] {
  const state = new State(schema, 'sqlite');
  return Object.keys(filters).filter((dotted) => {
    const path = dotted.split('.');
    const relation = entity.relations.find(({ name }) => name === path[0]);
    const type = jsonTypeAt(state, { entity, path, filters });
    return type !== undefined && type !== 'string[]' && (!relation || relation.kind === 'to-one');
  });
}

function filtersFor(random: Random, entity: EntitySpec, schema: SchemaSpec): Record<string, FilterSpec> {
  const filters: Record<string, FilterSpec> = {};
  const add = (path: string, lookups: readonly LookupName[], type?: JsonType): void => {
    const chosen = random.some(lookups, 0.6);
    if (chosen.length === 0) return;
    filters[path] = type && (type !== 'string' || random.chance(0.5)) ? { type, lookups: chosen } : chosen;
  };
  const addColumn = (path: string, column: ColumnSpec): void => {
    if (isPlainKind(column.kind)) add(path, lookupsOf(column));
    if (column.kind !== 'json') return;
    for (const [keys, type] of random.some(JSON_PATHS, 0.6))
      add(`${path}.${keys}`, LOOKUPS_OF_TYPES[type], type);
  };
  for (const column of [...entity.key.columns, ...entity.columns])
    if (random.chance(0.8)) addColumn(column.name, column);
  for (const relation of entity.relations) {
    const target = entityNamed(schema, relation.target);
    if (!target.registered || relation.kind === 'reverse-one') continue;
    const isSingle = target.key.columns.length === 1;
    if (isSingle) add(relation.name, FEW);
    for (const column of random.some(target.columns, 0.4))
      addColumn(`${relation.name}.${column.name}`, column);
  }
  return withOne(filters, entity);
}

function withOne(filters: Record<string, FilterSpec>, { key }: EntitySpec): Record<string, FilterSpec> {
  return Object.keys(filters).length > 0 ? filters : { [key.columns[0]?.name ?? 'id']: ['exact'] };
}

function paginationFor(random: Random): PaginationSpec {
  const kind = random.pick(['number', 'offset', 'cursor'] as const);
  const style = kind !== 'cursor' && random.chance(0.3) ? 'headers' : 'envelope';
  const isCounted = random.chance(0.5);
  return {
    kind,
    pageSize: random.between(1, 4),
    maxPageSize: random.between(4, 6),
    style,
    ...(style === 'headers' && isCounted ? { count: 'exact' as const } : {}),
    ...(style === 'envelope' && kind !== 'cursor' && !isCounted ? { count: false as const } : {}),
    ...(kind !== 'cursor' && random.chance(0.2) ? { maxOffset: 8 } : {}),
  };
}

function shapeFor(random: Random, entity: EntitySpec, schema: SchemaSpec): OptionsSpec {
  const state = new State(schema, 'sqlite');
  const relations = fieldsOf(state, { entity, options: {} }).flatMap(({ relation }) => relation ?? []);
  const expandable = random.some(relations, 0.7).flatMap((relation) => {
    const target = entityNamed(schema, relation.target);
    const further = target.relations.find(
      (each) => each.kind !== 'many-to-many' && entityNamed(schema, each.target).registered,
    );
    return relation.kind !== 'many-to-many' && further && random.chance(0.4)
      ? [`${relation.name}.${further.name}`]
      : [relation.name];
  });
  return {
    ...(random.chance(0.4) ? { shape: random.chance(0.3) ? { maxChildren: 3 } : true } : {}),
    ...(expandable.length > 0 && random.chance(0.75)
      ? { expandable, ...queriedExpansions(random, entity, { expandable, schema }) }
      : {}),
  };
}

/** Refused where no list can be expanded. */
function queriedExpansions(
  random: Random,
  entity: EntitySpec,
  { expandable, schema }: { readonly expandable: readonly string[]; readonly schema: SchemaSpec },
): OptionsSpec {
  const isList = ({ relations }: EntitySpec, [name, ...rest]: readonly string[]): boolean => {
    const relation = relations.find((each) => each.name === name);
    if (!relation) return false;
    return /many$/.test(relation.kind) || isList(entityNamed(schema, relation.target), rest);
  };
  const hasList = expandable.some((path) => isList(entity, path.split('.')));
  return hasList && random.chance(0.8) ? { expansionQueries: true } : {};
}

function bulkFor(random: Random, entity: EntitySpec): Pick<OptionsSpec, 'bulk'> {
  const isSingle = entity.key.columns.length === 1 && !entity.options.beforeWrite;
  if (!isSingle || !random.chance(0.55)) return {};
  const unique = entity.columns.find(
    (column) => column.unique && column.default === undefined && !column.nullable,
  );
  const operations: readonly BulkOperationName[] = ['create', 'partialUpdate', 'destroy'];
  const chosen = random.chance(0.75) ? operations : [random.pick(operations)];
  return {
    bulk: {
      operations: chosen,
      max: random.between(3, 6),
      ...(unique && operations === chosen ? { upsert: [unique.name] } : {}),
    },
  };
}
