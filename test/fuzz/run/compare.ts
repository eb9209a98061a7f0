import type { Expected, Ranks } from '../model/expected.js';
import type { Json } from '../schema.js';
import type { FuzzResponse } from './transport.js';

/** The differences between a response and the expected one, as texts. */
export function differences(given: FuzzResponse, expected: Expected): string[] {
  const found: string[] = [];
  if (given.status !== expected.status) found.push(`status ${given.status}, expected ${expected.status}`);
  const body = bodyDifference(given, expected);
  if (body !== undefined) found.push(body);
  for (const [name, value] of Object.entries(expected.headers)) {
    const actual = given.headers[name];
    if (!fitsHeader(actual, value))
      found.push(
        `header ${name}: ${JSON.stringify(actual)}, expected ${value instanceof RegExp ? String(value) : JSON.stringify(value)}`,
      );
  }
  for (const [name, url] of Object.entries(expected.links ?? {})) {
    const link = linkNamed(given.headers.link ?? '', name);
    if (link === undefined || sortedUrl(link) !== sortedUrl(url))
      found.push(`link ${name}: ${JSON.stringify(link)}, expected ${url}`);
  }
  return found;
}

function linkNamed(header: string, name: string): string | undefined {
  return new RegExp(`<([^>]*)>; rel="${name}"`).exec(header)?.[1];
}

/** A URL with its parameters sorted by name. */
function sortedUrl(text: string): string {
  if (!/^https?:/.test(text)) return text;
  const url = new URL(text);
  url.searchParams.sort();
  return url.href;
}

/** A page with sorted parameters in its links. */
function withSortedLinks(value: Json): Json {
  if (typeof value !== 'object' || value === null || !('results' in value)) return value;
  const sort = ([name, each]: [string, Json]): [string, Json] => {
    const isLink = (name === 'next' || name === 'previous') && typeof each === 'string';
    return [name, isLink ? sortedUrl(each) : each];
  };
  return Object.fromEntries(Object.entries(value as Readonly<Record<string, Json>>).map(sort));
}

function fitsHeader(actual: string | undefined, expected: string | RegExp | null): boolean {
  if (expected === null) return actual === undefined;
  return typeof expected === 'string' ? actual === expected : actual !== undefined && expected.test(actual);
}

/** The date of a deletion, which the model knows by its number. */
const DELETION = /"gone":"(?:@\d+|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z)"/g;

function bodyDifference(given: FuzzResponse, expected: Expected): string | undefined {
  if (expected.anyBody) return undefined;
  const shown = given.text === '' ? 'no body' : `body ${given.text}`;
  if (expected.ranks && given.status === 200 && given.text !== '')
    return rankDifference(given, { ...expected, ranks: expected.ranks });
  if (expected.errorNames) return namesDifference(given, expected.errorNames);
  if (expected.detail) return detailDifference(given, expected.detail);
  const canonical = (value: Json): string =>
    JSON.stringify(expected.status >= 400 ? sorted(value) : withSortedLinks(value)).replaceAll(
      DELETION,
      '"gone":"a date"',
    );
  const texts = expected.bodies.map(canonical);
  const actual = given.text === '' ? undefined : parsed(given.text);
  const text = actual === undefined ? given.text : canonical(actual);
  const fits = texts.length === 0 ? given.text === '' : texts.includes(text);
  return fits ? undefined : `${shown}, expected ${texts.length === 0 ? 'no body' : texts.join(' or ')}`;
}

/** The rows of a search ordered by rank: those with the same text are in the order of the others. */
function rankDifference(
  { text }: FuzzResponse,
  { bodies: [body], ranks: { texts, counts, isBestFirst } }: Expected & { readonly ranks: Ranks },
): string | undefined {
  const undated = (row: Json): string => JSON.stringify(row).replaceAll(DELETION, '"gone":"a date"');
  const wanted = (body as readonly Json[]).map(undated);
  const actual = ((parsed(text) ?? []) as readonly Json[]).map(undated);
  const places = actual.map((row) => wanted.indexOf(row));
  const isSame = [...places].sort((one, other) => one - other).every((place, index) => place === index);
  const isTied = places.every((place, index) => place === index);
  const isInOrder = places.every((place, index) =>
    places.slice(index + 1).every((later) => texts[place] !== texts[later] || place < later),
  );
  const isBestAhead = places.every((place, index) => {
    const [own, next] = [counts[place], counts[places[index + 1] ?? place]];
    return own === undefined || next === undefined || (isBestFirst ? own >= next : own <= next);
  });
  return isSame && wanted.length === actual.length && isInOrder && (isTied || isBestAhead)
    ? undefined
    : `body ${text}, expected by rank ${wanted.join(', ')}`;
}

/** HEAD has no body to compare. */
function namesDifference({ text }: FuzzResponse, expected: readonly string[]): string | undefined {
  const names = text === '' ? undefined : Object.keys(parsed(text) ?? {});
  const fits = names === undefined || [...names].sort().join() === [...expected].sort().join();
  return fits ? undefined : `body ${text}, expected errors of ${expected.join(', ')}`;
}

function detailDifference({ text }: FuzzResponse, expected: RegExp): string | undefined {
  const detail = (parsed(text) as { detail?: Json } | null | undefined)?.detail;
  const fits = typeof detail === 'string' && expected.test(detail);
  return fits || text === '' ? undefined : `body ${text}, expected a detail like ${String(expected)}`;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The order of fields in errors is not significant. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as Readonly<Record<string, Json>>)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  );
}
