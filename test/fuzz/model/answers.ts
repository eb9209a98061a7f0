import type { ActorSpec, Json, SchemaSpec } from '../schema.js';
import { bothNames, decideAll, mayName, visibleRows } from './access.js';
import type { Access, Actor, Names } from './access.js';
import { asObject, parseBody, readBody } from './bodies.js';
import type { WriteContext, WriteKind } from './bodies.js';
import { fitsRows } from './conditions.js';
import { destroy } from './deletions.js';
import { detailed, forbidden, invalid, notFound, Refusal } from './expected.js';
import type { Expected } from './expected.js';
import { commonHeaders } from './headers.js';
import { learnKey } from './learning.js';
import { listRows, refuseErrors, unknownParameters } from './lists.js';
import type { ListContext } from './lists.js';
import { Parameters } from './parameters.js';
import { changePair, createPair, destroyPair } from './pairs.js';
import { represent } from './represent.js';
import type { Resource } from './resources.js';
import { routeOf } from './routes.js';
import type { Route } from './routes.js';
import { shapeOf } from './shape.js';
import type { Shape } from './shape.js';
import { keyInUrl, State } from './state.js';
import type { Row } from './state.js';
import { limitsOf } from './values.js';
import { changedValues, newValues, store } from './writes.js';

export interface AskedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface GivenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** What an answer is made of before its headers. */
export interface Answer {
  readonly status: number;
  readonly body?: Json;
  readonly headers?: Expected['headers'];
  readonly anyBody?: boolean;
}

/** A request that has been let in. */
export interface Admitted {
  readonly route: Route;
  readonly resource: Resource;
  readonly access: Access;
  readonly actor: Actor;
  readonly asked: AskedRequest;
  readonly parameters: Parameters;
  readonly given: GivenAnswer;
}

/**
 * The contract, sections 1 to 9, in memory. It is written from the contract and the project's docs, and knows nothing of
 * src/. What nobody can foresee, such as a generated key, it takes from the answer and holds it to what it must be.
 */
export class Model {
  readonly state: State;
  private readonly actors: ReadonlyMap<string, ActorSpec>;

  constructor(
    schema: SchemaSpec,
    private readonly place: { readonly database: string; readonly origin: string },
  ) {
    this.state = new State(schema, place.database);
    this.actors = new Map(schema.actors.map((actor) => [actor.name, actor]));
  }

  /** What must be answered to a request. It changes what the request changes. */
  answer(asked: AskedRequest, given: GivenAnswer): Expected {
    const [path = '', query = ''] = asked.path.split(/\?(.*)/s);
    const route = routeOf(this.state, path);
    try {
      const answer = this.perform(asked, given, { route, parameters: new Parameters(query) });
      return this.finish(asked, route, answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { expected } = error;
      return {
        ...expected,
        bodies: asked.method === 'HEAD' ? [] : expected.bodies,
        headers: { ...commonHeaders(route, true), ...expected.headers },
      };
    }
  }

  private finish(asked: AskedRequest, route: Route | undefined, answer: Answer): Expected {
    const { body, status, headers, anyBody } = answer;
    const bodies = body === undefined || asked.method === 'HEAD' ? [] : [body];
    return {
      status,
      bodies,
      ...(anyBody ? { anyBody } : {}),
      headers: { ...commonHeaders(route, body !== undefined || anyBody === true), ...headers },
    };
  }

  private perform(
    asked: AskedRequest,
    given: GivenAnswer,
    { route, parameters }: { readonly route: Route | undefined; readonly parameters: Parameters },
  ): Answer {
    if (!route) throw notFound();
    const actor = this.authenticate(asked.headers.Authorization);
    const { resource } = route;
    const access = admit(resource, actor, asked.method);
    if (!route.allow.includes(asked.method)) throw detailed(405, `Method "${asked.method}" not allowed.`);
    if (isBroken(asked.path)) throw notFound();
    checkAccept(asked.headers.Accept);
    const admitted: Admitted = { route, resource, access, actor, asked, parameters, given };
    if (asked.method === 'OPTIONS') return { status: 200, anyBody: true };
    this.checkParent(admitted);
    return this.operate(admitted);
  }

  private authenticate(header: string | undefined): Actor {
    const match = /^basic(?: +(.*))?$/i.exec(header ?? '');
    if (!match) return null;
    const [name = '', ...password] = Buffer.from(match[1] ?? '', 'base64')
      .toString('utf8')
      .split(':');
    const actor = this.actors.get(name);
    if (actor && password.join(':') === name) return actor;
    throw new Refusal({
      status: 401,
      bodies: [{ detail: 'Invalid username/password.' }],
      headers: { 'www-authenticate': 'Basic realm="api"' },
    });
  }

  private checkParent({ route, actor }: Admitted): void {
    const { parent } = route;
    if (!parent) return;
    const row = parent.key === undefined ? undefined : this.state.row(parent.entity.name, parent.key);
    const visible = visibleRows(parent.entity.options.permissions, {
      entity: parent.entity,
      actor,
      method: 'GET',
    });
    if (!row || !mayName(this.state, { entity: parent.entity, row: row }, visible)) throw notFound();
  }

  private operate(admitted: Admitted): Answer {
    const { route, asked } = admitted;
    const isList = route.kind !== 'object' && route.kind !== 'through-detail';
    if (isList) return asked.method === 'POST' ? this.create(admitted) : this.list(admitted);
    switch (asked.method) {
      case 'PUT':
        return this.change(admitted, 'update');
      case 'PATCH':
        return this.change(admitted, 'partialUpdate');
      case 'DELETE':
        return this.delete(admitted);
      default:
        return this.retrieve(admitted);
    }
  }

  private list(admitted: Admitted): Answer {
    const { resource, access, actor, parameters } = admitted;
    const context: ListContext = { state: this.state, resource, access, actor, parameters };
    refuseErrors(unknownParameters(context, ['search', 'ordering', 'filter', 'fields', 'omit', 'expand']));
    const { rows } = listRows(context);
    const shape = this.shape(admitted, access.readable);
    return {
      status: 200,
      body: rows.map((row) => this.shown(admitted, row, { readable: access.readable, shape })),
    };
  }

  private retrieve(admitted: Admitted): Answer {
    const row = this.object(admitted);
    const { readable } = admitted.access;
    return {
      status: 200,
      body: this.shown(admitted, row, { readable, shape: this.shape(admitted, readable) }),
    };
  }

  private shape(admitted: Admitted, readable: Names): Shape | undefined {
    const { resource, parameters } = admitted;
    const { shape, errors } = shapeOf(this.state, { ...resource, readable }, parameters);
    refuseErrors(errors);
    return shape;
  }

  private shown(
    { resource, actor }: Admitted,
    row: Row,
    { readable, shape }: { readonly readable: Names; readonly shape: Shape | undefined },
  ): Json {
    return represent(resource, row, { state: this.state, readable, actor, shape });
  }

  /** The row of the URL, as far as the caller may see it. */
  private object({ route, resource, access }: Admitted): Row {
    const row = resource.rows().find((each) => each.key === route.key);
    if (!row || (access.rows && !fitsRows(this.state, { entity: resource.entity, row: row }, access.rows)))
      throw notFound();
    return row;
  }

  private writing({ resource, access, actor }: Admitted): WriteContext {
    return { state: this.state, resource, access, actor, limits: limitsOf(this.place.database) };
  }

  private values(admitted: Admitted, kind: WriteKind): Readonly<Record<string, Json>> {
    const { asked } = admitted;
    const body = asObject(readBody(asked.body, asked.headers['Content-Type']));
    const parsed = parseBody(this.writing(admitted), body, kind);
    if ('errors' in parsed) throw invalid(parsed.errors);
    return parsed.values;
  }

  private create(admitted: Admitted): Answer {
    const { resource, given } = admitted;
    const shape = this.shape(admitted, this.readableAfterWrite(admitted));
    const values = this.values(admitted, 'create');
    const writing = this.writing(admitted);
    const row =
      resource.through && !resource.through.isMapped
        ? createPair(writing, resource.through, values)
        : this.insert(writing, values, given);
    return {
      status: 201,
      body: this.shown(admitted, row, { readable: this.readableAfterWrite(admitted), shape }),
      headers: { location: this.locationOf(admitted.route, row) },
    };
  }

  private insert(writing: WriteContext, given: Readonly<Record<string, Json>>, answer: GivenAnswer): Row {
    const { entity, through } = writing.resource;
    const parent = through ? { [through.parentField]: through.parentKey } : {};
    const values = newValues(entity, { ...given, ...parent });
    if (!entity.key.generated) return store(writing, values, undefined);
    const [column] = entity.key.columns;
    if (!column) throw new Error(`${entity.name} has no key`);
    const before = {
      latest: this.state.latest.get(entity.name) ?? 0,
      has: (each: string) => this.state.row(entity.name, each) !== undefined,
    };
    const key = learnKey(answer, column, before);
    const row = store(writing, { ...values, [column.name]: key }, undefined);
    if (typeof key === 'number') this.state.latest.set(entity.name, key);
    return row;
  }

  private locationOf(route: Route, row: Row): string | RegExp | null {
    const { resource } = route;
    const { entity } = resource;
    const served = ['GET', 'PUT', 'PATCH', 'DELETE'];
    const operations = resource.options.operations;
    const hasObject =
      !operations ||
      operations.some((each) => ['retrieve', 'update', 'partialUpdate', 'destroy'].includes(each));
    if (!hasObject && served.length > 0) return null;
    return `${this.place.origin}${route.path}${keyInUrl(entity, row.key)}/`;
  }

  private change(admitted: Admitted, kind: 'update' | 'partialUpdate'): Answer {
    const { resource } = admitted;
    const row = this.object(admitted);
    const shape = this.shape(admitted, this.readableAfterWrite(admitted));
    const values = this.values(admitted, kind);
    const writing = this.writing(admitted);
    const changed =
      resource.through && !resource.through.isMapped
        ? changePair(writing, resource.through, { row, values })
        : store(writing, changedValues(resource.entity, row, values), row);
    const readable = this.readableAfterWrite(admitted);
    return { status: 200, body: this.shown(admitted, changed, { readable, shape }) };
  }

  private delete(admitted: Admitted): Answer {
    const { resource, actor } = admitted;
    const row = this.object(admitted);
    if (resource.through && !resource.through.isMapped) destroyPair(this.state, resource.through, row.key);
    else destroy(this.state, { entity: resource.entity, row }, actor);
    return { status: 204 };
  }

  /** Fields that both the grant of the write and that of GET show, and the key (contract 8). */
  private readableAfterWrite({ resource, access, actor }: Admitted): Names {
    const read = decideAll(resource.options.permissions, { entity: resource.entity, actor, method: 'GET' });
    const names = read.kind === 'grant' ? bothNames(access.readable, read.readable) : access.readable;
    return names === 'all'
      ? 'all'
      : new Set([...names, ...resource.entity.key.columns.map(({ name }) => name)]);
  }
}

/** A path with broken percent escapes is none, whatever is asked of it. */
function isBroken(path: string): boolean {
  try {
    decodeURIComponent(path.split('?')[0] ?? '');
    return false;
  } catch {
    return true;
  }
}

function admit(resource: Resource, actor: Actor, method: string): Access {
  const access = decideAll(resource.options.permissions, { entity: resource.entity, actor, method });
  if (access.kind === 'grant') return access;
  if (access.reason === 'hidden') throw notFound();
  if (actor) throw forbidden();
  throw new Refusal({
    status: 401,
    bodies: [{ detail: 'Authentication credentials were not provided.' }],
    headers: { 'www-authenticate': 'Basic realm="api"' },
  });
}

function checkAccept(accept: string | undefined): void {
  const ranges = (accept ?? '*/*').split(',').map((range) => range.split(';').map((part) => part.trim()));
  const isMet = ranges.some(
    ([type = '', ...parameters]) =>
      ['*/*', 'application/*', 'application/json', ''].includes(type) &&
      !parameters.some((each) => /^q=0(?:\.0*)?$/.test(each)),
  );
  if (!isMet) throw detailed(406, 'Could not satisfy the request Accept header.');
}
