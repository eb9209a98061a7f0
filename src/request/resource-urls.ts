import type { PageLink } from '../core/contracts/pagination.js';
import type { Json } from '../core/errors/rest-exception.js';
import type { Resource } from '../core/schema/resource.js';
import { keyText } from '../core/values/keys.js';
import type { HttpExchange } from './http-exchange.js';
import type { RestContext } from './rest-context.js';

/** A parameter of the query string: its decoded name, and its escaped text. */
interface SentParameter {
  readonly name: string;
  readonly text: string;
}

/**
 * Builds links to other pages of a list from the received query string, which has been validated: parameters keep their
 * order and are escaped again, so that none can break out of a header. Parsed when the first link is built.
 */
export function pageLink(url: string, query: string): PageLink {
  let sent: readonly SentParameter[] | undefined;
  return (changes) => {
    sent ??= parseSent(query);
    let text = '';
    for (const parameter of sent) if (!Object.hasOwn(changes, parameter.name)) text += `&${parameter.text}`;
    for (const [name, value] of Object.entries(changes))
      if (value !== undefined) text += `&${escapeParameter(name, value)}`;
    return text === '' ? url : `${url}?${text.slice(1)}`;
  };
}

function parseSent(query: string): readonly SentParameter[] {
  const sent: SentParameter[] = [];
  for (const part of query.split('&')) if (part !== '') sent.push(parseParameter(part));
  return sent;
}

/** Texts that are the same when they are decoded, and when they are escaped again. */
const UNESCAPED = /^[\w.!~*'()-]*$/;

function parseParameter(part: string): SentParameter {
  const equals = part.indexOf('=');
  const name = equals < 0 ? part : part.slice(0, equals);
  const value = equals < 0 ? '' : part.slice(equals + 1);
  if (UNESCAPED.test(name) && UNESCAPED.test(value)) return { name, text: `${name}=${value}` };
  const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
  const decodedName = decoded(name);
  return { name: decodedName, text: escapeParameter(decodedName, decoded(value)) };
}

function escapeParameter(name: string, value: string): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
}

/** The canonical path of the list below the prefix, without a trailing slash. */
export function listPath({ route, keys }: Pick<RestContext, 'route' | 'keys'>): string {
  const { resource, parent, relation } = route;
  return parent && relation && keys.key
    ? `${parent.app}/${parent.model}/${keyText(keys.key)}/${relation.name}`
    : `${resource.app}/${resource.model}`;
}

/** Links to other pages of the requested list. */
export function pageLinks(context: RestContext, exchange: HttpExchange): PageLink {
  return pageLink(`${originOf(context, exchange)}/${listPath(context)}/`, exchange.query);
}

/** The absolute URL of a created object, if the model has URLs of objects (contract 7.5). */
export function locationHeader(
  key: readonly Json[],
  context: RestContext,
): Readonly<Record<string, string>> | undefined {
  const { exchange, route, keySegment } = context;
  const { resource, relation, parent } = route;
  if (!exchange || !hasObjectUrl(resource)) return undefined;
  const list =
    parent && relation
      ? `${parent.app}/${parent.model}/${keySegment ?? ''}/${relation.name}`
      : `${resource.app}/${resource.model}`;
  return { Location: `${originOf(context, exchange)}/${list}/${keyText(key)}/` };
}

/** Whether the URL of an object supports any operation. */
export function hasObjectUrl({ operations }: Resource): boolean {
  return [...operations].some((operation) => operation !== 'list' && operation !== 'create');
}

function originOf({ base }: RestContext, { protocol, host }: HttpExchange): string {
  return `${protocol}://${host}${base}`;
}
