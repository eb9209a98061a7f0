import type { Model } from '../model/answers.js';
import type { Resource } from '../model/resources.js';
import { keyInUrl, keyJson } from '../model/state.js';
import type { State } from '../model/state.js';
import type { FuzzRequest } from '../run/transport.js';
import { toOnesOf } from '../schema.js';
import type { EntitySpec, Json, ManySpec, RelationSpec } from '../schema.js';
import { makeBody } from './bodies.js';
import { makeQuery, resourceOf } from './queries.js';
import type { Random } from './random.js';

/** The target of a request: a path and its resource. */
export interface Target {
  readonly kind:
    'collection' | 'object' | 'trash' | 'children' | 'through-list' | 'through-detail' | 'nowhere';
  readonly path: string;
  /** The entity whose fields the resource has. */
  readonly entity: EntitySpec | undefined;
  /** For URLs of a many-to-many relation. */
  readonly through?: { readonly relation: ManySpec; readonly parent: EntitySpec; readonly parentKey: string };
  readonly key?: string | undefined;
}

/** The POSTs with an idempotency key of a client, to be repeated. */
export type Posted = FuzzRequest[];

/** The next request of a client, for the current state of its rows. */
export function makeRequest(random: Random, model: Model, posted: Posted): FuzzRequest {
  if (posted.length > 0 && random.chance(0.08)) return sendAgain(random, posted.slice(-8));
  const target = makeTarget(random, model.state);
  const method = makeMethod(random, model.state, target);
  const query = makeQuery(random, model, { target, method });
  const hasBody =
    ['POST', 'PUT', 'PATCH'].includes(method) && target.kind !== 'children' && target.kind !== 'trash';
  const body =
    hasBody || random.chance(0.01) ? makeBody(random, model.state, { target, method, query }) : undefined;
  const asked: FuzzRequest = {
    method,
    path: `${random.chance(0.03) ? target.path.replace(/\/$/, '') : target.path}${query}`,
    headers: {
      ...makeCredentials(random, model.state),
      ...makeAccept(random, isUnusual(target, method) ? 0.3 : 0.04),
      ...makeConditions(random, model, target),
      ...makeIdempotencyKey(random, { target, method, query }),
      ...body?.headers,
    },
    ...(body ? { body: body.text } : {}),
  };
  if ('Idempotency-Key' in asked.headers) posted.push(asked);
  return random.chance(0.4) ? asQuery(asked, resourceOf(model.state, target), target) : asked;
}

/** The same list by QUERY, where its model has it. */
function asQuery(asked: FuzzRequest, resource: Resource | undefined, { kind }: Target): FuzzRequest {
  const { query, operations } = resource?.options ?? {};
  const isList = kind === 'collection' || kind === 'through-list' || kind === 'children';
  const isServed = query === true && (!operations || operations.includes('list'));
  if (!isList || !isServed || asked.method !== 'GET' || asked.body !== undefined) return asked;
  const [path = '', body = ''] = asked.path.split(/\?(.*)/s);
  const headers = { ...asked.headers, 'Content-Type': 'application/x-www-form-urlencoded' };
  return { method: 'QUERY', path, headers, body };
}

/** Repeats a POST with its own or another body. */
function sendAgain(random: Random, posted: Posted): FuzzRequest {
  const asked = random.pick(posted);
  const other = random.pick(posted);
  return random.chance(0.4) && other.path === asked.path && other.body !== undefined
    ? { ...asked, body: other.body }
    : asked;
}

/** Whether most URLs of this kind do not have the method, which tests the order of the checks. */
function isUnusual({ kind, entity }: Target, method: string): boolean {
  switch (kind) {
    case 'object':
    case 'through-detail':
      return method === 'POST';
    case 'collection':
    case 'through-list':
      return method === 'PUT' || (!entity?.options.bulk && ['PATCH', 'DELETE'].includes(method));
    default:
      return !['GET', 'HEAD', 'OPTIONS'].includes(method);
  }
}

function makeAccept(random: Random, probability: number): Record<string, string> {
  if (!random.chance(probability)) return {};
  return { Accept: random.pick(['text/html', 'application/json;q=0.5', '*/*;q=0']) };
}

function makeConditions(random: Random, model: Model, target: Target): Record<string, string> {
  const { entity, key, kind } = target;
  const isObject = kind === 'object' || kind === 'through-detail' || kind === 'trash';
  if (!entity || !isObject || !entity.options.conditional || entity.options.permissions) return {};
  const own = model.tags.latest.get(`${entity.name}/${key ?? ''}`);
  const known = model.tags.known().slice(-5);
  const tag =
    own !== undefined && random.chance(0.7)
      ? own
      : random.pick([...known, '*', '"x"', `W/${own ?? '"y"'}`, 'bare', '"a", "b"']);
  return { [random.chance(0.6) ? 'If-Match' : 'If-None-Match']: tag };
}

function makeIdempotencyKey(
  random: Random,
  { target, method, query }: { readonly target: Target; readonly method: string; readonly query: string },
): Record<string, string> {
  if (method !== 'POST' || !target.entity?.options.idempotency || query.includes('expand=')) return {};
  if (random.chance(0.2)) return {};
  if (target.kind === 'trash') return { 'Idempotency-Key': `t${random.below(20)}` };
  return { 'Idempotency-Key': random.chance(0.04) ? random.pick(['', 'é']) : `k${random.below(200)}` };
}

function makeCredentials(random: Random, { schema }: State): Record<string, string> {
  if (random.chance(0.3)) return {};
  if (random.chance(0.02))
    return { Authorization: random.pick(['Bearer x', 'Basic ###', 'Basic', `Basic ${btoa('x:y')}`]) };
  const { name } = random.pick(schema.actors);
  return { Authorization: `Basic ${btoa(`${name}:${name}`)}` };
}

function makeMethod(random: Random, state: State, target: Target): string {
  if (random.chance(0.05)) return random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
  const rows = countOf(state, target);
  switch (target.kind) {
    case 'collection':
    case 'through-list':
      return random.weighted({
        GET: 8,
        POST: rows > 25 ? 2 : 10,
        HEAD: 0.3,
        OPTIONS: 0.2,
        ...(target.entity?.options.bulk ? { PATCH: 2, DELETE: rows > 10 ? 1 : 0.2 } : {}),
      });
    case 'object':
    case 'through-detail':
      return random.weighted({
        GET: 4,
        PATCH: 5,
        PUT: 3,
        DELETE: rows > 15 ? 5 : 1,
        HEAD: 0.2,
        OPTIONS: 0.2,
      });
    case 'trash':
      return random.weighted({ POST: 15, GET: 0.3, PATCH: 0.3, DELETE: 0.3, OPTIONS: 0.2 });
    default:
      return random.weighted({ GET: 10, HEAD: 0.3, POST: 0.3, OPTIONS: 0.2 });
  }
}

function countOf(state: State, { entity, through }: Target): number {
  if (through && !through.relation.through) return state.pairs(through.relation).length;
  return entity ? state.rows(entity.name).length : 0;
}

function makeTarget(random: Random, state: State): Target {
  if (random.chance(0.01))
    return {
      kind: 'nowhere',
      path: random.pick(['/rest/v1/none/', '/rest/v1/none/x/1/', '/rest/v1/c0/none/']),
      entity: undefined,
    };
  const entity = pickEntity(random, state);
  const list = `/rest/v1/${entity.app}/${entity.model}/`;
  const roll = random.next();
  if (roll < 0.4) return { kind: 'collection', path: list, entity };
  const key = makeKey(random, state, entity);
  const path = `${list}${key.segment}/`;
  if (entity.options.trash && random.chance(0.25)) return trashTarget(random, state, { entity, list });
  const nested = entity.relations.filter(({ kind }) => kind === 'to-many' || kind === 'many-to-many');
  if (roll < 0.65 || nested.length === 0) return { kind: 'object', path, entity, key: key.text };
  return nestedTarget(random, state, { entity, key: key.text, path, relation: random.pick(nested) });
}

/** Half of the requests are about a model whose relations share columns, if there is one. */
function pickEntity(random: Random, { schema }: State): EntitySpec {
  const served = schema.entities.filter((each) => each.registered);
  const sharing = served.filter((each) => toOnesOf(each).some(({ on }) => on));
  return random.pick(sharing.length > 0 && random.chance(0.5) ? sharing : served);
}

/** The URL that restores or purges an object, usually a deleted one. */
function trashTarget(
  random: Random,
  state: State,
  { entity, list }: { readonly entity: EntitySpec; readonly list: string },
): Target {
  const rows = state.allRows(entity.name).filter((row) => state.isDeleted(entity.name, row));
  const { key } = rows.length > 0 && random.chance(0.8) ? random.pick(rows) : { key: undefined };
  const { text, segment } =
    key === undefined ? makeKey(random, state, entity) : { text: key, segment: keyInUrl(entity, key) };
  const path = `${list}${segment}/${random.pick(['restore', 'restore', 'purge'])}/`;
  return { kind: 'trash', path, entity, key: text };
}

interface Nested {
  readonly entity: EntitySpec;
  readonly key: string;
  readonly path: string;
  readonly relation: RelationSpec;
}

function nestedTarget(random: Random, state: State, { entity, key, path, relation }: Nested): Target {
  const target = state.entity(relation.target);
  const list = `${path}${relation.name}/`;
  if (relation.kind !== 'many-to-many')
    return random.chance(0.03)
      ? { kind: 'nowhere', path: `${list}1/`, entity: undefined }
      : { kind: 'children', path: list, entity: target };
  const through = { relation, parent: entity, parentKey: key };
  const side = relation.through ? state.entity(relation.through.entity) : target;
  if (random.chance(0.55)) return { kind: 'through-list', path: list, entity: side, through };
  const child = makeKey(random, state, side);
  return { kind: 'through-detail', path: `${list}${child.segment}/`, entity: side, through, key: child.text };
}

/** A key, usually of an existing row. */
export function makeKey(random: Random, state: State, entity: EntitySpec): { text: string; segment: string } {
  const rows = state.allRows(entity.name);
  if (rows.length > 0 && random.chance(0.92)) {
    const { key } = random.pick(rows);
    return { text: key, segment: keyInUrl(entity, key) };
  }
  const segment = random.pick([
    '999999',
    'abc',
    '1.5',
    '01',
    '-1',
    'x%2Fy',
    '%00',
    'a,1',
    '99999999999999999999',
    '%zz',
  ]);
  return { text: segment, segment };
}

export function makeRelatedKey(random: Random, state: State, entity: EntitySpec): Json {
  const rows = random.chance(0.05) ? state.allRows(entity.name) : state.rows(entity.name);
  if (rows.length > 0) return keyJson(entity, random.pick(rows).key);
  if (entity.key.columns[0]?.kind === 'uuid') return '0f8fad5b-d9cb-469f-a165-70867728950e';
  const parts = entity.key.columns.map(({ kind }) => (kind === 'int' ? 1 : 'nowhere'));
  return parts.length > 1 ? parts.join(',') : 1;
}
