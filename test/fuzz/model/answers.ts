import { hasTrash, rankedText } from '../schema.js';
import type { ActorSpec, EntitySpec, Json, SchemaSpec } from '../schema.js';
import { bothGrants, decideAll, mayName, visibleRows } from './access.js';
import { admit, readableAfterWrite } from './admit.js';
import type { Access, Actor, Names } from './access.js';
import { Aggregates, asksForAggregates, isAggregateName, refuseGroups } from './aggregates.js';
import { asObject, MERGE_PATCH, parseBody, readBody } from './bodies.js';
import type { Parsed, WriteContext, WriteKind } from './bodies.js';
import { refusedChildren, writeChildren, writesChildren } from './nested.js';
import type { ChildChange } from './nested.js';
import { checkLength, planChange, planCreate, planItems, planUpsert, rowsOfKeys } from './bulk.js';
import type { Item } from './bulk.js';
import { checkConditions, Tags } from './conditional.js';
import { fitsRows } from './conditions.js';
import { AmbiguousDeletion, destroy, purge, withDeletion } from './deletions.js';
import { asksForCounts, countParameters, countsOf } from './counts.js';
import { expansionParameters } from './expansion-queries.js';
import { detailed, invalid, notFound, Refusal } from './expected.js';
import type { Expected } from './expected.js';
import { fieldsOf } from './fields.js';
import { commonHeaders } from './headers.js';
import { digestOf, keyOf, KeptAnswers } from './idempotency.js';
import type { Replayed } from './idempotency.js';
import { learnKey, parsedBody, toldVersion } from './learning.js';
import type { StoredRows } from './learning.js';
import {
  listRows,
  narrowedRows,
  refuseErrors,
  refuseUnknownFilters,
  unknownNames,
  unknownParameters,
} from './lists.js';
import type { ListContext } from './lists.js';
import { isRank } from './ordering.js';
import type { OrderTerm } from './ordering.js';
import { Parameters } from './parameters.js';
import { changePair, createPair, destroyPair } from './pairs.js';
import { pageParameters, Pages } from './pages.js';
import { changesKeys, replayedKeys, writeKeys } from './related-keys.js';
import type { KeyChange } from './related-keys.js';
import { represent } from './represent.js';
import type { Resource } from './resources.js';
import { routeOf } from './routes.js';
import type { Route } from './routes.js';
import { wordsOf } from './search.js';
import { shapeOf } from './shape.js';
import type { Shape } from './shape.js';
import { keyInUrl, State } from './state.js';
import type { Row } from './state.js';
import { limitsOf } from './values.js';
import { changedValues, newValues, store } from './writes.js';

export interface ModelRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface GivenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly stored?: StoredRows;
}

/** A response without its headers. */
export interface Answer {
  readonly status: number;
  readonly body?: Json;
  readonly headers?: Expected['headers'];
  readonly anyBody?: boolean;
  readonly links?: Expected['links'];
  readonly ranks?: Expected['ranks'];
}

/** What a body writes with a row. */
interface Below {
  readonly keys: readonly KeyChange[];
  readonly children: readonly ChildChange[];
}

/** An authorized request. */
export interface Admitted {
  readonly route: Route;
  readonly resource: Resource;
  readonly access: Access;
  readonly actor: Actor;
  readonly asked: ModelRequest;
  readonly parameters: Parameters;
  readonly given: GivenAnswer;
}

/**
 * An in-memory implementation of sections 1 to 9 of docs/contract.md. It follows that document and the other documentation, independently of
 * src/. Values that cannot be predicted, such as generated keys, are read from the response and validated.
 */
export class Model {
  readonly state: State;
  readonly pages = new Pages();
  readonly tags = new Tags();
  private readonly kept = new KeptAnswers();
  /** The keys of the rows that the last request has written. */
  private written: readonly string[] = [];
  private readonly actors: ReadonlyMap<string, ActorSpec>;

  constructor(
    schema: SchemaSpec,
    private readonly place: { readonly database: string; readonly origin: string },
  ) {
    this.state = new State(schema, place.database);
    this.actors = new Map(schema.actors.map((actor) => [actor.name, actor]));
  }

  /** The expected response to a request, which is applied to the state. */
  answer(asked: ModelRequest, given: GivenAnswer): Expected {
    const [path = '', query = ''] = asked.path.split(/\?(.*)/s);
    const route = routeOf(this.state, path);
    // A QUERY is the GET whose query string is its body (contract 27.1).
    if (asked.method === 'QUERY' && route?.allow.includes('QUERY') === true)
      return this.answer({ ...asked, method: 'GET', path: `${path}?${asked.body ?? ''}` }, given);
    const restore = this.state.snapshot();
    try {
      const answer = this.perform(asked, given, { route, parameters: new Parameters(query) });
      return this.finish(asked, route, answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      restore();
      const { expected } = error;
      return {
        ...expected,
        bodies: asked.method === 'HEAD' ? [] : expected.bodies,
        headers: { ...commonHeaders(route, true), ...expected.headers },
      };
    }
  }

  /** The entities of which a write may make rows whose keys and versions the response does not show. */
  unseenEntities(asked: ModelRequest): EntitySpec[] {
    const route = routeOf(this.state, asked.path.split('?')[0] ?? '');
    if (!route || !['POST', 'PUT', 'PATCH'].includes(asked.method)) return [];
    const { entity, options } = route.resource;
    const pairs = ({ relations, options: { relatedKeys } }: EntitySpec): EntitySpec[] =>
      relations.flatMap((relation) =>
        relation.kind === 'many-to-many' && relatedKeys?.includes(relation.name) && relation.through
          ? [this.state.entity(relation.through.entity)]
          : [],
      );
    const children = entity.relations
      .filter(({ name }) => options.nested?.[name])
      .map(({ target }) => this.state.entity(target));
    return [...new Set([entity, ...children].flatMap(pairs)), ...children];
  }

  private finish(asked: ModelRequest, route: Route | undefined, answer: Answer): Expected {
    const { body, status, headers, anyBody, links, ranks } = answer;
    const bodies = body === undefined || asked.method === 'HEAD' ? [] : [body];
    return {
      status,
      bodies,
      ...(anyBody ? { anyBody } : {}),
      ...(links ? { links } : {}),
      ...(ranks ? { ranks } : {}),
      headers: { ...commonHeaders(route, body !== undefined || anyBody === true), ...headers },
    };
  }

  private perform(
    asked: ModelRequest,
    given: GivenAnswer,
    { route, parameters }: { readonly route: Route | undefined; readonly parameters: Parameters },
  ): Answer {
    if (!route) throw notFound();
    const actor = this.authenticate(asked.headers.Authorization);
    const { resource, access } = reach(route, { actor, method: asked.method, parameters });
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
    if (route.kind === 'restore' || route.kind === 'purge')
      return this.writeDeletedOnce(admitted, route.kind);
    switch (asked.method) {
      case 'POST':
        return this.post(admitted);
      case 'PUT':
        return this.change(admitted, 'update');
      case 'PATCH':
        return isList ? this.changeMany(admitted) : this.change(admitted, 'partialUpdate');
      case 'DELETE':
        return isList ? this.deleteMany(admitted) : this.delete(admitted);
      default:
        return isList ? this.list(admitted) : this.retrieve(admitted);
    }
  }

  private list(admitted: Admitted): Answer {
    const { resource, access, parameters, route, given } = admitted;
    const { pagination, conditional } = resource.options;
    if (asksForAggregates(resource, parameters)) return this.aggregate(admitted);
    refuseGroups(resource, parameters);
    refuseDeletedRows(admitted);
    const shape = this.shape(admitted, access.readable);
    const isCounted = asksForCounts(resource, parameters);
    const listed = this.listed(admitted);
    const taken = shape?.taken ?? [];
    refuseErrors(unknownParameters(listed, [...this.knownParameters(resource), ...taken]));
    refuseUnknownFilters(listed);
    const { rows, order } = listRows(listed);
    const show = (row: Row): Json =>
      this.shown(admitted, row, { readable: access.readable, shape, isCounted });
    const headers: Expected['headers'] = conditional
      ? { 'cache-control': 'private, no-cache', etag: null }
      : { etag: null };
    if (!pagination) return { status: 200, body: rows.map(show), headers, ...ranksOf(listed, rows, order) };
    const { actor } = admitted;
    const context = { state: this.state, actor, readable: access.readable };
    const url = `${this.place.origin}${route.path}`;
    const answer = this.pages.answer(
      { resource, rows, order, context, parameters, url, given, show },
      pagination,
    );
    return { ...answer, headers: { ...headers, ...answer.headers } };
  }

  /** The groups of the rows of a list (contract 26). */
  private aggregate(admitted: Admitted): Answer {
    const { resource, access, parameters, route, given, actor } = admitted;
    const { pagination, conditional } = resource.options;
    refuseDeletedRows(admitted);
    const others = [...shapeParameters(resource), ...countParameters(resource)];
    const refused = others.find((name) => (parameters.listed(name) ?? '') !== '');
    if (refused !== undefined) throw invalid({ [refused]: ['Not with "aggregate".'] });
    const sight = { state: this.state, actor };
    const aggregates = new Aggregates(sight, { ...resource, readable: access.readable }, parameters);
    const listed = this.listed(admitted);
    const own = parameters.names.filter((name) => isAggregateName(name.replace(/\[\]$/, '')));
    refuseErrors(unknownParameters(listed, [...this.knownParameters(resource), ...own]));
    refuseUnknownFilters(listed);
    const { groups, isOmitted } = aggregates.groupsOf(narrowedRows(listed));
    const headers: Expected['headers'] = {
      etag: null,
      'x-groups-omitted': isOmitted ? 'true' : null,
      ...(conditional ? { 'cache-control': 'private, no-cache' } : {}),
    };
    const show = aggregates.show.bind(aggregates);
    if (!pagination) return { status: 200, body: groups.map(show), headers };
    const asked = [...own, 'ordering'].map((name) => [name, parameters.listed(name) ?? '']);
    const url = `${this.place.origin}${route.path}`;
    const answer = this.pages.answerGroups(
      { rows: groups, parameters, url, given, show },
      JSON.stringify(asked.sort()),
      pagination,
    );
    return { ...answer, headers: { ...headers, ...answer.headers } };
  }

  private listed({ resource, access, actor, parameters }: Admitted): ListContext {
    return { state: this.state, resource, access, actor, parameters };
  }

  private knownParameters({ options }: Resource): string[] {
    return [
      'search',
      'ordering',
      ...deletedParameters({ options }),
      ...(options.filterGroups ? ['filter'] : []),
      ...shapeParameters({ options }),
      ...countParameters({ options }),
      ...pageParameters(options.pagination),
    ];
  }

  private retrieve(admitted: Admitted): Answer {
    const { readable } = admitted.access;
    const row = this.object(admitted);
    const shape = this.shape(admitted, readable);
    const isCounted = asksForCounts(admitted.resource, admitted.parameters);
    refuseDeletedRows(admitted);
    const others = [...deletedParameters(admitted.resource), ...countParameters(admitted.resource)];
    this.refuseUnknown(admitted, [...others, ...(shape?.taken ?? [])]);
    if (!shape && !isCounted) this.checkConditions(admitted, row);
    return {
      status: 200,
      body: this.shown(admitted, row, { readable, shape, isCounted }),
      headers: this.readHeaders(admitted, row, shape !== undefined || isCounted),
    };
  }

  /** The parameters that a strict model rejects for an object. */
  private refuseUnknown({ resource, parameters }: Admitted, others: readonly string[] = []): void {
    if (!resource.options.strict) return;
    const upsert = resource.options.bulk?.upsert ? ['upsert'] : [];
    const known = [...shapeParameters(resource), ...upsert, ...others];
    refuseErrors(unknownNames(parameters, known));
  }

  private readHeaders(admitted: Admitted, row: Row, isShaped: boolean): Expected['headers'] {
    if (!admitted.resource.options.conditional) return { etag: null };
    const etag = isShaped ? null : this.tag(admitted, row);
    return { etag, 'cache-control': 'private, no-cache' };
  }

  private tag(admitted: Admitted, row: Row): string {
    const told = {
      given: admitted.given.headers.etag,
      object: objectOf(admitted, row),
    };
    return this.tags.expected(this.content(admitted, row), told);
  }

  /** The representation of the object by GET for this caller, which the entity tag identifies; undefined if GET is forbidden. */
  private content({ resource, actor }: Admitted, row: Row): string {
    const { entity, deleted } = resource;
    const operation = deleted && 'listDeleted';
    const read = decideAll(resource.options.permissions, { entity, actor, method: 'GET', operation });
    if (read.kind === 'refusal') return 'shown to nobody';
    const { readable } = read;
    return contentOf(resource, represent(resource, row, { state: this.state, actor, readable }));
  }

  private checkConditions(admitted: Admitted, row: Row): void {
    const { conditional } = admitted.resource.options;
    if (!conditional) return;
    const content = this.content(admitted, row);
    const { etag } = admitted.given.headers;
    checkConditions(
      this.tags,
      { ...admitted.asked, given: admitted.given.status },
      {
        content,
        object: objectOf(admitted, row),
        isRequired: conditional.require,
        headers: { 'cache-control': 'private, no-cache', ...(etag === undefined ? {} : { etag: /^"/ }) },
      },
    );
  }

  /** The entity tag of the response to a write: that of GET, if the representation is the same. */
  private writtenHeaders(admitted: Admitted, row: Row, shape: Shape | undefined): Expected['headers'] {
    const { options, entity } = admitted.resource;
    if (!options.conditional || shape) return { etag: null };
    const read = decideAll(options.permissions, { entity, actor: admitted.actor, method: 'GET' });
    // It is not specified whether there is an entity tag if GET is forbidden.
    if (read.kind === 'refusal') return {};
    const written = afterWrite(admitted);
    const shows = (names: Names): string[] =>
      fieldsOf(this.state, admitted.resource, admitted.actor)
        .filter(({ name, isReadable }) => isReadable && (names === 'all' || names.has(name)))
        .map(({ name }) => name);
    const isSame = shows(read.readable).join() === shows(written).join();
    return {
      etag: isSame ? this.tag(admitted, row) : null,
    };
  }

  private shape(admitted: Admitted, readable: Names): Shape | undefined {
    const { resource, parameters, actor } = admitted;
    const { shape, errors } = shapeOf({ state: this.state, actor }, { ...resource, readable }, parameters);
    const { strict, expansionQueries } = resource.options;
    if (shape && expansionQueries)
      shape.taken = expansionParameters(
        { state: this.state, actor },
        { resource, shape, prefix: '' },
        { names: parameters.names, isStrict: Boolean(strict) },
      );
    refuseErrors(errors);
    return shape;
  }

  private shown(
    { resource, actor }: Admitted,
    row: Row,
    {
      readable,
      shape,
      isCounted,
    }: { readonly readable: Names; readonly shape: Shape | undefined; readonly isCounted?: boolean },
  ): Json {
    const body = represent(resource, row, { state: this.state, readable, actor, shape });
    return isCounted
      ? { ...body, counts: countsOf({ state: this.state, actor, readable }, resource, row) }
      : body;
  }

  /** The row of the URL, if the caller may see it. */
  private object({ route, resource, access }: Admitted): Row {
    const row = resource.rows().find((each) => each.key === route.key);
    if (!row || (access.rows && !fitsRows(this.state, { entity: resource.entity, row: row }, access.rows)))
      throw notFound();
    return row;
  }

  private writing(admitted: Admitted): WriteContext {
    const { resource, access, actor, given } = admitted;
    const shown = afterWrite(admitted);
    const limits = limitsOf(this.place.database);
    return { state: this.state, resource, access, shown, actor, limits, stored: given.stored };
  }

  private body({ asked }: Admitted, isMergeable = false): Json {
    const types = ['application/json', ...(isMergeable ? [MERGE_PATCH] : [])];
    return readBody(asked.body, asked.headers['Content-Type'], types);
  }

  private parsed(
    admitted: Admitted,
    body: Json,
    write: { readonly kind: WriteKind; readonly row?: Row; readonly isMerge?: boolean },
  ): Extract<Parsed, { readonly keys: unknown }> {
    const parsed = parseBody(this.writing(admitted), asObject(body), write);
    if ('errors' in parsed) throw invalid(parsed.errors);
    return parsed;
  }

  /** A POST, which is executed once per key if the model has idempotency. */
  private post(admitted: Admitted): Answer {
    const { asked, route, actor, resource } = admitted;
    const shape = this.shape(admitted, afterWrite(admitted));
    const body = this.body(admitted);
    const { bulk } = resource.options;
    if (!Array.isArray(body) || !bulk) asObject(body);
    else if (bulk.operations.includes('create')) checkLength(body as readonly Json[], bulk.max);
    const { idempotency } = resource.options;
    const key = idempotency ? keyOf(asked.headers['Idempotency-Key'], idempotency.require) : undefined;
    if (key === undefined) return this.create(admitted, body, shape);
    const name = `${route.path} ${actor?.name ?? ''} ${key}`;
    const digest = digestOf(asked.path.split('?')[1] ?? '', body);
    const replayed = this.kept.replayed(name, digest, (each, row) =>
      replayedKeys({ state: this.state, actor }, resource, { body: each, key: row }),
    );
    if (replayed)
      return { ...replayed, headers: { ...replayed.headers, ...this.replayedTag(admitted, replayed) } };
    const answer = this.create(admitted, body, shape);
    // A response without a write is not stored (contract 15.7).
    if (!Array.isArray(body) || body.length > 0) this.kept.keep(name, { digest, answer, rows: this.written });
    return { ...answer, headers: { ...answer.headers, 'idempotency-replayed': null } };
  }

  /** The tag of a replay is that of the keys that it shows (contract 24.9). */
  private replayedTag({ resource, given }: Admitted, { body, headers, rows }: Replayed): Expected['headers'] {
    const [key = ''] = rows;
    if (typeof headers?.etag !== 'string' || !resource.options.relatedKeys) return {};
    const told = { given: given.headers.etag, object: objectOf({ resource }, { key }) };
    return { etag: this.tags.expected(contentOf(resource, body ?? null), told) };
  }

  private create(admitted: Admitted, body: Json, shape: Shape | undefined): Answer {
    const { resource, parameters, given } = admitted;
    const { bulk } = resource.options;
    if (bulk?.upsert && parameters.last('upsert') === 'true') return this.upsert(admitted, body, shape);
    if (Array.isArray(body) && bulk?.operations.includes('create')) {
      const items = planItems(this.writing(admitted), body as readonly Json[], planCreate);
      return {
        status: 201,
        body: this.writeItems(admitted, items, shape),
        headers: { location: null, etag: null },
      };
    }
    const { values, keys, children } = this.parsed(admitted, body, { kind: 'create' });
    const writing = this.writing(admitted);
    const row =
      resource.through && !resource.through.isMapped
        ? createPair(writing, resource.through, values)
        : this.insert(writing, values, given);
    const written = this.writeBelow(writing, row, { keys, children });
    return this.created(admitted, written, shape);
  }

  private created(admitted: Admitted, row: Row, shape: Shape | undefined): Answer {
    this.written = [row.key];
    return {
      status: 201,
      body: this.shown(admitted, row, { readable: afterWrite(admitted), shape }),
      headers: {
        location: this.locationOf(admitted.route, row),
        ...this.writtenHeaders(admitted, row, shape),
      },
    };
  }

  private upsert(admitted: Admitted, body: Json, shape: Shape | undefined): Answer {
    const isList = Array.isArray(body);
    const list = isList ? (body as readonly Json[]) : [body];
    const named = new Set<string>();
    const items = planItems(this.writing(admitted), list, (context, each) =>
      planUpsert(context, each, named),
    );
    const written = this.writeItems(admitted, items, shape);
    const isNew = items.some(({ kind }) => kind === 'create');
    const answered = isList ? written : (written[0] ?? null);
    return { status: isNew ? 201 : 200, body: answered, headers: { etag: null } };
  }

  /** Writes all objects or none, with the errors of the first one that the database rejects. */
  private writeItems(admitted: Admitted, items: readonly Item[], shape: Shape | undefined): Json[] {
    const restore = this.state.snapshot();
    const told = parsedBody(admitted.given);
    const answers = Array.isArray(told) ? (told as readonly Json[]) : [told ?? null];
    const rows: Row[] = [];
    for (const [index, item] of items.entries()) {
      try {
        rows.push(this.writeItem(admitted, item, answers[index] ?? null));
      } catch (error) {
        restore();
        if (!(error instanceof Refusal) || error.expected.status !== 400) throw error;
        const at = (errors: Json): Json => items.map((_, each) => (each === index ? errors : {}));
        throw new Refusal({ ...error.expected, bodies: error.expected.bodies.map(at) });
      }
    }
    const readable = afterWrite(admitted);
    this.written = rows.map(({ key }) => key);
    return rows.map((row) =>
      this.shown(admitted, admitted.resource.rows().find((each) => each.key === row.key) ?? row, {
        readable,
        shape,
      }),
    );
  }

  private writeItem(admitted: Admitted, { values, keys, children, row }: Item, told: Json): Row {
    const writing = this.writing(admitted);
    const { resource } = admitted;
    const { through, entity } = resource;
    if (through && !through.isMapped)
      return row ? changePair(writing, through, { row, values }) : createPair(writing, through, values);
    const written = row
      ? this.changeRow(
          writing,
          { row: this.state.row(entity.name, row.key) ?? row, told, keys, children },
          values,
        )
      : this.insert(writing, values, { status: 201, headers: {}, text: JSON.stringify(told) });
    return this.writeBelow(writing, written, { keys, children });
  }

  /** Writes the pairs and the children of a row, behind it. */
  private writeBelow(writing: WriteContext, row: Row, { keys, children }: Below): Row {
    const { through, entity } = writing.resource;
    if (through && !through.isMapped) return row;
    writeKeys(writing, row, keys);
    writeChildren(writing, row, children);
    return this.state.row(entity.name, row.key) ?? row;
  }

  /** Changes a row, without its pairs and children. */
  private changeRow(
    writing: WriteContext,
    { row, told, keys, children }: Below & { readonly row: Row; readonly told: Json | undefined },
    values: Readonly<Record<string, Json>>,
  ): Row {
    const isTouched = changesKeys(writing, row, keys) || writesChildren(children);
    const version = toldVersion(told, writing.resource.entity);
    return store(writing, changedValues(writing, { row, told: version, isTouched }, values), row);
  }

  /** The objects that a bulk PATCH or DELETE selects. */
  private named(admitted: Admitted, checkBody?: () => void): Row[] {
    const { parameters, resource } = admitted;
    const keys = parameters.last('keys');
    const others = parameters.names.filter(
      (name) => !['keys', 'fields', 'omit', 'expand', 'ordering'].includes(name) && !name.includes('.'),
    );
    const unknown = others.filter((name) => ['nothing', 'x__gt', 'search__x'].includes(name));
    if (unknown.length > 0)
      throw invalid(Object.fromEntries(unknown.map((name) => [name, ['Unknown parameter.']])));
    if (keys === undefined && others.length === 0)
      throw invalid({ non_field_errors: ['Name the objects: by "keys", or by filters.'] });
    const listed = listRows(this.listed(admitted)).rows;
    const rows = keys === undefined ? undefined : rowsOfKeys(this.writing(admitted), keys, checkBody);
    const found = rows ? rows.filter((row) => listed.some((each) => each.key === row.key)) : listed;
    const max = resource.options.bulk?.max ?? 100;
    if (found.length > max) throw new Refusal({ status: 400, bodies: [], anyBody: true });
    return found;
  }

  private changeMany(admitted: Admitted): Answer {
    const shape = this.shape(admitted, afterWrite(admitted));
    const writing = this.writing(admitted);
    const body = this.body(admitted);
    if (Array.isArray(body)) {
      // Objects with keys in the body are not selected by parameters (contract 14.4).
      refuseErrors(
        unknownNames(admitted.parameters, [...shapeParameters(admitted.resource), ...(shape?.taken ?? [])]),
      );
      const items = planItems(writing, body as readonly Json[], planChange);
      return { status: 200, body: this.writeItems(admitted, items, shape), headers: { etag: null } };
    }
    asObject(body);
    const refuseChildren = (): void => {
      const message = 'Objects are not written by a change of several objects.';
      const refused = refusedChildren(admitted.resource.entity, asObject(body), message);
      if (Object.keys(refused).length > 0) throw invalid(refused);
    };
    const change = (rows: readonly Row[]): Answer => {
      refuseChildren();
      if (rows.length === 0) this.parsed(admitted, body, { kind: 'partialUpdate' });
      const items = rows.map((row): Item => {
        const parsed = this.parsed(admitted, body, { kind: 'partialUpdate', row });
        return { kind: 'partialUpdate', ...parsed, row };
      });
      try {
        return { status: 200, body: this.writeItems(admitted, items, shape), headers: { etag: null } };
      } catch (error) {
        throw error instanceof Refusal ? ofOneBody(error) : error;
      }
    };
    return change(this.named(admitted, refuseChildren));
  }

  private deleteMany(admitted: Admitted): Answer {
    const { resource, actor } = admitted;
    const restore = this.state.snapshot();
    for (const row of this.named(admitted)) {
      try {
        if (resource.through && !resource.through.isMapped)
          destroyPair(this.state, resource.through, row.key);
        else if (!this.state.row(resource.entity.name, row.key)) throw new AmbiguousDeletion();
        else destroy(this.state, { entity: resource.entity, row }, actor);
      } catch (error) {
        restore();
        throw error;
      }
    }
    return { status: 204 };
  }

  private insert(writing: WriteContext, given: Readonly<Record<string, Json>>, answer: GivenAnswer): Row {
    const { entity, through } = writing.resource;
    const parent = through ? { [through.parentField]: through.parentKey } : {};
    const values = newValues(this.state, entity, { ...given, ...parent });
    if (!entity.key.generated) return store(writing, values, undefined);
    const [column] = entity.key.columns;
    if (!column) throw new Error(`${entity.name} has no key`);
    const before = {
      latest: this.state.latest.get(entity.name) ?? 0,
      has: (each: string) => this.state.anyRow(entity.name, each) !== undefined,
    };
    const key = learnKey(answer, column, before);
    const row = store(writing, { ...values, [column.name]: key }, undefined);
    if (typeof key === 'number') this.state.latest.set(entity.name, Math.max(key, before.latest));
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
    const { resource, given, asked } = admitted;
    const { through } = resource;
    const row = this.object(admitted);
    this.checkConditions(admitted, row);
    const shape = this.shape(admitted, afterWrite(admitted));
    this.refuseUnknown(admitted, shape?.taken);
    const isMergeable = kind === 'partialUpdate' && resource.options.mergePatch === true;
    const body = this.body(admitted, isMergeable);
    const isMerge = isMergeable && asked.headers['Content-Type'] === MERGE_PATCH;
    const { values, keys, children } = this.parsed(admitted, body, { kind, row, isMerge });
    const writing = this.writing(admitted);
    const changed =
      through && !through.isMapped
        ? changePair(writing, through, { row, values })
        : this.changeRow(writing, { row, told: parsedBody(given), keys, children }, values);
    const written = this.writeBelow(writing, changed, { keys, children });
    const readable = afterWrite(admitted);
    return {
      status: 200,
      body: this.shown(admitted, written, { readable, shape }),
      headers: this.writtenHeaders(admitted, written, shape),
    };
  }

  private delete(admitted: Admitted): Answer {
    const { resource, actor } = admitted;
    const row = this.object(admitted);
    this.checkConditions(admitted, row);
    this.refuseUnknown(admitted);
    if (resource.through && !resource.through.isMapped) destroyPair(this.state, resource.through, row.key);
    else destroy(this.state, { entity: resource.entity, row }, actor);
    return { status: 204 };
  }

  /** The key precedes the object, and errors of the query precede the key (contract 15.8). */
  private writeDeletedOnce(admitted: Admitted, kind: 'restore' | 'purge'): Answer {
    const { resource, route, asked, actor } = admitted;
    const key = resource.options.idempotency ? keyOf(asked.headers['Idempotency-Key'], false) : undefined;
    if (key === undefined || this.hasQueryError(admitted, kind)) return this.writeDeleted(admitted, kind);
    const name = `${route.path}${route.key ?? ''} ${kind} ${actor?.name ?? ''} ${key}`;
    const digest = digestOf(asked.path.split('?')[1] ?? '', null);
    const replayed = this.kept.replayed(name, digest, (each, row) =>
      replayedKeys({ state: this.state, actor }, resource, { body: each, key: row }),
    );
    if (replayed) return replayed;
    const answer = this.writeDeleted(admitted, kind);
    this.kept.keep(name, { digest, answer, rows: [route.key ?? ''] });
    return { ...answer, headers: { ...answer.headers, 'idempotency-replayed': null } };
  }

  private hasQueryError(admitted: Admitted, kind: 'restore' | 'purge'): boolean {
    try {
      const shape = kind === 'restore' ? this.shape(admitted, afterWrite(admitted)) : undefined;
      this.refuseUnknown(admitted, shape?.taken);
      return false;
    } catch {
      return true;
    }
  }

  /** Restores a deleted object, or deletes it for good (contract 23.6, contract 23.7). */
  private writeDeleted(admitted: Admitted, kind: 'restore' | 'purge'): Answer {
    const { resource, actor } = admitted;
    const { entity } = resource;
    const withDeleted = resource.inTrash?.('with');
    const trash = resource.inTrash?.('only');
    if (!withDeleted || !trash) throw new Error(`${entity.name} has no trash`);
    const row = this.object({ ...admitted, resource: withDeleted });
    if (!this.state.isDeleted(entity.name, row)) throw detailed(409, 'This object is not deleted.');
    this.checkConditions({ ...admitted, resource: trash }, row);
    if (kind === 'purge') {
      this.refuseUnknown(admitted);
      purge(this.state, { entity, row }, actor);
      return { status: 204 };
    }
    const readable = afterWrite(admitted);
    const shape = this.shape(admitted, readable);
    this.refuseUnknown(admitted, shape?.taken);
    const restored = withDeletion({ entity, row }, null);
    this.state.put(entity.name, restored);
    return {
      status: 200,
      body: this.shown(admitted, restored, { readable, shape }),
      headers: this.writtenHeaders(admitted, restored, shape),
    };
  }
}

/** A path with invalid percent-encoding does not exist, for any method. */
function isBroken(path: string): boolean {
  try {
    decodeURIComponent(path.split('?')[0] ?? '');
    return false;
  } catch {
    return true;
  }
}

/** The errors of one object if all objects have the same body. */
function ofOneBody({ expected }: Refusal): Refusal {
  const bodies = expected.bodies.map((each) =>
    Array.isArray(each) ? ((each as Json[]).find((errors) => JSON.stringify(errors) !== '{}') ?? {}) : each,
  );
  return new Refusal({ ...expected, bodies });
}

function shapeParameters({ options }: Pick<Resource, 'options'>): string[] {
  return [...(options.shape ? ['fields', 'omit'] : []), ...(options.expandable ? ['expand'] : [])];
}

/** Entity tags are unique for one object only (RFC 9110, 8.8.3). */
function objectOf({ resource }: Pick<Admitted, 'resource'>, row: Pick<Row, 'key'>): string {
  return `${resource.entity.name}/${row.key}${resource.through ? `@${resource.through.parentKey}` : ''}`;
}

/** What is known of the order by rank; nothing without it. */
function ranksOf(
  { resource: { entity, options }, parameters }: ListContext,
  rows: readonly Row[],
  order: readonly OrderTerm[],
): Pick<Answer, 'ranks'> {
  const ranked = rankedText({ columns: entity.columns, options });
  const term = order.find(isRank);
  if (!ranked || !term) return {};
  const texts = rows.map(({ values }) => String(values[ranked.name]));
  const [word, ...more] = wordsOf(parameters.last('search') ?? '');
  const counts =
    more.length > 0 ? [] : texts.map((text) => wordsOf(text).filter((each) => each === word).length);
  return { ranks: { texts, counts, isBestFirst: term.isDescending } };
}

/** What an entity tag identifies. */
function contentOf({ entity, through }: Resource, body: Json): string {
  return `${entity.name} ${through?.parentKey ?? ''} ${JSON.stringify(body)}`;
}

/** The query parameter that shows deleted objects. */
function deletedParameters({ options }: Pick<Resource, 'options'>): string[] {
  return hasTrash({ options }, 'listDeleted') ? ['deleted'] : [];
}

function refuseDeletedRows({ resource, parameters }: Admitted): void {
  const [name] = deletedParameters(resource);
  const given = (name && parameters.last(name)) ?? '';
  if (!['', 'only', 'with'].includes(given))
    throw invalid({ deleted: [`"${given}" is not a valid choice.`] });
}

function afterWrite({ resource, access, actor }: Admitted): Names {
  return readableAfterWrite(resource, access, actor);
}

interface Caller {
  readonly actor: Actor;
  readonly method: string;
  readonly parameters: Parameters;
}

/** What a request is about, and may do: reads may show deleted objects, by a right of their own (contract 23.4). */
function reach(
  { resource, kind }: Route,
  { actor, method, parameters }: Caller,
): Pick<Admitted, 'resource' | 'access'> {
  const isRead = method === 'GET' || method === 'HEAD';
  if (kind === 'restore' || kind === 'purge') {
    if (method === 'OPTIONS') return { resource, access: admit(resource, actor, method) };
    const asked = isRead ? 'GET' : { restore: 'PATCH', purge: 'DELETE' }[kind];
    return { resource, access: admit(resource, actor, asked, isRead ? 'listDeleted' : kind) };
  }
  if (!isRead) return { resource, access: admit(resource, actor, method) };
  const rows = deletedParameters(resource).length > 0 ? parameters.last('deleted') : undefined;
  const isList = kind !== 'object' && kind !== 'through-detail';
  const operation = isList && asksForAggregates(resource, parameters) ? 'aggregate' : undefined;
  if ((rows !== 'only' && rows !== 'with') || !resource.inTrash)
    return { resource, access: admit(resource, actor, 'GET', operation) };
  const access = admit(resource, actor, 'GET', 'listDeleted');
  return {
    resource: resource.inTrash(rows),
    access: rows === 'with' ? bothGrants(access, admit(resource, actor, 'GET', operation)) : access,
  };
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
