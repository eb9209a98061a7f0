import type { RestifyOptions } from '../decorators/model-options.js';
import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { NullsPlace, Operand, TermMatch } from '../core/query/condition.js';
import type { CustomFilterRows } from '../core/contracts/custom-filter.js';
import type {
  FieldTerm,
  FilterTerm,
  OrderingField,
  OrderTerm,
  SearchField,
} from '../core/schema/resource-schema.js';
import type { Resource } from '../core/schema/resource.js';
import type { Lookup } from '../core/query/lookups.js';
import { parameterType } from '../core/values/parameter-type.js';
import { keyOperands, resolveFilterPath, resolveReadablePath } from './resolve-path.js';
import type { FilterPath } from './resolve-path.js';

/** `filterFields` as a list of path and lookup. Names alone mean `exact`. */
export function filterEntries(
  options: RestifyOptions,
): readonly (readonly [path: string, lookup: Lookup])[] | undefined {
  const { filterFields } = options;
  if (filterFields === undefined) return undefined;
  if (isList(filterFields)) return filterFields.map((path) => [path, 'exact']);
  return Object.entries(filterFields).flatMap(([path, lookups]) =>
    (lookups ?? []).map((lookup): readonly [string, Lookup] => [path, lookup]),
  );
}

/** Tolerates values that TypeScript would reject. */
export function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

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
    const resolved = plain.get(path) ?? resolveFilterPath(path, resource);
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

/** The parameter names of a lookup: `votes__exact` and `votes`, or `votes__ne` and `votes!`, as in `votes!=3`. */
export function parameterNames(path: string, lookup: Lookup): readonly string[] {
  const name = path.replaceAll('.', '__');
  const whole = `${name}__${lookup}`;
  if (lookup === 'exact') return [whole, name];
  return lookup === 'ne' ? [whole, `${name}!`] : [whole];
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
  return options.searchFields.flatMap((text) => {
    const { path, match } = searchEntry(text);
    const operand = resolveReadablePath(path, resource)?.operands[0];
    return operand ? [{ operand, match }] : [];
  });
}

function textField({ leaf, operands: [operand] }: FilterPath): readonly SearchField[] {
  return leaf === 'column' && operand?.column.type.kind === 'string' ? [{ operand, match: 'contains' }] : [];
}

export function compileOrderingFields(
  resource: Resource,
  options: RestifyOptions,
  plain: PlainPaths,
): ReadonlyMap<string, OrderingField> {
  const fields = new Map<string, OrderingField>();
  for (const text of options.orderingFields ?? plain.keys()) {
    const { path, nulls } = withNulls(text);
    const resolved = plain.get(path) ?? resolveReadablePath(path, resource);
    if (resolved)
      fields.set(path.replaceAll('.', '__'), { operands: resolved.operands, ...(nulls ? { nulls } : {}) });
  }
  return fields;
}

const NULLS = /^(.*) nulls (first|last)$/s;

/** Splits `votes nulls last` into its path and the position of nulls. */
export function withNulls(text: string): { readonly path: string; readonly nulls?: NullsPlace } {
  const [, path, place] = NULLS.exec(text) ?? [];
  return path === undefined ? { path: text } : { path, nulls: place === 'first' ? 'first' : 'last' };
}

/** The default order: the option, else `@Entity({ orderBy })`, else only the key. */
export function compileOrdering(
  resource: Resource,
  entity: EntityDescription,
  options: RestifyOptions,
): readonly OrderTerm[] {
  const declared = options.ordering?.map(orderEntry) ?? entity.orderBy;
  return declared.flatMap(({ path, descending, nulls }) =>
    orderOperands(path, resource).map((operand) => ({ operand, descending, ...(nulls ? { nulls } : {}) })),
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
export function orderOperands(path: string, resource: Resource): readonly Operand[] {
  const readable = resolveReadablePath(path, resource);
  if (readable) return readable.operands;
  const column = [...resource.columns.values()].find((each) => each.path === path);
  if (column) return [{ hops: [], column }];
  const relation = resource.relations.get(path);
  return relation?.kind === 'to-one' ? keyOperands(relation, []) : [];
}
