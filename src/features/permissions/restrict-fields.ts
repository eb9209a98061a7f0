import { evictOldest } from '../../core/evict-oldest.js';
import type { Operand } from '../../core/query/condition.js';
import { isWritableIn } from '../../core/schema/field.js';
import type { Field, AliasedRelation } from '../../core/schema/field.js';
import type { FieldSet } from '../../core/contracts/permission.js';
import type { QueriedPath } from '../../core/schema/resource-schema.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Access } from '../../core/contracts/access-control.js';
import { fieldColumns, has, disclosedPaths, topOf } from '../../core/query/readable-paths.js';

const RESTRICTED = new WeakMap<Resource, Map<string, Resource>>();

/** The number of cached views of one resource; grants with varying fields produce more, which are built again. */
const MAX_VIEWS = 100;

/**
 * The resource restricted to the readable and writable fields of a grant. All later stages work on the view: a field that
 * is not readable is not selected, returned, filtered, searched, ordered by or described; one that is not writable is
 * read-only.
 */
export function restrictFields(
  resource: Resource,
  { readable, writable }: Pick<Access, 'readable' | 'writable'>,
): Resource {
  if (readable === 'all' && writable === 'all') return resource;
  const views = RESTRICTED.get(resource) ?? new Map<string, Resource>();
  RESTRICTED.set(resource, views);
  const name = `${fieldSetKey(readable)}|${fieldSetKey(writable)}`;
  const known = views.get(name);
  if (known) return known;
  const view = createView(resource, readable, writable);
  views.set(name, view);
  evictOldest(views, MAX_VIEWS);
  return view;
}

/** A text that is equal for the same fields. */
export function fieldSetKey(fields: FieldSet): string {
  return JSON.stringify(fields === 'all' ? fields : [...fields].sort());
}

function createView(resource: Resource, readable: FieldSet, writable: FieldSet): Resource {
  const fields = resource.fields.map((field) =>
    restricted(field, {
      reads: (name) => has(readable, name),
      writes: (name) => has(writable, name),
      marks: resource.strictWrites,
    }),
  );
  const unreadable = new Set(
    resource.fields.filter((field) => !has(readable, field.name)).flatMap(fieldColumns),
  );
  const isOpen = (operand: Operand): boolean => {
    const [first] = operand.joinPath;
    // A document is one text: whoever may not read a part of it does not search it.
    if (operand.document) return operand.document.columns.every(({ id }) => !unreadable.has(id));
    return first ? has(readable, topOf(first)) : !unreadable.has(operand.column.id);
  };
  const isOpenPath = ({ some: [step], operands }: QueriedPath): boolean =>
    step ? has(readable, topOf(step.joinPath[0] ?? step.relation)) : operands.every(isOpen);
  return Object.freeze({
    ...resource,
    fields,
    fieldsByName: new Map(fields.map((field) => [field.name, field])),
    filterTerms: new Map(
      [...resource.filterTerms].filter(([, term]) => disclosedPaths(term).every(isOpenPath)),
    ),
    aggregates: resource.aggregates && {
      ...resource.aggregates,
      groups: new Map([...resource.aggregates.groups].filter(([, { operands }]) => operands.every(isOpen))),
      measures: new Map([...resource.aggregates.measures].filter(([, { operand }]) => isOpen(operand))),
    },
    searchFields: resource.searchFields.filter(({ some, operand }) =>
      isOpenPath({ some, operands: [operand] }),
    ),
    orderingFields: new Map(
      [...resource.orderingFields].filter(([, { operands }]) => operands.every(isOpen)),
    ),
    // The default order may use any column; without a grant for the field, its term is dropped.
    ordering: resource.ordering.filter(({ operand }) => isOpen(operand)),
  });
}

const MODEL_VIEWS = new WeakMap<Resource, Resource>();

/** The view on the model with the fields of a view on its deleted objects. */
export function modelViewOf(view: Resource): Resource {
  const known = MODEL_VIEWS.get(view);
  if (known || !view.deleted) return known ?? view;
  const model = resourceOf(view.deleted.of);
  const fields = view.fields.filter(({ name }) => model.fieldsByName.has(name));
  const { deleted, ...rest } = view;
  const shown: Resource =
    view === model.trash?.[deleted.rows]
      ? model
      : Object.freeze({ ...rest, fields, fieldsByName: new Map(fields.map((field) => [field.name, field])) });
  MODEL_VIEWS.set(view, shown);
  return shown;
}

/** The fields of one object that are granted. */
interface Granted {
  readonly reads: (name: string) => boolean;
  readonly writes: (name: string) => boolean;
  /** Whether fields that the grant withholds are marked. */
  readonly marks: boolean;
}

function restricted<Some extends Field>(field: Some, granted: Granted): Some {
  const view = withoutUngranted(field, granted);
  if (!granted.marks) return view;
  const insertable = isWritableIn(field, 'create') && !isWritableIn(view, 'create');
  const updatable = isWritableIn(field, 'update') && !isWritableIn(view, 'update');
  return insertable || updatable ? { ...view, withheld: { insertable, updatable } } : view;
}

function withoutUngranted<Some extends Field>(field: Some, granted: Granted): Some {
  const readable = granted.reads(field.name);
  const writable = granted.writes(field.name);
  const own = {
    ...field,
    readable: field.readable && readable,
    insertable: field.insertable && writable,
    updatable: field.updatable && writable,
  };
  switch (field.kind) {
    case 'embedded': {
      // A grant of an embedded object includes all of its fields.
      const inside = { reads: () => readable, writes: () => writable, marks: granted.marks };
      return { ...own, fields: field.fields.map((inner) => restricted(inner, inside)) };
    }
    case 'column':
      return field.aliasOf
        ? { ...own, aliasOf: restrictAlias(field.aliasOf, granted.writes(field.aliasOf.relation)) }
        : own;
    default:
      return own;
  }
}

/** A grant of a relation includes the plain column of its foreign key, and nothing else does. */
function restrictAlias(relation: AliasedRelation, writable: boolean): AliasedRelation {
  return {
    ...relation,
    insertable: relation.insertable && writable,
    updatable: relation.updatable && writable,
  };
}
