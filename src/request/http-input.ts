import type { Resource } from '../core/schema/resource.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { HttpExchange } from './http-exchange.js';
import { readJsonItems, readJsonObject } from './parse/parse-body.js';
import type { JsonObject, ReceivedBody } from './parse/parse-body.js';
import { joinLists } from './parse/list-parameters.js';
import { parseQueryString } from './parse/parse-query-string.js';
import type { RequestInput } from './rest-context.js';

/** Parameters and body of an HTTP request, after the pipes of the model, which run once for each. */
export class HttpInput implements RequestInput {
  readonly items: (() => MaybePromise<JsonObject | readonly unknown[]>) | undefined;
  private received: MaybePromise<ReceivedBody> | undefined;
  private object: MaybePromise<JsonObject> | undefined;
  private list: MaybePromise<JsonObject | readonly unknown[]> | undefined;

  constructor(
    private readonly exchange: HttpExchange,
    private readonly resource: Resource,
  ) {
    this.items = resource.bulk ? () => (this.list ??= this.readItems()) : undefined;
  }

  parameters(): MaybePromise<ReadonlyMap<string, string>> {
    const { resource } = this;
    const { piping } = resource;
    const parameters = parseQueryString(this.exchange.query);
    return piping
      ? pipedParameters(joinLists(parameters, resource), (value) => piping.transform(value, 'query'))
      : parameters;
  }

  body(): MaybePromise<JsonObject> {
    return (this.object ??= this.readObject());
  }

  private readObject(): MaybePromise<JsonObject> {
    return mapMaybe(this.receivedBody(), (received) => {
      const { piping } = this.resource;
      const body = readJsonObject(received, this.exchange.header('content-type'));
      return piping
        ? mapMaybe(piping.transform(body, 'body'), (piped) => pipedBody(piped, this.resource))
        : body;
    });
  }

  /** Read once from the exchange: a stream cannot be read twice. */
  receivedBody(): MaybePromise<ReceivedBody> {
    return (this.received ??= this.exchange.body());
  }

  /** A pipe receives one object at a time, also of a list. */
  private async readItems(): Promise<JsonObject | readonly unknown[]> {
    const { resource } = this;
    const { piping } = resource;
    const body = readJsonItems(await this.receivedBody(), this.exchange.header('content-type'));
    if (!piping) return body;
    const piped = async (item: unknown): Promise<unknown> =>
      typeof item === 'object' && item !== null && !Array.isArray(item)
        ? pipedBody(await piping.transform(item, 'body'), resource)
        : item;
    if (!Array.isArray(body)) return (await piped(body)) as JsonObject;
    const items: unknown[] = [];
    for (const item of body) items.push(await piped(item));
    return items;
  }
}

async function pipedParameters(
  parameters: ReadonlyMap<string, string>,
  pipe: (value: unknown) => Promise<unknown>,
): Promise<ReadonlyMap<string, string>> {
  const piped = await pipe(Object.fromEntries(parameters));
  return new Map(
    Object.entries(piped ?? {}).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)] as const],
    ),
  );
}

function pipedBody(piped: unknown, resource: Resource): JsonObject {
  if (typeof piped !== 'object' || piped === null || Array.isArray(piped))
    throw new Error(`A pipe of ${resource.label} made something else than an object of a body.`);
  return piped as JsonObject;
}
