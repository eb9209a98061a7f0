import type { Access, AccessControl } from '../../core/contracts/access-control.js';
import { evictOldest } from '../../core/evict-oldest.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { ALWAYS, conjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import { has } from '../../core/query/readable-paths.js';
import type { KeysField, PairAccess } from '../../core/schema/field.js';
import { isReading } from '../../core/schema/operation.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import { fieldSetKey, restrictFields } from './restrict-fields.js';

/** What the permissions of the pairs, and of the related objects, grant for one field. */
interface FieldGrants {
  readonly field: KeysField;
  readonly views: Access | undefined;
  readonly objects: Condition;
  readonly creates: Access | undefined;
  readonly deletes: Access | undefined;
}

/**
 * The view in which related keys are those of the pairs that the caller may view, and writable where it may also create and
 * delete pairs by this method. Without the right to view pairs their field does not exist.
 */
export function grantRelatedKeys(
  view: Resource,
  access: AccessControl,
  method: string,
): MaybePromise<Resource> {
  if (!view.hasRelatedKeys) return view;
  return isOpenToAll(view) ? openView(view, method) : grantFields(view, access, method);
}

const OPEN_VIEWS = new WeakMap<Resource, Map<string, Resource>>();

/** Where no permission decides, nothing is asked. */
function openView(view: Resource, method: string): Resource {
  const known = OPEN_VIEWS.get(view) ?? new Map<string, Resource>();
  OPEN_VIEWS.set(view, known);
  const granted = known.get(method) ?? createOpenView(view, method);
  known.set(method, granted);
  evictOldest(known, MAX_VIEWS);
  return granted;
}

function createOpenView(view: Resource, method: string): Resource {
  const writes = !isReading(method) && method !== 'DELETE';
  const grants = view.fields.flatMap((field): readonly FieldGrants[] => {
    if (field.kind !== 'keys') return [];
    const may = (isOpen: boolean): Access | undefined => (field.readable && isOpen ? EVERYTHING : undefined);
    const creates = may(writes && field.insertable);
    const deletes = may(creates !== undefined && method !== 'POST' && field.updatable);
    return [{ field, views: may(true), objects: ALWAYS, creates, deletes }];
  });
  return createView(view, new Map(grants.map((each) => [each.field.name, each])), isReading(method));
}

const EVERYTHING: Access = { grantCondition: ALWAYS, readable: 'all', writable: 'all' };

/** Whether the permissions of all pairs and related objects allow everything. */
function isOpenToAll({ fields }: Resource): boolean {
  return fields.every(
    (field) =>
      field.kind !== 'keys' ||
      [field.relation.through.resource, field.relation.target].every(
        (model) => resourceOf(model).permission.kind === 'anyone',
      ),
  );
}

async function grantFields(view: Resource, access: AccessControl, method: string): Promise<Resource> {
  const reads = isReading(method);
  const grants = new Map<string, FieldGrants>();
  // One after the other, as permissions are evaluated.
  for (const field of view.fields)
    if (field.kind === 'keys') grants.set(field.name, await findGrants(field, access, method));
  const name = JSON.stringify([reads, ...[...grants.values()].map(textOf)]);
  const known = VIEWS.get(view) ?? new Map<string, Resource>();
  VIEWS.set(view, known);
  const granted = known.get(name) ?? createView(view, grants, reads);
  known.delete(name);
  known.set(name, granted);
  evictOldest(known, MAX_VIEWS);
  return granted;
}

const VIEWS = new WeakMap<Resource, Map<string, Resource>>();

/** The number of cached views of one resource, as of those with other fields. */
const MAX_VIEWS = 100;

async function findGrants(field: KeysField, access: AccessControl, method: string): Promise<FieldGrants> {
  const through = resourceOf(field.relation.through.resource);
  const may = async (wanted: string, isOpen: boolean): Promise<Access | undefined> =>
    isOpen ? access.tryAuthorize(through, wanted) : undefined;
  const views = await may('GET', field.readable);
  const isViewed = views !== undefined && has(views.readable, field.otherName);
  const writes = isViewed && !isReading(method) && method !== 'DELETE';
  const creates = await may('POST', writes && field.insertable);
  const mayCreate = creates !== undefined && has(creates.writable, field.otherName);
  return {
    field,
    views: isViewed ? views : undefined,
    objects: isViewed ? await access.readScope(field.relation.target) : ALWAYS,
    creates: mayCreate ? creates : undefined,
    deletes: await may('DELETE', mayCreate && method !== 'POST' && field.updatable),
  };
}

function createView(view: Resource, grants: ReadonlyMap<string, FieldGrants>, reads: boolean): Resource {
  const fields = view.fields.map((field) => {
    const found = field.kind === 'keys' ? grants.get(field.name) : undefined;
    return found ? grantField(found, view.strictWrites, reads) : field;
  });
  return Object.freeze({
    ...view,
    fields,
    fieldsByName: new Map(fields.map((field) => [field.name, field])),
    // The statements of views by the rows of one caller are cached apart.
    ...([...grants.values()].every(({ views, objects }) => isOpen(views?.grantCondition) && isOpen(objects))
      ? {}
      : { isClientSelected: true }),
  });
}

function isOpen(rows: Condition | undefined): boolean {
  return rows === undefined || rows.kind === 'always';
}

function grantField(
  { field, views, objects, creates, deletes }: FieldGrants,
  marks: boolean,
  reads: boolean,
): KeysField {
  const insertable = field.insertable && creates !== undefined;
  const updatable = field.updatable && creates !== undefined && deletes !== undefined;
  const withheld = {
    insertable: field.insertable && !insertable,
    updatable: field.updatable && !updatable,
  };
  const own = {
    ...field,
    readable: views !== undefined,
    insertable,
    updatable,
    ...(marks && !reads ? { withheld: field.withheld ?? withheld } : {}),
  };
  if (!views) return own;
  const seen: Condition =
    isOpen(objects) && !field.hidesObjects
      ? ALWAYS
      : { kind: 'related', joinPath: [], relation: field.other, condition: objects };
  return {
    ...own,
    granted: {
      viewed: views.grantCondition,
      shown: conjunction([views.grantCondition, seen]),
      objects,
      creates: creates && pairAccess(field, creates),
      deletes: deletes && pairAccess(field, deletes),
      leavesOut: !reads,
    },
  };
}

function pairAccess({ relation }: KeysField, access: Access): PairAccess {
  return {
    resource: restrictFields(resourceOf(relation.through.resource), access),
    grantCondition: access.grantCondition,
  };
}

function textOf({ field, views, objects, creates, deletes }: FieldGrants): unknown {
  const texts = [views, creates, deletes].map(
    (access) => access && [access.grantCondition, fieldSetKey(access.readable), fieldSetKey(access.writable)],
  );
  return JSON.parse(JSON.stringify([field.name, objects, ...texts], nameParts)) as unknown;
}

/** Columns and relations by their names, as they refer to models. What a column is compared with is left as it is. */
function nameParts(key: string, value: unknown): unknown {
  if (key === 'value') return JSON.stringify(value);
  const name = (each: unknown): unknown => (each as { readonly name?: string }).name;
  if (key === 'column') return (value as { readonly id: string }).id;
  if (key === 'relation') return name(value);
  return key === 'joinPath' && Array.isArray(value) ? value.map(name) : value;
}
