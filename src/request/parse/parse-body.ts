import {
  BodyTooLarge,
  InvalidInput,
  MalformedRequest,
  UnsupportedContentCoding,
  UnsupportedMediaType,
} from '../../core/errors/http-exceptions.js';
import { BODY_DEPTH } from '../../core/schema/limits.js';
import { pythonTypeName } from '../../core/values/texts.js';

/** A body as received by the HTTP layer. Its error is reported at its place in the order of checks (contract 6.3). */
export type ReceivedBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'broken'; readonly reason: string }
  /** The content encoding is not supported; `decoded` lists the supported ones for `Accept-Encoding`. */
  | { readonly kind: 'coded'; readonly coding: string; readonly decoded: string }
  | { readonly kind: 'unsupported' };

export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses the JSON object of a body, `{}` without one. Throws 413, 415 and 400 in this order (contract 6.3). */
export function readJsonObject(body: ReceivedBody, contentType: string | undefined): JsonObject {
  return requireObject(decodeBody(body, contentType));
}

/** As `readJsonObject`, but also accepts a list, whose items are not checked. */
export function readJsonItems(
  body: ReceivedBody,
  contentType: string | undefined,
): JsonObject | readonly unknown[] {
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
  refuseDepth(value);
  return value;
}

/** Parses any JSON value; an empty body is null. Throws 400 for invalid JSON. */
export function readJsonValue(body: ReceivedBody): unknown {
  const value = jsonValue(body) ?? null;
  refuseDepth(value);
  return value;
}

/** `application/json`, with no charset other than utf-8. */
function isJsonType(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') return false;
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
function refuseDepth(value: unknown): void {
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
