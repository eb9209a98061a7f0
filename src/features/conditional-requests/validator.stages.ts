import { validatorColumnsOf, validatorValuesIn } from '../../core/contracts/conditional.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { NotFound, PreconditionFailed } from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import { writeJson } from '../../core/values/exact-numbers.js';
import { chooseForm } from '../../execution/choose-read.js';
import type { Resource } from '../../core/schema/resource.js';
import { planRetrieve } from '../../request/plan/row-conditions.js';
import type { RestResponse } from '../../request/response/rest-response.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { jsonOutput } from '../../request/represent-row.js';
import {
  parseHttpDate,
  etagFor,
  etagIn,
  etagWithBody,
  lastModified,
  objectView,
  parseEntityTags,
  quoteTag,
  showSameFields,
  viewToRead,
} from './validators.js';
import type { HeaderOf, Validators } from './validators.js';

interface ValidatorSource {
  readonly adapter: DataAdapter;
  readonly validatorValues: readonly Json[];
  readonly content: () => string;
}

/** Adds `ETag` and `Last-Modified` of the row that the result represents, where GET would represent it the same. */
export function addValidators(adapter: DataAdapter): Stage {
  return (context) => {
    const { result } = context;
    const row = result?.row;
    // A field selection, or another format than JSON, has no entity tag of its own.
    if (!row || context.fieldSelection || context.renderer) return undefined;
    return mapMaybe(viewToRead(context), (view) => {
      if (!showSameFields(context.resource, view.resource)) return;
      const { value } = result;
      const validators = validatorsOf(context, {
        adapter,
        validatorValues: validatorValuesIn(row, validatorColumnsOf(context.resource)),
        content: () => writeJson(value),
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

function validatorsOf(
  context: RestContext,
  { adapter, validatorValues, content }: ValidatorSource,
): Validators {
  const { resource } = context;
  const isDated = chooseForm(context) === 'stored' && adapter.bypassesEntityHooks(resource);
  return {
    ETag: quoteTag(etagFor(objectView(context, adapter), validatorValues, content)),
    ...(isDated ? lastModified(resource, validatorValues, Date.now()) : {}),
  };
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
  // Anonymous responses may be cached by shared caches; those to an actor have a setting of their own.
  const caching = actor === null ? cacheControl?.anonymous : cacheControl?.actors;
  const cached: Validators = isReading && caching !== undefined ? { 'Cache-Control': caching } : {};
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

/**
 * True if the client has the current representation, by the preconditions of a GET or HEAD in the order of RFC 9110,
 * 13.2.2. Throws 412. An invalid list of tags matches nothing (contract 13.4), and an invalid date is ignored.
 */
function isNotModified(
  header: HeaderOf,
  { tag, modified }: { readonly tag: string; readonly modified: string | undefined },
  now: number,
): boolean {
  const instant = modified === undefined ? undefined : Date.parse(modified);
  const ifMatch = header('if-match');
  if (ifMatch !== undefined) {
    if (!matchesStrongly(ifMatch, tag)) throw new PreconditionFailed();
  } else if (instant !== undefined && instant > (dateIn(header('if-unmodified-since'), now) ?? Infinity))
    throw new PreconditionFailed();
  const ifNoneMatch = header('if-none-match');
  if (ifNoneMatch !== undefined) return matchesWeakly(ifNoneMatch, tag);
  return instant !== undefined && instant <= (dateIn(header('if-modified-since'), now) ?? -Infinity);
}

function matchesStrongly(list: string, tag: string): boolean {
  const tags = parseEntityTags(list);
  return tags === 'any' || tags?.some(({ weak, opaque }) => !weak && etagIn(opaque) === etagIn(tag)) === true;
}

function matchesWeakly(list: string, tag: string): boolean {
  const tags = parseEntityTags(list);
  return tags === 'any' || tags?.some(({ opaque }) => opaque === tag) === true;
}

function dateIn(text: string | undefined, now: number): number | undefined {
  return text === undefined ? undefined : parseHttpDate(text, now);
}
