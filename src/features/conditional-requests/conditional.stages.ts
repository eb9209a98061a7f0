import type { Json } from '../../core/errors/rest-exception.js';
import { allOf, ALWAYS } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import { validatorColumnsIn, validatorColumnsOf } from '../../core/contracts/conditional.js';
import { statusOf } from '../../core/schema/operation.js';
import type { Operation } from '../../core/schema/operation.js';
import type { Precondition } from '../../core/query/plan.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { Answered, Located } from '../../request/rest-context.js';
import { cacheControlFor, isNotModified } from './is-not-modified.js';
import type { HeaderOf } from './is-not-modified.js';
import { lastModified, showTheSame, etagFor, quoteTag, etagWithBody } from './validators.js';
import type { ObjectView, Validators } from './validators.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { hasDefaultSerializer, objectCondition } from '../../pipeline/operations.js';
import type { Operations } from '../../pipeline/operations.js';
import { restrictFields } from '../permissions/restrict-fields.js';
import { planPrecondition } from './plan-precondition.js';
import { Preconditions } from './check-precondition.js';
import { writingOf } from '../../request/represent-row.js';
import { valueResponse } from '../../request/response/rest-response.js';
import type { RestResponse } from '../../request/response/rest-response.js';

/** How an answer to one request comes about. */
export interface Conclusion {
  readonly resource: Resource;
  readonly reading: boolean;
  readonly actor: unknown;
  readonly header: HeaderOf;
  /** Whether something of the application has stood around the operation, and may have changed its value. */
  readonly surrounded: boolean;
}

const WRITES: readonly Operation[] = ['update', 'partialUpdate', 'destroy'];

/** Objects of models whose requests may be conditional: the six operations, with validators around them. */
export class ConditionalObjects {
  private readonly preconditions: Preconditions;

  constructor(
    private readonly adapter: DataAdapter,
    private readonly operations: Operations,
  ) {
    this.preconditions = new Preconditions(adapter);
  }

  /** The generated answer as it is sent. */
  async respond(
    operation: Operation,
    located: Located,
    {
      header,
      locationOf,
    }: { readonly header: HeaderOf; readonly locationOf: (key: readonly Json[]) => Validators },
  ): Promise<RestResponse> {
    const asked = operation === 'retrieve' ? await this.operations.shapedObject(located) : located;
    // In a shape that a client asks for, an answer has no state of its own: what is expanded changes by itself.
    if (asked.shape) return valueResponse(statusOf(operation), (await this.operations.retrieve(asked)).value);
    if (operation === 'retrieve' && hasDefaultSerializer(located)) {
      const { text, stamps } = await this.operations.retrieveStamped(located);
      return {
        status: 200,
        headers: this.validators(located, stamps, () => text),
        body: { kind: 'text', text },
      };
    }
    const { value, key, validators, told } = await this.run(
      operation,
      await this.asking(operation, located, header),
    );
    return valueResponse(statusOf(operation), value, {
      ...(key ? locationOf(key) : {}),
      ...validators,
      ...told,
    });
  }

  /** Throws 412 and 428 beside what operations throw. */
  async run(operation: Operation, located: Located): Promise<Answered> {
    const answered = await this.operations.run(operation, located);
    const { row, value, shaped } = answered;
    const shown =
      row &&
      shaped !== true &&
      operation !== 'list' &&
      showTheSame(located.resource, (await viewToRead(located)).resource)
        ? row
        : undefined;
    return {
      ...answered,
      validators: shown
        ? this.validators(located, validatorColumnsIn(shown, located.resource), () => JSON.stringify(value))
        : {},
    };
  }

  /** What the headers of a request ask of the object that it writes. */
  async asking(operation: Operation, located: Located, header: HeaderOf): Promise<Located> {
    return WRITES.includes(operation)
      ? { ...located, precondition: await this.precondition(located, header) }
      : located;
  }

  /** Before a method of the application's that replaces a write. Throws 404, 412, 428. */
  async refuseUnmet(located: Located): Promise<void> {
    if (located.precondition) await this.preconditions.assertMet(located, objectCondition(located));
  }

  /** Tags are those of what the caller reads, whatever shows itself to one who writes. */
  private async precondition(located: Located, header: HeaderOf): Promise<Precondition | undefined> {
    const { resource, rows } = await viewToRead(located);
    const { represent } = writingOf({ ...located, resource });
    const view = this.viewOf({ ...located, resource });
    const state = (row: Row): string =>
      etagFor(view, validatorColumnsIn(row, resource), () => JSON.stringify(represent(row)));
    const asked = planPrecondition(header, { view, stateOf: state }, Date.now());
    const compares = asked && (asked.where.kind !== 'always' || asked.expected !== undefined);
    return compares === true ? { ...asked, where: allOf([asked.where, rows]) } : asked;
  }

  private validators(located: Located, stamps: readonly Json[], content: () => string): Validators {
    const view = this.viewOf(located);
    const dated = hasDefaultSerializer(located) && this.adapter.readsAsStored(located.resource);
    return {
      ETag: quoteTag(etagFor(view, stamps, content)),
      ...(dated ? lastModified(located.resource, stamps, Date.now()) : {}),
    };
  }

  /** Asked for each request: a subscriber that has a say in what is read may have come. */
  private viewOf(located: Located): ObjectView {
    const { resource } = located;
    const versioned =
      validatorColumnsOf(resource).version !== undefined &&
      hasDefaultSerializer(located) &&
      this.adapter.readsAsStored(resource);
    return { resource, basePath: writingOf(located).basePath, versioned };
  }
}

/**
 * What the caller would see of the object by GET; who may not GET it sees what the answers of writes show. Where GET shows
 * more, it does so of these rows alone: of others a write must not tell whether a guess at them was right.
 */
async function viewToRead({
  route,
  resource,
  admission,
}: Located): Promise<{ readonly resource: Resource; readonly rows: Condition }> {
  const access = admission.reading ? undefined : await admission.accesses.tryAuthorize(route.resource, 'GET');
  const view = access && restrictFields(route.resource, access);
  return !view || showTheSame(resource, view)
    ? { resource, rows: ALWAYS }
    : { resource: view, rows: access.rows };
}

/** What is told of caches, and what is left to send to a caller who has the answer. Throws 412. */
export function applyCacheHeaders(
  response: RestResponse,
  { resource, reading, actor, header, surrounded }: Conclusion,
): RestResponse {
  const { status, body, headers = {} } = response;
  if (status >= 300) return response;
  const cached: Validators =
    reading && resource.cacheControl
      ? { 'Cache-Control': cacheControlFor(resource.cacheControl, actor) }
      : {};
  const { ETag: tag, 'Last-Modified': modified, ...others } = headers;
  if (tag === undefined)
    return resource.cacheControl ? { ...response, headers: { ...headers, ...cached } } : response;
  const opaque =
    surrounded && body?.kind === 'text' ? etagWithBody(tag.slice(1, -1), body.text) : tag.slice(1, -1);
  const told: Validators = {
    ...others,
    ETag: quoteTag(opaque),
    ...(surrounded || modified === undefined ? {} : { 'Last-Modified': modified }),
    ...cached,
  };
  if (
    reading &&
    status === 200 &&
    isNotModified(header, { tag: opaque, modified: surrounded ? undefined : modified }, Date.now())
  )
    return { status: 304, headers: told };
  return { ...response, headers: told };
}
