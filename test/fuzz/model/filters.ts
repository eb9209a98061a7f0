import type {
  ColumnKind,
  ColumnSpec,
  EntitySpec,
  FilterSpec,
  Json,
  JsonType,
  LookupName,
  ManySpec,
  RelationSpec,
} from '../schema.js';
import { columnNamed, relationNamed } from '../schema.js';
import { decideAll } from './access.js';
import type { Access, Actor, Names } from './access.js';
import { fitsRows, fitsValue } from './conditions.js';
import type { Comparison, EntityRow } from './conditions.js';
import { fieldsOf } from './fields.js';
import { jsonTypeAt, KINDS_OF_TYPES, lookupsIn, typedValue } from './json-paths.js';
import { throughOf } from './resources.js';
import type { Resource } from './resources.js';
import { keyJson, keyTextOf, relatedRows } from './state.js';
import type { Placed, Row, State } from './state.js';
import { isPlainKind, parseBoolean, parseText, wrong } from './values.js';
import type { Limits, Outcome } from './values.js';

/** A requested filter with a canonical value. */
export interface Term extends Comparison {
  readonly path: readonly string[];
  /** Of a path into a column of JSON. */
  readonly type?: JsonType | undefined;
}

/** The requested filters: AND-ed terms refer to the same related object (docs/reference/filters.md, over many). */
export type FilterExpression =
  | { readonly kind: 'term'; readonly term: Term }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly FilterExpression[] }
  | { readonly kind: 'not'; readonly part: FilterExpression };

/** The state, and the caller. */
export interface ReadContext {
  readonly state: State;
  readonly actor: Actor;
}

/** The part of a resource that the caller may read. */
export interface Readable extends Pick<Resource, 'entity' | 'options' | 'deleted'> {
  readonly readable: Names;
}

export interface FilterName {
  readonly path: readonly string[];
  readonly lookup: LookupName;
  readonly type: JsonType | undefined;
}

/** The parameters by which the caller may filter, and their terms. */
export function filterNames(sight: ReadContext, resource: Readable): Map<string, FilterName> {
  const names = new Map<string, FilterName>();
  const declared = resource.options.filterFields ?? defaultFilters(sight.state, resource);
  for (const [dotted, spec] of Object.entries(declared)) {
    const path = dotted.split('.');
    if (!mayAsk(sight, resource, path)) continue;
    const name = path.join('__');
    const type = jsonTypeAt(sight.state, { entity: resource.entity, path, filters: declared });
    for (const lookup of lookupsIn(spec)) {
      names.set(`${name}__${lookup}`, { path, lookup, type });
      if (lookup === 'exact') names.set(name, { path, lookup, type });
      if (lookup === 'ne') names.set(`${name}!`, { path, lookup, type });
    }
  }
  return names;
}

export function defaultFilters(
  state: State,
  resource: Pick<Resource, 'entity' | 'options'>,
): Readonly<Record<string, FilterSpec>> {
  return Object.fromEntries(
    fieldsOf(state, resource)
      .filter(
        ({ isReadable, column, relation }) =>
          isReadable && (column ? isPlainKind(column.kind) : relation?.kind === 'to-one'),
      )
      .map(({ name }) => [name, ['exact'] as const]),
  );
}

/** Whether the caller may read all fields of the path, and the related models. */
export function mayAsk(sight: ReadContext, resource: Readable, path: readonly string[]): boolean {
  const [name = '', ...rest] = path;
  const field = fieldsOf(sight.state, resource).find((each) => each.name === name && each.isReadable);
  if (!field || !isNamed(resource.readable, name)) return false;
  const { relation } = field;
  if (!relation || (rest.length === 0 && relation.kind === 'to-one')) return true;
  const grants = grantsOver(sight, resource.entity, relation);
  if (!grants) return false;
  if (rest.length === 0) return true;
  const target = sight.state.entity(relation.target);
  const readable = grants.at(-1)?.readable ?? 'all';
  return mayAsk(sight, { entity: target, options: target.options, readable }, rest);
}

function isNamed(names: Names, name: string): boolean {
  return names === 'all' || names.has(name);
}

/** The grants for a relation: for a many-to-many relation, those of the junction and of the other side. Undefined if one is denied. */
function grantsOver(
  { state, actor }: ReadContext,
  entity: EntitySpec,
  relation: RelationSpec,
): Access[] | undefined {
  const target = state.entity(relation.target);
  const through =
    relation.kind === 'many-to-many' ? throughOf(state, relation, { entity, key: '' }) : undefined;
  const ways: readonly Pick<Resource, 'entity' | 'options'>[] = [
    ...(through ? [through] : []),
    { entity: target, options: target.options },
  ];
  const answers = ways.map((way) =>
    decideAll(way.options.permissions, { entity: way.entity, actor, method: 'GET' }),
  );
  const grants = answers.filter((answer) => answer.kind === 'grant');
  const [first] = grants;
  // The other side of a pair is a field of the junction.
  const otherField = through?.through?.otherField;
  if (first && otherField !== undefined && !isNamed(first.readable, otherField)) return undefined;
  return grants.length === answers.length ? grants : undefined;
}

/** The related rows that the caller may see. */
export function visibleRelated(sight: ReadContext, placed: Placed, relation: RelationSpec): Row[] {
  const { state, actor } = sight;
  const target = state.entity(relation.target);
  const access = decideAll(target.options.permissions, { entity: target, actor, method: 'GET' });
  if (access.kind === 'refusal') return [];
  const rows =
    relation.kind === 'many-to-many'
      ? overJunction(sight, placed, relation)
      : relatedRows(state, placed, relation.name);
  return rows.filter((each) => !access.rows || fitsRows(state, { entity: target, row: each }, access.rows));
}

function overJunction({ state, actor }: ReadContext, { entity, row }: Placed, relation: ManySpec): Row[] {
  const through = throughOf(state, relation, { entity, key: row.key });
  const access = decideAll(through.options.permissions, { entity: through.entity, actor, method: 'GET' });
  if (access.kind === 'refusal') return [];
  const { rows } = access;
  const otherField = through.through?.otherField ?? '';
  return through
    .rows()
    .filter((each) => !rows || fitsRows(state, { entity: through.entity, row: each }, rows))
    .flatMap((each) => state.row(relation.target, String(each.values[otherField])) ?? []);
}

/** The end of a path: a column, or a relation, which is compared by key. */
export function operandOf(state: State, entity: EntitySpec, path: readonly string[]): ColumnSpec {
  const [name = '', ...rest] = path;
  const relation = relationNamed(entity, name);
  if (!relation) return columnNamed(entity, name) ?? { name, kind: 'varchar' };
  const target = state.entity(relation.target);
  return rest.length > 0 ? operandOf(state, target, rest) : keyColumnOf(target);
}

/** The column by which keys of an entity are compared. */
export function keyColumnOf(entity: EntitySpec): ColumnSpec {
  const [column, ...others] = entity.key.columns;
  return column && others.length === 0 ? column : { name: 'key', kind: 'varchar' };
}

/** The term of a parameter, or the errors of its value. */
export function parseTerm(
  { state, entity }: { readonly state: State; readonly entity: EntitySpec },
  { path, lookup, type }: FilterName,
  given: { readonly text: string; readonly limits: Limits },
): Outcome<Term> {
  const column = type ? { name: '', kind: KINDS_OF_TYPES[type] } : operandOf(state, entity, path);
  const last = relatedTo(state, entity, path);
  const outcome =
    last && last.key.columns.length > 1 && lookup !== 'isnull'
      ? parseComposite(last, given)
      : parseOperand(column, lookup, given);
  return 'errors' in outcome ? outcome : { value: { path, lookup, type, value: outcome.value } };
}

/** The related entity of a path that ends with a relation. */
export function relatedTo(state: State, entity: EntitySpec, path: readonly string[]): EntitySpec | undefined {
  const relation = relationNamed(entity, path[0] ?? '');
  if (!relation) return undefined;
  const target = state.entity(relation.target);
  return path.length > 1 ? relatedTo(state, target, path.slice(1)) : target;
}

/** The values of a composite key. */
function parseComposite(
  target: EntitySpec,
  { text, limits }: { readonly text: string; readonly limits: Limits },
): Outcome<Json> {
  const { columns } = target.key;
  const parts = text.split(',');
  if (parts.length !== columns.length)
    return wrong(`Enter ${columns.length} values with commas between them.`);
  const values: Record<string, Json> = {};
  for (const [index, column] of columns.entries()) {
    const outcome = parseText(decodeURIComponent(parts[index] ?? ''), column, limits);
    if ('errors' in outcome) return outcome;
    values[column.name] = outcome.value;
  }
  return { value: keyTextOf(target, values) };
}

function parseOperand(
  column: ColumnSpec,
  lookup: LookupName,
  { text, limits }: { readonly text: string; readonly limits: Limits },
): Outcome<Json> {
  switch (lookup) {
    case 'isnull':
      return parseBoolean(text.toLowerCase());
    case 'in':
    case 'range':
      return parseMany(column, lookup, { text, limits });
    default:
      return parseText(text, column, limits);
  }
}

function parseMany(
  column: ColumnSpec,
  lookup: 'in' | 'range',
  { text, limits }: { readonly text: string; readonly limits: Limits },
): Outcome<Json> {
  const parts = splitValues(text);
  if ('errors' in parts) return parts;
  if (lookup === 'range' && parts.value.length > 2) return wrong('Ensure there are no more than 2 values.');
  if (parts.value.length > 100) return wrong('Ensure there are no more than 100 values.');
  const values: Json[] = [];
  for (const part of parts.value) {
    const outcome = parseText(part, column, limits);
    if ('errors' in outcome) return outcome;
    values.push(outcome.value);
  }
  return lookup === 'range' && values.length !== 2
    ? wrong('Enter two values with a comma between them.')
    : { value: values };
}

/** Comma-separated values; quoted values may contain commas (docs/reference/filters.md). */
export function splitValues(text: string): Outcome<string[]> {
  const values: string[] = [];
  let at = 0;
  for (;;) {
    const quoted = text[at] === '"';
    const match = quoted ? /"((?:[^"\\]|\\.)*)"/y : /[^,]*/y;
    match.lastIndex = at;
    const found = match.exec(text);
    if (!found) return wrong('A quote is not closed.');
    values.push(quoted ? (found[1] ?? '').replaceAll(/\\(["\\])/g, '$1') : found[0]);
    at += found[0].length;
    if (at >= text.length) return { value: values };
    if (text[at] !== ',') return wrong('Write a comma behind a quoted value.');
    at++;
  }
}

export function matchesFilter(sight: ReadContext, entityRow: EntityRow, asked: FilterExpression): boolean {
  switch (asked.kind) {
    case 'term':
      return fitsTerms(sight, entityRow, [asked.term]);
    case 'and': {
      const flat = flattened(asked);
      const terms = flat.flatMap((part) => (part.kind === 'term' ? [part.term] : []));
      return (
        fitsTerms(sight, entityRow, terms) &&
        flat.every((part) => part.kind === 'term' || matchesFilter(sight, entityRow, part))
      );
    }
    case 'or':
      return asked.parts.some((part) => matchesFilter(sight, entityRow, part));
    case 'not':
      return !matchesFilter(sight, entityRow, asked.part);
    default:
      return asked satisfies never;
  }
}

function flattened(asked: Extract<FilterExpression, { kind: 'and' | 'or' }>): FilterExpression[] {
  return asked.parts.flatMap((part) => (part.kind === 'and' ? flattened(part) : [part]));
}

/** AND-ed terms: those over the same to-many relation refer to one related row. */
function fitsTerms(sight: ReadContext, entityRow: EntityRow, terms: readonly Term[]): boolean {
  const groups = new Map<string, Term[]>();
  for (const term of terms) {
    const [name = ''] = term.path;
    groups.set(name, [...(groups.get(name) ?? []), term]);
  }
  return [...groups].every(([name, group]) => {
    const relation = relationNamed(entityRow.entity, name);
    if (!relation) return group.every((term) => fitsColumn(entityRow, term));
    return relation.kind === 'to-one'
      ? fitsForward(sight, entityRow, { relation, group })
      : fitsMany(sight, entityRow, { relation, group });
  });
}

function fitsColumn({ entity, row }: EntityRow, term: Term): boolean {
  const [name = '', ...keys] = term.path;
  const value = row?.values[name] ?? null;
  return term.type
    ? fitsTyped(typedValue(value, keys, term.type), term, KINDS_OF_TYPES[term.type])
    : fitsValue(value, term, columnNamed(entity, name)?.kind ?? 'varchar');
}

/** Values of another type satisfy no comparison, and are not null either (contract 4.17). */
function fitsTyped(value: Json | undefined, term: Term, kind: ColumnKind): boolean {
  if (value === undefined) return term.lookup === 'isnull' && term.value === false;
  return term.lookup === 'contains' && Array.isArray(value)
    ? (value as readonly Json[]).includes(term.value)
    : fitsValue(value, term, kind);
}

interface Group<Kind extends RelationSpec> {
  readonly relation: Kind;
  readonly group: readonly Term[];
}

function fitsForward(
  sight: ReadContext,
  { entity, row }: EntityRow,
  { relation, group }: Group<Extract<RelationSpec, { kind: 'to-one' }>>,
): boolean {
  const target = sight.state.entity(relation.target);
  const own = group.filter((term) => term.path.length === 1);
  const key = keyJson(target, (row?.values[relation.name] ?? null) as string | null);
  if (!own.every((term) => fitsValue(key, term, keyColumnOf(target).kind))) return false;
  const further = group.filter((term) => term.path.length > 1).map(shifted);
  const related = row ? visibleRelated(sight, { entity, row }, relation)[0] : undefined;
  return fitsTerms(sight, { entity: target, row: related }, further);
}

function fitsMany(
  sight: ReadContext,
  { entity, row }: EntityRow,
  { relation, group }: Group<RelationSpec>,
): boolean {
  const target = sight.state.entity(relation.target);
  const related = row ? visibleRelated(sight, { entity, row }, relation) : [];
  const isNone = (term: Term): boolean => term.path.length === 1 && term.lookup === 'isnull';
  if (!group.filter(isNone).every((term) => (related.length === 0) === term.value)) return false;
  const others = group.filter((term) => !isNone(term));
  if (others.length === 0) return true;
  const kind: ColumnKind = keyColumnOf(target).kind;
  return related.some(
    (each) =>
      others.every((term) => term.path.length > 1 || fitsValue(keyJson(target, each.key), term, kind)) &&
      fitsTerms(
        sight,
        { entity: target, row: each },
        others.filter((term) => term.path.length > 1).map(shifted),
      ),
  );
}

function shifted(term: Term): Term {
  return { ...term, path: term.path.slice(1) };
}
