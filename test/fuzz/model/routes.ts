import type { BulkOperationName, EntitySpec, OperationName } from '../schema.js';
import { hasTrash, relationNamed } from '../schema.js';
import { childrenOf, collectionOf, throughOf } from './resources.js';
import type { Resource } from './resources.js';
import { keyOfSegment } from './state.js';
import type { State } from './state.js';

export type RouteKind =
  'collection' | 'object' | 'restore' | 'purge' | 'children' | 'through-list' | 'through-detail';

export interface Route {
  readonly kind: RouteKind;
  readonly resource: Resource;
  /** The parent and its key; undefined if the key in the URL is invalid. */
  readonly parent?: { readonly entity: EntitySpec; readonly key: string | undefined };
  /** The key of an object; undefined if the key in the URL is invalid. */
  readonly key?: string | undefined;
  readonly allow: readonly string[];
  /** The canonical path of the list. */
  readonly path: string;
}

const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'QUERY'];
const LIST_OPERATIONS: Readonly<Record<string, OperationName>> = { GET: 'list', POST: 'create' };
const BULK: Readonly<Record<string, BulkOperationName>> = { PATCH: 'partialUpdate', DELETE: 'destroy' };
const OBJECT: Readonly<Record<string, OperationName>> = {
  GET: 'retrieve',
  PUT: 'update',
  PATCH: 'partialUpdate',
  DELETE: 'destroy',
};

/** The route of a path; undefined if it has no operation. */
export function routeOf(state: State, path: string): Route | undefined {
  const parts = path.replace(/\/$/, '').split('/').slice(1);
  if (parts[0] !== 'rest' || parts[1] !== 'v1' || parts.length < 4) return undefined;
  const [app, model, pk, relation, ...child] = parts.slice(2);
  const entity = state.schema.entities.find(
    (each) => each.registered && each.app === app && each.model === model,
  );
  if (!entity) return undefined;
  const found = leading(state, entity, { pk, relation, child });
  return found && found.allow.length > 0 ? { ...found, path: listPath(parts, found.kind) } : undefined;
}

function listPath(parts: readonly string[], kind: RouteKind): string {
  const isNested = kind === 'children' || kind === 'through-list' || kind === 'through-detail';
  return `/${parts.slice(0, isNested ? 6 : 4).join('/')}/`;
}

interface Rest {
  readonly pk: string | undefined;
  readonly relation: string | undefined;
  readonly child: readonly string[];
}

function leading(
  state: State,
  entity: EntitySpec,
  { pk, relation, child }: Rest,
): Omit<Route, 'path'> | undefined {
  const resource = collectionOf(state, entity);
  if (pk === undefined) return { kind: 'collection', resource, allow: allowOfList(resource) };
  if (pk === '') return undefined;
  const key = keyOfSegment(entity, pk);
  if ((relation === 'restore' || relation === 'purge') && child.length === 0 && hasTrash(entity, relation))
    return { kind: relation, resource, key, allow: ['POST', 'OPTIONS'] };
  return relation === undefined
    ? { kind: 'object', resource, key, allow: allowOf(resource, OBJECT) }
    : nested(state, { entity, key }, { relation, child });
}

function nested(
  state: State,
  parent: { readonly entity: EntitySpec; readonly key: string | undefined },
  { relation: name, child }: { readonly relation: string; readonly child: readonly string[] },
): Omit<Route, 'path'> | undefined {
  const relation = relationNamed(parent.entity, name);
  const key = parent.key ?? '';
  if (relation?.kind === 'to-many' && child.length === 0) {
    const target = state.entity(relation.target);
    if (!target.registered) return undefined;
    const resource = childrenOf(state, target, { forward: relation.forward, key });
    return { kind: 'children', resource, parent, allow: allowOf(resource, { GET: 'list' }) };
  }
  if (relation?.kind !== 'many-to-many') return undefined;
  const resource = throughOf(state, relation, { entity: parent.entity, key });
  if (child.length === 0) return { kind: 'through-list', resource, parent, allow: allowOfList(resource) };
  const side = resource.through?.isMapped ? resource.entity : state.entity(relation.target);
  return {
    kind: 'through-detail',
    resource,
    parent,
    key: keyOfSegment(side, child.join('/')),
    allow: allowOf(resource, OBJECT),
  };
}

function allowOfList(resource: Resource): string[] {
  const bulk = resource.options.bulk?.operations ?? [];
  const many = Object.fromEntries(Object.entries(BULK).filter(([, name]) => bulk.includes(name)));
  return allowOf(resource, { ...LIST_OPERATIONS, ...many });
}

function allowOf({ options }: Resource, methods: Readonly<Record<string, OperationName>>): string[] {
  const operations = options.operations ?? [
    'list',
    'create',
    'retrieve',
    'update',
    'partialUpdate',
    'destroy',
  ];
  const served = Object.keys(methods).filter((method) => {
    const operation = methods[method];
    return operation !== undefined && operations.includes(operation);
  });
  if (served.length === 0) return [];
  const isQueried = options.query === true && methods.GET === 'list' && served.includes('GET');
  const all = [
    ...served,
    'OPTIONS',
    ...(served.includes('GET') ? ['HEAD'] : []),
    ...(isQueried ? ['QUERY'] : []),
  ];
  return ORDER.filter((method) => all.includes(method));
}
