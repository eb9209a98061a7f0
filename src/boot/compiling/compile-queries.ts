import type { RestifyOptions } from '../../declare/restify-declaration.js';
import type { EntityDescription } from '../../model/entity-description.js';
import type { Operand, TermMatch } from '../../model/condition.js';
import type { FilterTerm, OrderTerm, Resource, SearchField } from '../../model/resource.js';
import type { Lookup } from '../../model/row-filter.js';
import { keyOperands, resolveReadablePath } from './resolve-path.js';
import type { ResolvedPath } from './resolve-path.js';

/** `filterFields` as a list of path and lookup. Names alone mean `exact`. */
export function filterEntries(options: RestifyOptions): readonly (readonly [path: string, lookup: Lookup])[] | undefined {
  const { filterFields } = options;
  if (filterFields === undefined) return undefined;
  if (isList(filterFields)) return filterFields.map((path) => [path, 'exact']);
  return Object.entries(filterFields).flatMap(([path, lookups]) => (lookups ?? []).map((lookup): readonly [string, Lookup] => [path, lookup]));
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

/** Paths that need no option, and where each leads. */
export type PlainPaths = ReadonlyMap<string, ResolvedPath>;

export function compileFilterTerms(resource: Resource, options: RestifyOptions, plain: PlainPaths): ReadonlyMap<string, FilterTerm> {
  const entries = filterEntries(options) ?? [...plain.keys()].map((path): readonly [string, Lookup] => [path, 'exact']);
  const terms = new Map<string, FilterTerm>();
  for (const [path, lookup] of entries) {
    const resolved = plain.get(path) ?? resolveReadablePath(path, resource);
    if (!resolved) continue;
    const parameter = path.replaceAll('.', '__');
    const term = { operands: resolved.operands, lookup, isKey: resolved.leaf === 'relation' };
    terms.set(`${parameter}__${lookup}`, term);
    if (lookup === 'exact') terms.set(parameter, term);
  }
  return terms;
}

const SEARCH_PREFIXES: Readonly<Record<string, TermMatch>> = { '^': 'startswith', '=': 'exact', $: 'regex', '@': 'fulltext' };

/** A search field apart: its path, and how terms are matched. */
export function searchEntry(text: string): { readonly path: string; readonly match: TermMatch } {
  const match = SEARCH_PREFIXES[text.charAt(0)];
  return match ? { path: text.slice(1), match } : { path: text, match: 'contains' };
}

export function compileSearchFields(resource: Resource, options: RestifyOptions, plain: PlainPaths): readonly SearchField[] {
  if (options.searchFields === undefined) return [...plain.values()].flatMap(textField);
  return options.searchFields.flatMap((text) => {
    const { path, match } = searchEntry(text);
    const operand = resolveReadablePath(path, resource)?.operands[0];
    return operand ? [{ operand, match }] : [];
  });
}

function textField({ leaf, operands: [operand] }: ResolvedPath): readonly SearchField[] {
  return leaf === 'column' && operand?.column.type.kind === 'string' ? [{ operand, match: 'contains' }] : [];
}

export function compileOrderingFields(resource: Resource, options: RestifyOptions, plain: PlainPaths): ReadonlyMap<string, readonly Operand[]> {
  const fields = new Map<string, readonly Operand[]>();
  for (const path of options.orderingFields ?? plain.keys()) {
    const resolved = plain.get(path) ?? resolveReadablePath(path, resource);
    if (resolved) fields.set(path.replaceAll('.', '__'), resolved.operands);
  }
  return fields;
}

/** The model's own order: the option, else `@Entity({ orderBy })`, else none but the key. */
export function compileOrdering(resource: Resource, entity: EntityDescription, options: RestifyOptions): readonly OrderTerm[] {
  const declared = options.ordering?.map(orderEntry) ?? entity.orderBy;
  return declared.flatMap(({ path, descending }) => orderOperands(path, resource).map((operand) => ({ operand, descending })));
}

export function orderEntry(text: string): { readonly path: string; readonly descending: boolean } {
  return text.startsWith('-') ? { path: text.slice(1), descending: true } : { path: text, descending: false };
}

/** The author may order by hidden columns too: nobody else chooses this order. */
export function orderOperands(path: string, resource: Resource): readonly Operand[] {
  const readable = resolveReadablePath(path, resource);
  if (readable) return readable.operands;
  const column = [...resource.columns.values()].find((each) => each.path === path);
  if (column) return [{ hops: [], column }];
  const relation = resource.relations.get(path);
  return relation?.kind === 'to-one' ? keyOperands(relation, []) : [];
}
