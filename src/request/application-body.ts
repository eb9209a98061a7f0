import {
  BodyTooLarge,
  MalformedRequest,
  UnsupportedContentCoding,
  UnsupportedMediaType,
} from '../core/errors/http-exceptions.js';
import type { HttpExchange, ReceivedBody } from './http-exchange.js';
import { isJsonType, readJsonObject, readJsonValue, requireObject } from './request-input.js';
import type { HttpInput } from './request-input.js';

/**
 * Checks the body of an action before it and its interceptors run (contract 22.6): the HTTP layer stores errors of a body
 * until it is used, and the method would get no body in place of a rejected one. Another type than JSON that no parser has
 * parsed is left to the interceptors and to the method. Throws 413, 415 and 400.
 */
export async function assertActionBody(exchange: HttpExchange): Promise<void> {
  const type = exchange.header('content-type');
  let body = exchange.parsedBody();
  if (!body) {
    if (!isJsonLike(type)) return;
    const received = await exchange.body();
    body = exchange.parsedBody() ?? received;
  }
  assertUsable(body, type);
}

/**
 * Checks the body of a method that replaces an operation, which is rejected as by the operation. Throws 413, 415 and 400.
 */
export async function assertOverrideBody(exchange: HttpExchange, input: HttpInput): Promise<void> {
  const type = exchange.header('content-type');
  if (/^\s*multipart\//i.test(type ?? '')) {
    await assertActionBody(exchange);
    return;
  }
  readJsonObject(await input.receivedBody(), type);
  if (isUnsafe(exchange.parsedBody())) throw forbiddenKeys();
}

/** Checks that a method with `@Body` gets the body, after all interceptors have run. Throws 413, 415 and 400. */
export async function assertParsed(exchange: HttpExchange): Promise<void> {
  assertUsable(exchange.parsedBody() ?? (await exchange.body()), exchange.header('content-type'));
}

/** Whether a body is expected to be JSON: by its type, or without a type. */
export function isJsonLike(contentType: string | undefined): boolean {
  const [type = ''] = (contentType ?? '').split(';');
  const name = type.trim().toLowerCase();
  return name === '' || /\/([^/]*\+)?json$/.test(name);
}

function isUnsafe(body: ReceivedBody | undefined): boolean {
  return (body?.kind === 'value' || body?.kind === 'text') && body.unsafe === true;
}

/** The error is named as Fastify names it. */
function forbiddenKeys(): MalformedRequest {
  return MalformedRequest.json('Object contains forbidden prototype property');
}

/** Throws unless a method of the application has the body, or there is none. */
function assertUsable(body: ReceivedBody, contentType: string | undefined): void {
  if (isUnsafe(body)) throw forbiddenKeys();
  switch (body.kind) {
    case 'none':
    case 'value':
      return;
    case 'too-large':
      throw new BodyTooLarge();
    default:
      throwRefusal(body, contentType);
  }
}

/** A text is one that no parser has accepted. */
function throwRefusal(
  body: Exclude<ReceivedBody, { kind: 'none' | 'value' | 'too-large' }>,
  contentType: string | undefined,
): never {
  const type = (contentType ?? '').slice(0, 200);
  if (body.kind === 'unsupported' || hasForeignCharset(contentType)) throw new UnsupportedMediaType(type);
  if (body.kind === 'coded') throw new UnsupportedContentCoding(body.coding.slice(0, 200), body.decoded);
  if (body.kind === 'broken') throw MalformedRequest.json(body.reason);
  requireObject(readJsonValue(body));
  throw MalformedRequest.json('no JSON');
}

function hasForeignCharset(contentType: string | undefined): boolean {
  return /^\s*application\/json\s*;/i.test(contentType ?? '') && !isJsonType(contentType);
}
