import type { CustomFilterRows } from '../core/contracts/filters.js';
import { documentOf, fullTextOptions, rankName } from '../core/contracts/full-text.js';
import type { FullTextOptions } from '../core/contracts/full-text.js';
import type { Operand, TermMatch } from '../core/query/condition.js';
import type { Lookup } from '../core/query/lookups.js';
import type { Column } from '../core/schema/column.js';
import { isScalar } from '../core/schema/data-type.js';
import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { Field } from '../core/schema/field.js';
import type { Relation, ReverseOneRelation, ToOneRelation } from '../core/schema/relation.js';
import type {
  FieldTerm,
  FilterTerm,
  OrderingField,
  OrderTerm,
  SearchField,
  QueriedPath,
  ExistsStep,
  ResourceSchema,
} from '../core/schema/resource-schema.js';
import type { Resource } from '../core/schema/resource.js';
import { parameterType } from '../core/contracts/filters.js';
import type { RestifyOptions } from '../decorators/model-options.js';
import { declaredFilters, filterEntries, isList, parameterNames, withNulls } from './declared-filters.js';
import { valueIn } from './json-values.js';

/** The default paths, each with its target. */
export type PlainPaths = ReadonlyMap<string, FilterPath>;

export function compileFilterTerms(
  resource: Resource,
  options: RestifyOptions,
  plain: PlainPaths,
): ReadonlyMap<string, FilterTerm> {
  const entries =
    filterEntries(options) ?? [...plain.keys()].map((path): readonly [string, Lookup] => [path, 'exact']);
  const terms = new Map<string, FilterTerm>();
  for (const [path, lookup] of entries) {
    const resolved = plain.get(path) ?? resolveDeclaredPath(path, resource, options);
    if (!resolved) continue;
    const { leaf, operands, some } = resolved;
    const term: FieldTerm = {
      kind: 'field',
      some,
      operands,
      lookup,
      isKey: leaf !== 'column',
      isMany: leaf === 'many',
    };
    for (const name of parameterNames(path, lookup)) terms.set(name, term);
  }
  return addCustomFilters(terms, resource, options);
}

function addCustomFilters(
  terms: Map<string, FilterTerm>,
  resource: Resource,
  { filters }: RestifyOptions,
): ReadonlyMap<string, FilterTerm> {
  for (const [name, filter] of Object.entries(filters ?? {})) {
    const { list, reads, rows } = filter;
    const paths = (isList(reads) ? reads : []).flatMap((path) => resolveFilterPath(path, resource) ?? []);
    // Safe: values are parsed by the declared type before the function is called.
    terms.set(name, {
      kind: 'custom',
      type: parameterType(filter),
      isList: list === true,
      reads: paths,
      rows: rows as CustomFilterRows,
    });
  }
  return terms;
}

const SEARCH_PREFIXES: Readonly<Record<string, TermMatch>> = {
  '^': 'startswith',
  '=': 'exact',
  $: 'regex',
  '@': 'fulltext',
};

/** Splits a search field into its path and its kind of match. */
export function searchEntry(text: string): { readonly path: string; readonly match: TermMatch } {
  const match = SEARCH_PREFIXES[text.charAt(0)];
  return match ? { path: text.slice(1), match } : { path: text, match: 'contains' };
}

export function compileSearchFields(
  resource: Resource,
  options: RestifyOptions,
  plain: PlainPaths,
): readonly SearchField[] {
  if (options.searchFields === undefined) return [...plain.values()].flatMap(textField);
  const fullText = fullTextOptions(options.fullText);
  if (fullText) return documentField(resource, options.searchFields, fullText);
  return options.searchFields.flatMap((text) => {
    const { path, match } = searchEntry(text);
    const resolved = resolveFilterPath(path, resource);
    const [operand] = resolved?.operands ?? [];
    return resolved && operand ? [{ some: resolved.some, operand, match }] : [];
  });
}

/** All search fields as one text. What does not fit is reported after compilation. */
function documentField(
  resource: Resource,
  searchFields: readonly string[],
  fullText: FullTextOptions,
): readonly SearchField[] {
  const [column, ...others] = searchFields.flatMap((text) => {
    const { leaf, operands: [operand] = [] } = resolveFilterPath(searchEntry(text).path, resource) ?? {};
    return leaf === 'column' && operand ? [operand.column] : [];
  });
  const [key] = resource.identity;
  if (!column || !key) return [];
  const document = documentOf([column, ...others], key, fullText);
  return [{ some: [], operand: { joinPath: [], column, document }, match: 'fulltext' }];
}

/** The order by rank; empty without one. */
function rankField(
  searchFields: readonly SearchField[],
  options: RestifyOptions,
): readonly (readonly [string, OrderingField])[] {
  const fullText = fullTextOptions(options.fullText);
  const name = fullText && rankName(fullText);
  const document = searchFields.find(({ operand }) => operand.document)?.operand.document;
  if (name === undefined || !document) return [];
  return [[name, { operands: [{ joinPath: [], column: RANK, document }] }]];
}

/** A whole number that the database computes. No column of a table has this name. */
const RANK: Column = {
  id: ' rank',
  path: ' rank',
  type: { kind: 'integer', min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER },
  nullable: false,
};

function textField({ leaf, operands: [operand] }: FilterPath): readonly SearchField[] {
  return leaf === 'column' && operand?.column.type.kind === 'string'
    ? [{ some: [], operand, match: 'contains' }]
    : [];
}

export function compileOrderingFields(
  resource: Resource,
  options: RestifyOptions,
  plain: PlainPaths,
): ReadonlyMap<string, OrderingField> {
  const fields = new Map<string, OrderingField>();
  for (const text of options.orderingFields ?? plain.keys()) {
    const { path, nulls } = withNulls(text);
    const resolved = plain.get(path) ?? resolveDeclaredPath(path, resource, options);
    if (resolved?.some.length === 0)
      fields.set(path.replaceAll('.', '__'), {
        operands: keyOrNull(resolved.operands, resource),
        ...(nulls ? { nulls } : {}),
      });
  }
  for (const [name, field] of rankField(resource.searchFields, options)) fields.set(name, field);
  return fields;
}

/** The default order: the option, else `@Entity({ orderBy })`, else only the key. */
export function compileOrdering(
  resource: Resource,
  entity: EntityDescription,
  options: RestifyOptions,
): readonly OrderTerm[] {
  const declared = options.ordering?.map(orderEntry) ?? entity.orderBy;
  return declared.flatMap(({ path, descending, nulls }) =>
    orderOperands(path, resource, options).map((operand) => ({
      operand,
      descending,
      ...(nulls ? { nulls } : {}),
    })),
  );
}

type OrderEntry = EntityDescription['orderBy'][number];

/** Splits `-votes nulls last` into its direction, path and position of nulls. */
export function orderEntry(text: string): OrderEntry {
  const { path, nulls } = withNulls(text);
  const descending = path.startsWith('-');
  return { path: descending ? path.slice(1) : path, descending, ...(nulls ? { nulls } : {}) };
}

/** The declared order may use hidden columns, because clients cannot choose it. */
export function orderOperands(path: string, resource: Resource, options: RestifyOptions): readonly Operand[] {
  const readable = resolveDeclaredPath(path, resource, options);
  if (readable?.some.length === 0) return keyOrNull(readable.operands, resource);
  const column = [...resource.columns.values()].find((each) => each.path === path);
  if (column) return [{ joinPath: [], column }];
  const relation = resource.relations.get(path);
  return relation?.kind === 'to-one' ? keyOrNull(keyOperands(relation, []), resource) : [];
}

/**
 * The operands of an order. The key of a relation is null as a whole, though one of its columns may have a value: one that is not
 * nullable, or that another relation has, too.
 */
function keyOrNull(operands: readonly Operand[], resource: ResourceSchema): readonly Operand[] {
  const present = operands.map(({ column }) => column);
  const { overlapping } = operands[0]?.joinPath.at(-1)?.target ?? resource;
  const isShared = overlapping.some(({ on }) =>
    on.every(({ localColumn }) => present.some(({ id }) => id === localColumn.id)),
  );
  const nullable = present.filter((column) => column.nullable);
  if (operands.length < 2 || nullable.length === 0) return operands;
  if (nullable.length === operands.length && !isShared) return operands;
  return operands.map(({ joinPath, column }) => ({
    joinPath,
    column: { ...column, nullable: true, indexed: false },
    present,
  }));
}

/** The target of a path from a resource over to-one relations. */
export interface ResolvedPath {
  /** Several for a composite related key. */
  readonly operands: readonly Operand[];
  /** The data type of the column; for a relation that of its key. */
  readonly leaf: 'column' | 'relation' | 'many';
  /** The relations to the row that has the field. */
  readonly row: readonly Relation[];
  /** The to-one relation at its end. */
  readonly relation?: ToOneRelation | ReverseOneRelation;
}

/** The target of a path that may also lead over to-many relations. */
export type FilterPath = ResolvedPath & QueriedPath;

/**
 * Resolves a dotted path over readable fields. Undefined if a step is unknown, hidden, or a to-many relation, which clients
 * must not be able to distinguish.
 */
export function resolveReadablePath(path: string, resource: ResourceSchema): ResolvedPath | undefined {
  const resolved = resolveFilterPath(path, resource);
  return resolved?.some.length === 0 ? resolved : undefined;
}

/** As `resolveReadablePath`, and over to-many relations too, where at least one related row must match. */
export function resolveFilterPath(path: string, resource: ResourceSchema): FilterPath | undefined {
  return resolve(path.split('.'), resource.fields, { some: [], joinPath: [] });
}

/**
 * As `resolveFilterPath`, and into columns of JSON where `filterFields` has the path. What cannot be searched is
 * reported after the compilation.
 */
export function resolveDeclaredPath(
  path: string,
  resource: Resource,
  options: RestifyOptions,
): FilterPath | undefined {
  const declared = declaredFilters(options).get(path);
  return resolve(path.split('.'), resource.fields, {
    some: [],
    joinPath: [],
    json:
      declared &&
      ((column, keys, { some, joinPath }) =>
        valueIn(column, {
          keys,
          declared,
          owner: (joinPath.at(-1) ?? some.at(-1)?.relation)?.target ?? resource,
        })),
  });
}

interface PathPosition {
  readonly some: readonly ExistsStep[];
  readonly joinPath: readonly Relation[];
  /** Makes a column of the value by these keys in a column of JSON, where it is declared. */
  readonly json?: ((column: Column, keys: readonly string[], place: PathPosition) => Column) | undefined;
}

function resolve(
  [name, ...rest]: readonly string[],
  fields: readonly Field[],
  place: PathPosition,
): FilterPath | undefined {
  const { some, json } = place;
  const field = fields.find((each) => each.name === name && each.readable);
  switch (field?.kind) {
    case 'column':
      if (rest.length > 0 && !json) return undefined;
      return {
        leaf: 'column',
        some,
        row: place.joinPath,
        operands: [
          {
            joinPath: place.joinPath,
            column: json && rest.length > 0 ? json(field.column, rest, place) : field.column,
          },
        ],
      };
    case 'embedded':
      return rest.length > 0 ? resolve(rest, field.fields, place) : undefined;
    case 'to-one':
    case 'reverse-one': {
      const joinPath = [...place.joinPath, field.relation];
      if (rest.length > 0) return resolve(rest, field.relation.target.fields, { some, joinPath, json });
      return {
        leaf: 'relation',
        some,
        row: place.joinPath,
        relation: field.relation,
        operands: keyOperands(field.relation, place.joinPath),
      };
    }
    case 'keys':
    case 'link': {
      const { target } = field.relation;
      const within = [...some, { joinPath: place.joinPath, relation: field.relation }];
      if (rest.length > 0) return resolve(rest, target.fields, { some: within, joinPath: [], json });
      return {
        leaf: 'many',
        some: within,
        row: [],
        operands: target.key.columns.map((column) => ({ joinPath: [], column })),
      };
    }
    default:
      return undefined;
  }
}

/** The operands of a related key: the foreign key of this row if it contains the key, else columns of the related row. */
function keyOperands(relation: Relation, joinPath: readonly Relation[]): readonly Operand[] {
  return relation.target.key.columns.map((column): Operand => {
    const localColumn =
      relation.kind === 'to-one' && relation.byKey
        ? relation.on.find((pair) => pair.referencedColumn.id === column.id)?.localColumn
        : undefined;
    return localColumn ? { joinPath, column: localColumn } : { joinPath: [...joinPath, relation], column };
  });
}

/** The default paths of filters and orders: plain readable columns and forward relations (contract 4.2). */
export function plainPaths(resource: ResourceSchema): readonly string[] {
  return resource.fields.flatMap((field) => readablePaths(field, ''));
}

function readablePaths(field: Field, within: string): readonly string[] {
  if (!field.readable) return [];
  if (field.kind === 'to-one') return [within + field.name];
  if (field.kind === 'column')
    // The database compares and sorts the stored value of a transformed column, which is another one than that in bodies.
    return isScalar(field.type) && field.column.transform === undefined ? [within + field.name] : [];
  return field.kind === 'embedded'
    ? field.fields.flatMap((inner) => readablePaths(inner, `${within}${field.name}.`))
    : [];
}
