import {
  BodyTooLarge,
  InvalidInput,
  MalformedRequest,
  UnsupportedContentCoding,
  UnsupportedMediaType,
} from '../core/errors/http-exceptions.js';
import { JSON_MEDIA_TYPE, MERGE_PATCH_MEDIA_TYPE } from '../core/contracts/renderer.js';
import { BODY_DEPTH } from '../core/schema/limits.js';
import { acceptsJson } from '../core/schema/field.js';
import { keepNumbers } from '../core/values/exact-numbers.js';
import { pythonTypeName } from '../core/values/texts.js';
import type { Resource } from '../core/schema/resource.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { HttpExchange, ReceivedBody } from './http-exchange.js';
import { joinLists } from './parse/query-parameters.js';
import { parseQueryString } from './parse/parse-query-string.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Query parameters and body of a request. Read by the stage that needs them, because their errors have an order (contract
 * 6.3).
 */
export interface RequestInput {
  /** Throws 400. */
  parameters(): MaybePromise<ReadonlyMap<string, string>>;
  /** Throws 400, 413 and 415. */
  body(): MaybePromise<JsonObject>;
  /** Whether the body is a merge patch, whose JSON is merged into the stored one. */
  readonly merges?: boolean | undefined;
  /** The body, which may be a list; undefined if the model accepts one object only. */
  readonly items?: (() => MaybePromise<JsonObject | readonly unknown[]>) | undefined;
}

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

  get merges(): boolean {
    const { exchange, resource } = this;
    return (
      resource.mergePatch &&
      exchange.method === 'PATCH' &&
      isJsonType(exchange.header('content-type'), MERGE_PATCH_MEDIA_TYPE)
    );
  }

  parameters(): MaybePromise<ReadonlyMap<string, string>> {
    const { resource } = this;
    const { piping } = resource;
    const parameters = this.receivedParameters();
    return piping
      ? pipedParameters(joinLists(parameters, resource), (value) => piping.transform(value, 'query'))
      : parameters;
  }

  /** As they were sent, before the pipes. */
  protected receivedParameters(): ReadonlyMap<string, string> {
    const { query } = this.exchange;
    return query === '' ? new Map<string, string>() : parseQueryString(query);
  }

  body(): MaybePromise<JsonObject> {
    return (this.object ??= this.readObject());
  }

  private readObject(): MaybePromise<JsonObject> {
    return mapMaybe(this.receivedBody(), (received) => {
      const { piping } = this.resource;
      const body = readJsonObject(
        received,
        this.merges ? JSON_MEDIA_TYPE : this.exchange.header('content-type'),
      );
      return piping
        ? mapMaybe(piping.transform(body, 'body'), (piped) => pipedBody(piped, this.resource))
        : body;
    });
  }

  /** Read once from the exchange: a stream cannot be read twice. The values of JSON columns keep the texts of their numbers. */
  receivedBody(): MaybePromise<ReceivedBody> {
    return (this.received ??= mapMaybe(this.exchange.body(), (sent) => {
      const body = this.merges ? readPatch(sent) : sent;
      if (body.kind === 'value' && body.text && acceptsJson(this.resource.fields)) {
        const text = body.text();
        if (text !== undefined) keepNumbers(body.value, text);
      }
      return body;
    }));
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

/** The body of a merge patch, which no parser has read. */
function readPatch(body: ReceivedBody): ReceivedBody {
  if (body.kind !== 'unsupported' || body.text === undefined) return body;
  const { text } = body;
  return { kind: 'value', value: parseJsonBody(text), text: () => text };
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
    throw new Error(`A pipe of ${resource.className} made something else than an object of a body.`);
  return piped as JsonObject;
}

/** Parses the JSON object of a body, `{}` without one. Throws 413, 415 and 400 in this order (contract 6.3). */
export function readJsonObject(body: ReceivedBody, contentType: string | undefined): JsonObject {
  return requireObject(decodeBody(body, contentType));
}

/** As `readJsonObject`, but also accepts a list, whose items are not checked. */
function readJsonItems(body: ReceivedBody, contentType: string | undefined): JsonObject | readonly unknown[] {
  if (body.kind === 'too-large') throw new BodyTooLarge(true);
  const value = decodeBody(body, contentType);
  return Array.isArray(value) ? (value as readonly unknown[]) : requireObject(value);
}

/** Throws 400 if the value is not an object. */
export function requireObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw InvalidInput.ofNoField(
      value === null
        ? 'No data provided'
        : `Invalid data. Expected a dictionary, but got ${pythonTypeName(value)}.`,
    );
  }
  return value as JsonObject;
}

function decodeBody(body: ReceivedBody, contentType: string | undefined): unknown {
  if (body.kind === 'none') return {};
  if (body.kind === 'too-large') throw new BodyTooLarge();
  if (!isJsonType(contentType) || body.kind === 'unsupported')
    throw new UnsupportedMediaType((contentType ?? '').slice(0, 200));
  if (body.kind === 'coded') throw new UnsupportedContentCoding(body.coding.slice(0, 200), body.decoded);
  const value = jsonValue(body);
  assertDepth(value);
  return value;
}

/** Parses any JSON value; an empty body is null. Throws 400 for invalid JSON. */
export function readJsonValue(body: ReceivedBody): unknown {
  const value = jsonValue(body) ?? null;
  assertDepth(value);
  return value;
}

/** Whether a body is of a JSON type, with no charset other than utf-8. */
export function isJsonType(contentType: string | undefined, expected = JSON_MEDIA_TYPE): boolean {
  const [type = '', ...parameters] = (contentType ?? '').split(';');
  if (type.trim().toLowerCase() !== expected) return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim().toLowerCase() !== 'charset' || /^"?utf-?8"?$/i.test(value.trim());
  });
}

function jsonValue(body: ReceivedBody): unknown {
  switch (body.kind) {
    case 'value':
      return body.value;
    case 'text':
      return parseJsonBody(body.text);
    case 'broken':
      throw MalformedRequest.json(body.reason);
    default:
      return undefined;
  }
}

function parseJsonBody(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw MalformedRequest.json(error instanceof Error ? error.message.slice(0, 200) : 'no JSON');
  }
}

/** Checks the depth iteratively, so that a deep body cannot overflow the stack. */
function assertDepth(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > BODY_DEPTH) throw MalformedRequest.json('nested too deeply');
    level = level.flatMap((each): unknown[] =>
      typeof each === 'object' && each !== null
        ? Object.values(each).filter((inner) => typeof inner === 'object' && inner !== null)
        : [],
    );
  }
}

/** The input with another body and the same parameters. */
export function withBody(input: RequestInput, body: JsonObject): RequestInput {
  return {
    parameters: () => input.parameters(),
    body: () => body,
    items: input.items && (() => body),
  };
}

export function withParameters(input: RequestInput, parameters: ReadonlyMap<string, string>): RequestInput {
  return { parameters: () => parameters, body: () => input.body(), items: input.items };
}
