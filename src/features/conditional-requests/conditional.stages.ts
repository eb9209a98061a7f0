import { validatorColumnsOf, validatorValuesIn } from '../../core/contracts/conditional.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { NotFound } from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import { conjunction, ALWAYS } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Precondition } from '../../core/query/plan.js';
import type { Operation } from '../../core/schema/operation.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Row } from '../../core/contracts/serializer.js';
import { basePathOf, represent } from '../../request/represent-row.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import type { RestResponse } from '../../request/response/rest-response.js';
import { restrictFields } from '../permissions/restrict-fields.js';
import { hasDefaultSerializer, jsonOutput } from '../serialization/json-output.js';
import { Preconditions } from './check-precondition.js';
import { cacheControlFor, isNotModified } from './is-not-modified.js';
import { planPrecondition } from './plan-precondition.js';
import { etagFor, etagWithBody, lastModified, quoteTag, showTheSame } from './validators.js';
import type { ObjectView, Validators } from './validators.js';
import { objectCondition, planRetrieve } from '../../request/plan/plan-read.js';

interface ValidatorSource {
  readonly adapter: DataAdapter;
  readonly validatorValues: readonly Json[];
  readonly content: () => string;
}

const CHANGING_OPERATIONS: readonly Operation[] = ['update', 'partialUpdate', 'destroy'];

const WRITE_CONDITIONS = ['if-match', 'if-unmodified-since'];

/**
 * Reads `If-Match`, `If-None-Match` and `If-Unmodified-Since` of a request that changes one object of a model with entity
 * tags.
 */
export function readPrecondition(
  resource: Resource,
  operation: Operation,
  adapter: DataAdapter,
): readonly Stage[] {
  if (!resource.conditional || !CHANGING_OPERATIONS.includes(operation)) return [];
  return [
    async (context) => {
      context.precondition = await preconditionOf(context, adapter);
    },
  ];
}

/** Checks the precondition before a method of the application that replaces a write. Throws 404, 412, 428. */
export function assertPrecondition(adapter: DataAdapter): Stage {
  const preconditions = new Preconditions(adapter);
  return (context) =>
    context.precondition ? preconditions.assertMet(context, objectCondition(context)) : undefined;
}

/** Whether the request has a condition on the state of one object. */
export function hasWriteCondition(context: RestContext): boolean {
  return (
    context.route.resource.conditional !== undefined &&
    WRITE_CONDITIONS.some((name) => context.header(name) !== undefined)
  );
}

/** Adds `ETag` and `Last-Modified` of the row that the result represents, where GET would represent it the same. */
export function addValidators(adapter: DataAdapter): Stage {
  return (context) => {
    const { result } = context;
    const row = result?.row;
    // A field selection, or another format than JSON, has no entity tag of its own.
    if (!row || context.shape || context.renderer) return undefined;
    return mapMaybe(viewToRead(context), (view) => {
      if (!showTheSame(context.resource, view.resource)) return;
      const { value } = result;
      const validators = validatorsOf(context, {
        adapter,
        validatorValues: validatorValuesIn(row, validatorColumnsOf(context.resource)),
        content: () => JSON.stringify(value),
      });
      context.result = { ...result, headers: { ...result.headers, ...validators } };
    });
  };
}

/** One object as JSON that the database writes, with its validators, of the same state of the row. Throws 404. */
export function respondWithValidatedJson(adapter: DataAdapter): Stage {
  return async (context) => {
    const plan = { ...planRetrieve(context), validators: validatorColumnsOf(context.resource) };
    const object = await adapter.read(plan, jsonOutput(context));
    if (!object) throw new NotFound();
    const { text, validatorValues } = object;
    context.response = {
      status: 200,
      headers: validatorsOf(context, { adapter, validatorValues, content: () => text }),
      body: { kind: 'text', text },
    };
  };
}

/** Entity tags are those of the representation that the caller reads, whatever the response to the write contains. */
async function preconditionOf(context: RestContext, adapter: DataAdapter): Promise<Precondition | undefined> {
  const { resource, rows } = await viewToRead(context);
  const read = context.fork({ resource });
  const view = objectView(read, adapter);
  const state = (row: Row): string =>
    etagFor(view, validatorValuesIn(row, validatorColumnsOf(resource)), () =>
      JSON.stringify(represent(row, read)),
    );
  const asked = planPrecondition((name) => context.header(name), { view, stateOf: state }, Date.now());
  const compares = asked && (asked.where.kind !== 'always' || asked.expected !== undefined);
  return compares === true ? { ...asked, where: conjunction([asked.where, rows]) } : asked;
}

function validatorsOf(
  context: RestContext,
  { adapter, validatorValues, content }: ValidatorSource,
): Validators {
  const { resource } = context;
  const isDated = hasDefaultSerializer(context) && adapter.readsAsStored(resource);
  return {
    ETag: quoteTag(etagFor(objectView(context, adapter), validatorValues, content)),
    ...(isDated ? lastModified(resource, validatorValues, Date.now()) : {}),
  };
}

/** Evaluated for each request: a subscriber that changes what is read may have been added. */
function objectView(context: RestContext, adapter: DataAdapter): ObjectView {
  const { resource } = context;
  const versioned =
    validatorColumnsOf(resource).version !== undefined &&
    hasDefaultSerializer(context) &&
    adapter.readsAsStored(resource);
  return { resource, basePath: basePathOf(context), versioned };
}

/**
 * The representation of the object by GET; for a caller who may not GET it, that of responses to writes. If GET has more
 * fields, it has them for its own rows only: for others, a write must not confirm a guess at their values.
 */
async function viewToRead({
  route,
  resource,
  access,
  isReading,
}: RestContext): Promise<{ readonly resource: Resource; readonly rows: Condition }> {
  const read = isReading ? undefined : await access.tryAuthorize(route.resource, 'GET');
  const view = read && restrictFields(route.resource, read);
  return !view || showTheSame(resource, view)
    ? { resource, rows: ALWAYS }
    : { resource: view, rows: read.rows };
}

/** Sets `Cache-Control`, and responds 304 where the client has the current state. Throws 412. */
export function applyCacheHeaders(resource: Resource): readonly Stage[] {
  if (!resource.conditional && !resource.cacheControl) return [];
  return [
    (context) => {
      if (context.response) context.response = withCacheHeaders(context.response, context);
    },
  ];
}

export function withCacheHeaders(response: RestResponse, context: RestContext): RestResponse {
  const { status, headers = {} } = response;
  if (status >= 300) return response;
  const { isReading, actor } = context;
  const { cacheControl } = context.route.resource;
  const cached: Validators =
    isReading && cacheControl ? { 'Cache-Control': cacheControlFor(cacheControl, actor) } : {};
  const { ETag: tag, 'Last-Modified': date, ...others } = headers;
  if (tag === undefined) return cacheControl ? { ...response, headers: { ...headers, ...cached } } : response;
  const state = stateOfResponse(response, { opaque: tag.slice(1, -1), date }, context);
  const validated: Validators = {
    ...others,
    ETag: quoteTag(state.tag),
    ...(state.modified === undefined ? {} : { 'Last-Modified': state.modified }),
    ...cached,
  };
  return isReading && status === 200 && isNotModified((name) => context.header(name), state, Date.now())
    ? { status: 304, headers: validated }
    : { ...response, headers: validated };
}

/** A response that an interceptor may have changed is identified by a hash of its body too, and has no date. */
function stateOfResponse(
  { body }: RestResponse,
  { opaque, date }: { readonly opaque: string; readonly date: string | undefined },
  { isIntercepted }: RestContext,
): { readonly tag: string; readonly modified: string | undefined } {
  if (!isIntercepted) return { tag: opaque, modified: date };
  return { tag: body?.kind === 'text' ? etagWithBody(opaque, body.text) : opaque, modified: undefined };
}
