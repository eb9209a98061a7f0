import type { Condition, Operand } from '../../model/condition.js';
import { allOf } from '../../model/condition.js';
import type { Field } from '../../model/field.js';
import type { FieldSet } from '../../model/permission.js';
import type { Relation } from '../../model/relation.js';
import type { FilterTerm, Resource, SearchField } from '../../model/resource.js';
import type { Access } from './accesses.js';

const RESTRICTED = new WeakMap<Resource, Map<string, Resource>>();

/** Views of one resource that are remembered; an author who grants by chance makes more, and they are made anew. */
const MAX_VIEWS = 100;

/**
 * The resource as somebody sees it who may read and write these fields only. Everything behind works on the view: what
 * is not readable is not selected, shown, filtered, searched, ordered by or told of; what is not writable is read-only.
 */
export function restrictFields(resource: Resource, { readable, writable }: Pick<Access, 'readable' | 'writable'>): Resource {
  if (readable === 'all' && writable === 'all') return resource;
  const views = RESTRICTED.get(resource) ?? new Map<string, Resource>();
  RESTRICTED.set(resource, views);
  const name = `${textOf(readable)}|${textOf(writable)}`;
  const known = views.get(name);
  if (known) return known;
  if (views.size >= MAX_VIEWS) views.clear();
  const view = viewOf(resource, readable, writable);
  views.set(name, view);
  return view;
}

function textOf(fields: FieldSet): string {
  return JSON.stringify(fields === 'all' ? fields : [...fields].sort());
}

function viewOf(resource: Resource, readable: FieldSet, writable: FieldSet): Resource {
  const fields = resource.fields.map((field) => restricted(field, has(readable, field.name), has(writable, field.name)));
  const unreadable = new Set(resource.fields.filter((field) => !has(readable, field.name)).flatMap(columnsOf));
  const isOpen = (operand: Operand): boolean => {
    const [first] = operand.hops;
    return first ? has(readable, topOf(first)) : !unreadable.has(operand.column.id);
  };
  return Object.freeze({
    ...resource,
    fields,
    fieldsByName: new Map(fields.map((field) => [field.name, field])),
    filterTerms: new Map([...resource.filterTerms].filter(([, term]) => term.operands.every(isOpen))),
    searchFields: resource.searchFields.filter(({ operand }) => isOpen(operand)),
    orderingFields: new Map([...resource.orderingFields].filter(([, operands]) => operands.every(isOpen))),
    // The author may order by any column; a grant that takes a field away takes its order away too.
    ordering: resource.ordering.filter(({ operand }) => isOpen(operand)),
  });
}

/** The field that a relation belongs to: the embedded object, where it stands in one. */
function topOf({ name }: Relation): string {
  return name.split('.')[0] ?? name;
}

function has(fields: FieldSet, name: string): boolean {
  return fields === 'all' || fields.has(name);
}

function restricted<Some extends Field>(field: Some, readable: boolean, writable: boolean): Some {
  const own = { ...field, readable: field.readable && readable, insertable: field.insertable && writable, updatable: field.updatable && writable };
  if (field.kind !== 'embedded') return own;
  return { ...own, fields: field.fields.map((inner) => restricted(inner, readable, writable)) };
}

function columnsOf(field: Field): readonly string[] {
  switch (field.kind) {
    case 'column':
      return [field.column.id];
    case 'embedded':
      return field.fields.flatMap((inner) => columnsOf(inner));
    case 'to-one':
      return field.relation.on.map((pair) => pair.near.id);
    default:
      return [];
  }
}

const TARGETS = new WeakMap<Resource, readonly Resource[]>();

/** Models that the queries of a resource reach over relations. */
export function queriedTargets(resource: Resource): readonly Resource[] {
  const known = TARGETS.get(resource) ?? targetsOf(resource);
  TARGETS.set(resource, known);
  return known;
}

function targetsOf(resource: Resource): readonly Resource[] {
  const operands = [...[...resource.filterTerms.values()].flatMap((term) => term.operands), ...resource.searchFields.map(({ operand }) => operand), ...[...resource.orderingFields.values()].flat(), ...resource.ordering.map(({ operand }) => operand)];
  return [...new Set(operands.flatMap(({ hops }) => hops.map((hop) => hop.target)))];
}

/**
 * The resource with queries over relations under the grants of the models that they lead to: what the caller may not
 * read there cannot be asked for, and of the rest only rows that the caller may see count. An order by rows that may
 * be hidden would tell of them, and is dropped.
 */
export function restrictQueries(resource: Resource, accesses: ReadonlyMap<Resource, Access | undefined>): Resource {
  if ([...accesses.values()].every((access) => access?.rows.kind === 'always' && access.readable === 'all')) return resource;
  const within = (operand: Operand): Condition | undefined => conditionOver(operand, accesses);
  return Object.freeze({
    ...resource,
    filterTerms: new Map([...resource.filterTerms].flatMap(([name, term]) => restrictedTerm(name, term, within))),
    searchFields: resource.searchFields.flatMap((field): readonly SearchField[] => {
      const condition = within(field.operand);
      return condition ? [{ ...field, within: condition }] : [];
    }),
    orderingFields: new Map([...resource.orderingFields].filter(([, operands]) => operands.every((operand) => within(operand)?.kind === 'always'))),
    ordering: resource.ordering.filter(({ operand }) => operand.hops.length === 0 || within(operand)?.kind === 'always'),
  });
}

function restrictedTerm(name: string, term: FilterTerm, within: (operand: Operand) => Condition | undefined): readonly (readonly [string, FilterTerm])[] {
  const conditions = term.operands.map(within);
  if (conditions.includes(undefined)) return [];
  return [[name, { ...term, within: allOf(conditions.filter((each) => each !== undefined)) }]];
}

/** Which rows of the relations on the way may count; undefined where the operand may not be read at all. */
function conditionOver({ hops, column }: Operand, accesses: ReadonlyMap<Resource, Access | undefined>): Condition | undefined {
  const conditions: Condition[] = [];
  for (const [index, hop] of hops.entries()) {
    const access = accesses.get(hop.target);
    if (!access) return undefined;
    const next = hops[index + 1];
    const readable = next ? has(access.readable, topOf(next)) : isReadable(column.id, hop.target, access.readable);
    if (!readable) return undefined;
    conditions.push(behind(hops.slice(0, index + 1), access.rows));
  }
  return allOf(conditions);
}

function isReadable(columnId: string, target: Resource, readable: FieldSet): boolean {
  if (readable === 'all') return true;
  return target.fields.some((field) => readable.has(field.name) && columnsOf(field).includes(columnId)) || target.key.columns.some((column) => column.id === columnId);
}

/** A condition of a related model, as one of the model from which the hops lead there. */
export function behind(hops: readonly Relation[], condition: Condition): Condition {
  switch (condition.kind) {
    case 'always':
    case 'never':
      return condition;
    case 'and':
    case 'or':
      return { kind: condition.kind, conditions: condition.conditions.map((each) => behind(hops, each)) };
    case 'not':
      return { kind: 'not', condition: behind(hops, condition.condition) };
    case 'compare':
    case 'term':
      return { ...condition, operand: { hops: [...hops, ...condition.operand.hops], column: condition.operand.column } };
    case 'related':
      return { ...condition, hops: [...hops, ...condition.hops] };
    default:
      return condition satisfies never;
  }
}
