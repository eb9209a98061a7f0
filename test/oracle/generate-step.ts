import { METHODS } from './api-document.js';
import type { ApiDocument, ApiOperation } from './api-document.js';
import { breakBody } from './break-value.js';
import { breakQuery, makeQuery } from './make-query.js';
import type { Query } from './make-query.js';
import { makeValue } from './make-value.js';
import type { Making } from './make-value.js';
import { bodyToPutBack } from './put-back.js';
import type { Random } from './random.js';
import type { OracleActor } from './send-step.js';
import type { KnownObject, State } from './state.js';
import { objectsOf, resolveBody, token } from './step.js';
import type { Intent, Step } from './step.js';

/** The fraction of requests that violate the document deliberately. */
const BROKEN = 0.35;
/** The number of existing objects from which on a long run deletes as many as it creates, so that lists stay short. */
const CROWDED = 300;

/** The target of a step: its path with tokens, and the object. */
interface Place {
  readonly path: string;
  readonly target?: KnownObject;
  /** Whether the key is invalid or does not exist. */
  readonly lost: boolean;
}

/** Generates the next request from the document and earlier responses, reproducibly for a seed. */
export class StepGenerator {
  constructor(
    private readonly document: ApiDocument,
    private readonly state: State,
    private readonly rest: { readonly random: Random; readonly actors: readonly OracleActor[] },
  ) {}

  next(number: number): Step {
    const { random } = this.rest;
    let operation = this.chooseOperation();
    let place = this.placeOf(operation);
    // Most requests use existing objects.
    for (let tries = 0; place.lost && tries < 10 && random.chance(0.95); tries++) {
      operation = this.chooseOperation();
      place = this.placeOf(operation);
    }
    const actor = random.pick(this.rest.actors).name;
    const base = {
      number,
      operation: operation.id,
      method: operation.method,
      path: place.path,
      actor,
      ...targetOf(place),
    };
    if (place.lost)
      return { ...this.fitting(operation, base), query: [], intent: { kind: 'no-such-object' } };
    const broken = random.chance(BROKEN) ? this.broken(operation, base) : undefined;
    return broken ?? this.special(operation, base) ?? this.fitting(operation, base);
  }

  /** A GET of the object that a write has returned. */
  readBack(number: number, object: KnownObject): Step {
    return {
      number,
      operation: `GET ${object.detail}`,
      method: 'GET',
      path: token(object.id, 'path'),
      query: [],
      headers: {},
      actor: object.actor,
      target: object.id,
      intent: object.alive === 'no' ? { kind: 'no-such-object' } : { kind: 'fits' },
    };
  }

  /** Chooses a method: POST more often while there are few objects, DELETE while there are many. */
  private chooseOperation(): ApiOperation {
    const { random } = this.rest;
    const living = this.state.living.length;
    const method = random.chance(living < 40 ? 0.5 : 0.25) ? 'POST' : random.pick(METHODS);
    if (living > CROWDED && random.chance(0.5)) return this.operationOf('DELETE');
    const deletes = method === 'DELETE' && random.chance(0.5);
    return this.operationOf(deletes ? 'PATCH' : method);
  }

  private operationOf(method: string): ApiOperation {
    const { operations } = this.document;
    const found = operations.filter((each) => each.method === method);
    return this.rest.random.pick(found.length > 0 ? found : operations);
  }

  private placeOf(operation: ApiOperation): Place {
    const { path } = operation;
    const { random } = this.rest;
    if (!path.includes('{'))
      return { path: `${path}${random.chance(0.9) && path !== '/' ? '/' : ''}`, lost: false };
    const whole = random.chance(0.08) ? undefined : this.objectAt(path);
    if (whole) return { path: token(whole.id, 'path'), target: whole, lost: whole.alive === 'no' };
    const parent = path.includes('{childId}')
      ? undefined
      : this.objectAt(path.slice(0, path.indexOf('{pk}') + 4));
    const rest = path.slice(path.indexOf('{pk}') + 4);
    if (parent && rest !== '')
      return {
        path: `${token(parent.id, 'path')}${rest.slice(1)}/`,
        target: parent,
        lost: parent.alive === 'no',
      };
    return { path: `${this.strangePath(operation)}/`, lost: true };
  }

  /** An existing object, sometimes a deleted one. */
  private objectAt(detail: string): KnownObject | undefined {
    const all = [...this.state.objects.values()].filter((each) => each.detail === detail);
    const dead = this.rest.random.chance(0.05);
    const found = all.filter(({ alive }) => (alive === 'no') === dead);
    return found.length === 0 ? undefined : this.rest.random.pick(found.slice(-20));
  }

  private strangePath({ path, parameters }: ApiOperation): string {
    return path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const schema = parameters.find((each) => each.name === name && each.in === 'path')?.schema ?? {};
      const isText = schema.type === 'string' && schema.format === undefined;
      if (isText) return `no${this.rest.random.below(1_000_000)}`;
      const wrong = ['987654321', 'abc', '1.5', '-1', '00', '%00', '1%2F2', this.rest.random.uuid()];
      const key = this.rest.random.pick(wrong);
      return schema.format === 'uuid' || key !== '00' ? key : '987654322';
    });
  }

  private fitting(operation: ApiOperation, base: Base): Step {
    const making = this.making;
    const schema = operation.body?.schema;
    const body = schema && makeValue(schema, making);
    return {
      ...base,
      query: this.queryFor(operation, body),
      headers: this.headersFor(operation, base.target),
      ...(body === undefined ? {} : { body }),
      intent: { kind: 'fits' },
    };
  }

  /** A list of changes contains the keys of its objects; one change or a deletion applies to the objects in the parameters. */
  private queryFor(operation: ApiOperation, body: unknown): Query {
    const query = makeQuery(operation, this.making);
    const keys = operation.parameters.find(({ name, in: place }) => name === 'keys' && place === 'query');
    if (!keys) return query;
    if (Array.isArray(body)) return [];
    const known = this.state.of(operation.path).slice(-10);
    const chosen = known.filter(() => this.rest.random.chance(0.2));
    return chosen.length === 0 ? query : [['keys', chosen.map(({ id }) => token(id, 'key')).join(',')]];
  }

  private headersFor(operation: ApiOperation, target: string | undefined): Readonly<Record<string, string>> {
    const { random } = this.rest;
    const headers: Record<string, string> = {};
    const object = target === undefined ? undefined : this.state.objects.get(target);
    for (const { name, in: place, required } of operation.parameters) {
      if (place !== 'header') continue;
      if (name === 'Idempotency-Key' && (required || random.chance(0.4))) headers[name] = random.uuid();
      if (
        (name === 'If-Match' || name === 'If-None-Match') &&
        object?.etag !== undefined &&
        random.chance(0.6)
      )
        headers[name] = random.pick([token(object.id, 'etag'), token(object.id, 'etag'), '"other"', '*']);
    }
    return headers;
  }

  /** Requests that depend on an earlier one. */
  private special(operation: ApiOperation, base: Base): Step | undefined {
    return (
      this.repeated(operation, base) ?? this.inKnownState(operation, base) ?? this.putBack(operation, base)
    );
  }

  private repeated(operation: ApiOperation, { number }: Base): Step | undefined {
    const { random } = this.rest;
    const keyed = this.state.keyed.filter(
      ({ step, answer }) =>
        step.operation === operation.id &&
        answer.status === 201 &&
        [...objectsOf(step)].every((id) => this.state.objects.has(id)),
    );
    if (keyed.length === 0 || !random.chance(0.25)) return undefined;
    const { step } = random.pick(keyed);
    if (random.chance(0.6)) return { ...step, number, intent: { kind: 'repeated', step: step.number } };
    const body = makeValue(operation.body?.schema ?? {}, this.making);
    if (JSON.stringify(body) === JSON.stringify(step.body)) return undefined;
    return { ...step, number, body, intent: { kind: 'key-reused', step: step.number } };
  }

  /** The object that was read, sometimes with one changed field. */
  private putBack(operation: ApiOperation, base: Base): Step | undefined {
    const read = base.target === undefined ? undefined : this.state.objects.get(base.target)?.body;
    const schema = operation.body?.schema;
    if (operation.method !== 'PUT' || !schema || !this.rest.random.chance(0.5)) return undefined;
    const fitting = this.fitting(operation, base);
    const body = bodyToPutBack(schema, { read, fitting: fitting.body, ...this.making });
    return body && { ...fitting, body };
  }

  private inKnownState(operation: ApiOperation, base: Base): Step | undefined {
    const object = base.target === undefined ? undefined : this.state.objects.get(base.target);
    const isConditional = operation.parameters.some(({ name }) => name === 'If-Match');
    if (!isConditional || object?.etag === undefined) return undefined;
    if (object.writes !== this.state.writes || object.actor !== base.actor) return undefined;
    return {
      ...this.fitting(operation, base),
      headers: { 'If-Match': token(object.id, 'etag') },
      intent: { kind: 'known-state' },
    };
  }

  private broken(operation: ApiOperation, base: Base): Step | undefined {
    const { random } = this.rest;
    const fitting = this.fitting(operation, base);
    const candidates: (() => Step | undefined)[] = [
      () => this.brokenBody(operation, fitting),
      () => this.brokenBody(operation, fitting),
      () => this.brokenBody(operation, fitting),
      () => this.brokenBody(operation, fitting),
      () => this.brokenQuery(operation, fitting),
      () => ({
        ...fitting,
        // A parameter may select the format, and takes precedence.
        query: [],
        // Not text/html, which an API with the browsable page answers.
        headers: { ...fitting.headers, accept: 'text/plain' },
        intent: { kind: 'not-acceptable' },
      }),
      () => this.notJson(operation, fitting),
      () => this.otherMethod(operation, fitting),
      () => this.anonymous(operation, fitting),
    ];
    for (const candidate of random.shuffled(candidates)) {
      const step = candidate();
      if (step) return step;
    }
    return undefined;
  }

  private brokenBody(operation: ApiOperation, fitting: Step): Step | undefined {
    const schema = operation.body?.schema;
    if (!schema || Object.keys(schema).length === 0) return undefined;
    const broken = breakBody(schema, fitting.body, this.making);
    return broken && { ...fitting, body: broken.body, intent: { kind: 'broken-body', field: broken.field } };
  }

  private brokenQuery(operation: ApiOperation, fitting: Step): Step | undefined {
    const wrong = breakQuery(operation, this.making);
    if (!wrong) return undefined;
    const [parameter] = wrong;
    const query = [...fitting.query.filter(([name]) => name !== parameter), wrong];
    return { ...fitting, query, intent: { kind: 'broken-query', parameter } };
  }

  private notJson(operation: ApiOperation, { body: _, ...fitting }: Step): Step | undefined {
    if (!operation.body) return undefined;
    if (this.rest.random.chance(0.5))
      return {
        ...fitting,
        raw: 'a=1',
        headers: { ...fitting.headers, 'content-type': 'text/plain' },
        intent: { kind: 'not-json' },
      };
    return {
      ...fitting,
      raw: this.rest.random.pick(['{', '{"a":}', '[1,', '{"a":1}}']),
      intent: { kind: 'malformed' },
    };
  }

  private otherMethod({ path }: ApiOperation, { body: _, ...fitting }: Step): Step | undefined {
    const others = METHODS.filter((method) => !this.document.methodsOf(path).includes(method));
    if (others.length === 0) return undefined;
    const method = this.rest.random.pick(others);
    const intent: Intent = { kind: 'other-method' };
    return { ...fitting, query: [], headers: {}, method, operation: `${method} ${path}`, intent };
  }

  private anonymous({ security }: ApiOperation, fitting: Step): Step | undefined {
    if (!security || security.length === 0 || security.some((schemes) => schemes.length === 0))
      return undefined;
    return { ...fitting, actor: '', intent: { kind: 'no-credentials' } };
  }

  private get making(): Making {
    const { random } = this.rest;
    return {
      random,
      document: this.document,
      keyFor: (name) => this.keyFor(name),
      resolve: (value) => resolveBody(value, this.state.known),
    };
  }

  /** A field with the name of a model, or for which a key was rejected or accepted before, gets keys of objects. */
  private keyFor(name: string): unknown {
    const { random } = this.rest;
    const learned = this.state.references.get(name);
    const named = this.state.living.filter(({ collection }) => collection.endsWith(`/${name.toLowerCase()}`));
    if (!learned && named.length === 0) return undefined;
    const fit = this.state.living.filter(({ collection }) => learned?.has(collection));
    const all =
      [fit, named, this.state.living].find((each) => each.length > 0 && random.chance(0.9)) ?? named;
    return all.length === 0 || random.chance(0.05) ? undefined : token(random.pick(all.slice(-30)).id, 'key');
  }
}

type Base = Pick<Step, 'number' | 'operation' | 'method' | 'path' | 'actor' | 'target'>;

function targetOf({ target }: Place): { readonly target?: string } {
  return target ? { target: target.id } : {};
}
