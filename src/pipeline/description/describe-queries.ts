import type { AccessControl } from '../../core/contracts/access-control.js';
import { BULK_OPERATIONS, KEYS_PARAMETER, takesMany, UPSERT_PARAMETER } from '../../core/contracts/bulk.js';
import { FORMAT_PARAMETER } from '../../core/contracts/renderer.js';
import type {
  ActionDescription,
  BulkDescription,
  ChildrenDescription,
  NestedDescription,
  QueryDescription,
  RelationDescription,
} from '../../core/contracts/route-description.js';
import { isNested, writtenColumns } from '../../core/schema/field.js';
import type { NestedWrites } from '../../core/schema/field.js';
import type { RouteAction } from '../../core/schema/action.js';
import { METHOD_OF } from '../../core/schema/operation.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import { isReadableFrom } from '../../core/schema/reachable-models.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Route } from '../../core/schema/route.js';
import { queriedResource } from '../../features/filtering/plan-rows.stage.js';
import { mayReadLabel } from '../../features/labels/add-labels.stage.js';
import { requiredMethod } from '../../features/permissions/authorize.stage.js';
import { grantRelatedKeys } from '../../features/permissions/grant-related-keys.js';
import { restrictFields } from '../../features/permissions/restrict-fields.js';
import { keyFieldsOf } from '../../request/plan/key-fields.js';
import type { RestContext } from '../../request/rest-context.js';
import { describeAggregates } from './describe-aggregates.js';
import { describeDeletion } from './describe-deletion.js';
import { describeTrash } from './describe-trash.js';
import { describeListParameters, describeShape } from './describe-list-parameters.js';
import type { ListParameters } from './describe-list-parameters.js';
import { describeReadableFields, describeChange } from './describe-fields.js';

/** Fields that refer to one object, and to-many relations whose keys a filter of the list compares, or whose objects bodies write. */
async function describeRelations(
  view: Resource,
  context: RestContext,
  { filters }: ListParameters,
): Promise<Readonly<Record<string, RelationDescription>>> {
  const relations: [string, RelationDescription][] = [];
  for (const field of view.fields) {
    if (!field.readable || !('relation' in field)) continue;
    const nested = isNested(field) ? field.nested : undefined;
    if (field.kind === 'link' && !nested && !filters.some(({ field: path }) => path === field.name)) continue;
    const target = nested?.relation.target ?? field.relation.target;
    const description = await describeRelation(resourceOf(target), { from: view, nested }, context);
    if (description) relations.push([field.name, description]);
  }
  return Object.fromEntries(relations);
}

/** Undefined if the caller may not read the related model. */
async function describeRelation(
  target: Resource,
  { from, nested }: { readonly from: Resource; readonly nested: NestedWrites | undefined },
  { access, base }: RestContext,
): Promise<RelationDescription | undefined> {
  const granted = await access.tryAuthorize(target, 'GET');
  if (!granted) return undefined;
  const isListed = target.registered && target.operations.has('list');
  const view = restrictFields(target, granted);
  const isLabelled = isReadableFrom(target, from) && mayReadLabel(view);
  return {
    url: isListed ? `${base}/${target.app}/${target.model}/` : null,
    ...(target.key.columns.length > 1 && { composite: true }),
    label: isLabelled ? (target.objectLabel?.template ?? null) : null,
    ...(nested && { children: describeChildren(nested, view) }),
  };
}

function describeChildren({ verbs, relation }: NestedWrites, { fields }: Resource): ChildrenDescription {
  const columns = new Set(relation.on.map(({ referencedColumn }) => referencedColumn.id));
  const given = fields.filter(
    (field) => field.readable && writtenColumns(field).some((id) => columns.has(id)),
  );
  return { verbs: [...verbs], given: given.map(({ name }) => name) };
}

/** The routes that a description refers to, by the resource to whose URLs they belong. */
export type RoutesOf = (resource: Resource) => readonly Route[];

const NO_PARAMETERS: ListParameters = { filters: [] };

/**
 * Describes what the caller may read and query at a URL. Whatever it may not use is left out as if it were not declared.
 * Reads no rows.
 */
export async function describeQueries(
  route: Route,
  context: RestContext,
  routesOf: RoutesOf,
): Promise<QueryDescription> {
  const { resource, kind } = route;
  const granted = await context.access.tryAuthorize(resource, 'GET');
  const view = granted && (await grantRelatedKeys(restrictFields(resource, granted), context.access, 'GET'));
  const isList = route.operations.get('GET') === 'list';
  const listed = view && isList && context.fork({ resource: view, queryAccess: undefined });
  const methods = await describeMethods(route, context);
  const mayDelete = methods.includes('DELETE') && route.operations.get('DELETE') === 'destroy';
  const parameters = listed ? describeListParameters(await queriedResource(listed)) : NO_PARAMETERS;
  const nested = view ? await describeNested(view, context, routesOf) : [];
  return {
    kind,
    methods,
    ...(mayDelete && { deletion: await describeDeletion(resource.referrers, context) }),
    ...(view && describeObjects(route, view, context)),
    ...(view && (await describeParent(route, view, context))),
    fields: view ? describeReadableFields(view.fields) : {},
    ...parameters,
    ...(isList && !route.actions.has('GET') ? await describeAggregates(resource, context) : {}),
    nested,
    custom: await describeActions(route, context, routesOf),
    relations: view ? await describeRelations(view, context, parameters) : {},
    ...(await describeTrash(route, context)),
    ...(await describeWrites(route, context)),
    ...(view && describeResponses(route, view, nested)),
  };
}

/** How objects are named and addressed. */
function describeObjects(
  route: Route,
  view: Resource,
  context: RestContext,
): Pick<QueryDescription, 'labels' | 'label' | 'key' | 'key_is_text' | 'objects'> {
  const fields = keyFieldsOf(view);
  const key = fields.map(({ name }) => name);
  const isText = fields.length === 1 && view.key.columns.length > 1;
  const objects = findObjectsPath(route, context);
  return {
    ...(view.labels && { labels: view.labels }),
    ...(mayReadLabel(view) && view.objectLabel && { label: view.objectLabel.template }),
    ...(key.length > 0 && { key }),
    ...(isText && { key_is_text: true }),
    ...(objects !== undefined && { objects }),
  };
}

/** Objects of a nested one-to-many list have their URLs in the collection of their own model. */
function findObjectsPath(
  { kind, resource, parent, relation }: Route,
  context: RestContext,
): string | undefined {
  if (!resource.operations.has('retrieve')) return undefined;
  const { base, keySegment } = context;
  if ((kind === 'through-list' || kind === 'through-object') && parent && relation)
    return `${base}/${parent.app}/${parent.model}/${keySegment ?? ''}/${relation.name}/`;
  return resource.registered ? `${base}/${resource.app}/${resource.model}/` : undefined;
}

/** The field by which the objects of a one-to-many list refer to the object above. */
async function describeParent(
  { kind, resource, parent, relation }: Route,
  view: Resource,
  { access, base }: RestContext,
): Promise<Pick<QueryDescription, 'parent'>> {
  if (kind !== 'one-to-many' || relation?.kind !== 'one-to-many') return {};
  const field = view.fields.find(
    (each) =>
      each.kind === 'to-one' &&
      each.readable &&
      each.relation.target === parent &&
      each.relation.on.length === relation.on.length &&
      each.relation.on.every(({ localColumn, referencedColumn }) =>
        relation.on.some(
          (pair) =>
            pair.localColumn.id === referencedColumn.id && pair.referencedColumn.id === localColumn.id,
        ),
      ),
  );
  if (!field) return {};
  const isOpen = resource.registered && resource.operations.has('create');
  const granted = isOpen && (await access.tryAuthorize(resource, 'POST'));
  const mayCreate = granted && restrictFields(resource, granted).fieldsByName.get(field.name)?.insertable;
  return {
    parent: {
      field: field.name,
      ...(mayCreate === true && { create: `${base}/${resource.app}/${resource.model}/` }),
    },
  };
}

async function describeNested(
  view: Resource,
  { access, route }: RestContext,
  routesOf: RoutesOf,
): Promise<readonly NestedDescription[]> {
  const lists = routesOf(route.resource).filter(
    ({ kind, operations, actions }) =>
      (kind === 'one-to-many' || kind === 'through-list') &&
      (operations.get('GET') === 'list' || actions.has('GET')),
  );
  const nested: NestedDescription[] = [];
  for (const { kind, relation, resource, actions } of lists) {
    const field = view.fields.find(
      (each) =>
        (each.kind === 'link' || each.kind === 'keys') &&
        each.readable &&
        each.relation.name === relation?.name,
    );
    if (!field || !relation) continue;
    const granted = await access.tryAuthorize(resource, 'GET', actions.get('GET')?.permission);
    if (granted) nested.push({ name: relation.name, label: field.label, through: kind === 'through-list' });
  }
  return nested;
}

/** The actions of the application below a list, or below an object. */
async function describeActions(
  { kind, resource }: Route,
  { access }: RestContext,
  routesOf: RoutesOf,
): Promise<readonly ActionDescription[]> {
  if (kind !== 'collection' && kind !== 'object') return [];
  const described: ActionDescription[] = [];
  for (const route of routesOf(resource)) {
    const { kind: actionKind, segment } = route;
    if (segment === undefined) continue;
    const isOfObject = actionKind === 'object-action';
    const callable = await findCallable(route, access);
    const body = callable.find(([method, action]) => method !== 'GET' && action.body)?.[1].body;
    if (callable.length > 0)
      described.push({
        name: segment,
        object: isOfObject,
        methods: callable.map(([method]) => method),
        ...(body && { body }),
      });
  }
  return described;
}

/** The actions of a URL that the caller may call, by method. */
async function findCallable(
  route: Route,
  access: RestContext['access'],
): Promise<readonly (readonly [string, RouteAction])[]> {
  const callable: (readonly [string, RouteAction])[] = [];
  for (const [method, action] of route.actions)
    if (await mayUse(route, method, access)) callable.push([method, action]);
  return callable;
}

async function describeWrites(
  route: Route,
  { access }: RestContext,
): Promise<Pick<QueryDescription, 'bulk' | 'conditional' | 'idempotency'>> {
  const { resource, operations } = route;
  const methods: BulkDescription['methods'][number][] = [];
  for (const operation of BULK_OPERATIONS) {
    const method = METHOD_OF[operation];
    if (takesMany(route, operation) && (await access.tryAuthorize(resource, method))) methods.push(method);
  }
  const granted = methods.includes('PATCH') ? await access.tryAuthorize(resource, 'PATCH') : undefined;
  const changed = granted && (await grantRelatedKeys(restrictFields(resource, granted), access, 'PATCH'));
  const { bulk, conditional, idempotency } = resource;
  return {
    ...(bulk &&
      methods.length > 0 && {
        bulk: {
          methods,
          max: bulk.max,
          keys: parameterName(KEYS_PARAMETER, resource),
          ...(bulk.upsert.length > 0 && { upsert: parameterName(UPSERT_PARAMETER, resource) }),
          ...(changed && { change: describeChange(changed) }),
        },
      }),
    ...(conditional && { conditional: { require: conditional.require } }),
    ...(idempotency && operations.has('POST') && { idempotency: { header: 'Idempotency-Key' } }),
  };
}

/** The parameters that select the fields, labels and format of a response. */
function describeResponses(
  { operations }: Route,
  { fieldSelection, labelsParameter, counts, renderers, ...resource }: Resource,
  nested: readonly NestedDescription[],
): Pick<QueryDescription, 'shape' | 'with' | 'counts' | 'formats'> {
  if (!operations.has('GET')) return {};
  return {
    ...(fieldSelection && { shape: describeShape(fieldSelection) }),
    ...(labelsParameter !== undefined && { with: labelsParameter }),
    ...(counts && {
      counts: {
        parameter: counts.parameter,
        lists: counts.names.filter((name) => nested.some((each) => each.name === name)),
      },
    }),
    ...(renderers.length > 0 && {
      formats: {
        parameter: parameterName(FORMAT_PARAMETER, resource),
        names: Object.fromEntries(renderers.map(({ format, mediaType }) => [format, mediaType])),
      },
    }),
  };
}

/** The methods of a URL that the caller may use, in the order of `Allow`. */
async function describeMethods(route: Route, { access }: RestContext): Promise<readonly string[]> {
  const methods: string[] = [];
  for (const method of route.allow.split(', ')) {
    if (method !== 'OPTIONS' && method !== 'HEAD' && (await mayUse(route, method, access)))
      methods.push(method);
  }
  return methods;
}

/** Whether the permissions of a URL admit a request of the caller, as when it is authorized. */
async function mayUse(route: Route, method: string, access: AccessControl): Promise<boolean> {
  const permission = [...route.actions].find(([name]) => name === method)?.[1].permission;
  const granted = await access.tryAuthorize(route.resource, requiredMethod(route, method), permission);
  return granted !== undefined;
}
