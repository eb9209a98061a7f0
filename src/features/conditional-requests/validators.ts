import { createHash } from 'node:crypto';
import { validatorColumnsOf } from '../../core/contracts/conditional.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { ALWAYS } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import { readableKey } from '../../core/schema/field.js';
import type { Field } from '../../core/schema/field.js';
import { MAX_ENTITY_TAGS, MAX_PRECONDITION, MODIFIED_SETTLES } from '../../core/schema/limits.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import { chooseForm } from '../../execution/choose-read.js';
import { basePathOf } from '../../request/represent-row.js';
import type { RestContext } from '../../request/rest-context.js';
import { grantRelatedKeys } from '../permissions/grant-related-keys.js';
import { restrictFields } from '../permissions/restrict-fields.js';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
const TIME_PATTERN = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})';

/** The three formats of RFC 9110, 5.6.7: the one that is generated, and two obsolete ones. */
const FORMS: readonly RegExp[] = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${TIME_PATTERN} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\\d{2}) ${TIME_PATTERN} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${TIME_PATTERN} (?<year>\\d{4})$`),
];

/** An HTTP date as epoch milliseconds; undefined for an invalid one, which is ignored (RFC 9110, 13.1.3). */
export function parseHttpDate(text: string, now: number): number | undefined {
  for (const form of FORMS) {
    const found = form.exec(text.trim())?.groups;
    if (found) return toInstant(found, now);
  }
  return undefined;
}

function toInstant(
  { day, month, year = '', hour, minute, second }: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const index = MONTHS.indexOf(month as (typeof MONTHS)[number]);
  if (
    index < 0 ||
    Number(day) < 1 ||
    Number(day) > 31 ||
    Number(hour) > 23 ||
    Number(minute) > 59 ||
    Number(second) > 60
  )
    return undefined;
  return Date.UTC(
    year.length === 2 ? wholeYear(Number(year), now) : Number(year),
    index,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
}

/** A two-digit year more than 50 years in the future is one of the past. */
function wholeYear(digits: number, now: number): number {
  const current = new Date(now).getUTCFullYear();
  const year = Math.floor(current / 100) * 100 + digits;
  return year > current + 50 ? year - 100 : year;
}

/** Truncated to whole seconds. */
export function httpDate(instant: number): string {
  return new Date(instant).toUTCString();
}

/** The headers that identify the state of a represented object: `ETag` and `Last-Modified`. */
export type Validators = Readonly<Record<string, string>>;

/** Reads a header of the request. */
export type HeaderOf = (name: string) => string | undefined;

/** A view of an object's model, at one path. */
export interface ObjectView {
  readonly resource: Resource;
  /** The base path of the links in the representation. */
  readonly basePath: string;
  /** True if the version column identifies everything that the representation contains. */
  readonly versioned: boolean;
}

/** Evaluated for each request: a subscriber that changes what is read may have been added. */
export function objectView(context: RestContext, adapter: DataAdapter): ObjectView {
  const { resource } = context;
  const versioned =
    validatorColumnsOf(resource).version !== undefined &&
    chooseForm(context) === 'stored' &&
    adapter.bypassesEntityHooks(resource);
  return { resource, basePath: basePathOf(context), versioned };
}

/**
 * The representation of the object by GET; for a caller who may not GET it, that of responses to writes. If GET has more
 * fields, it has them for its own rows only: for others, a write must not confirm a guess at their values.
 */
export async function viewToRead({
  route,
  resource,
  access,
  isReading,
}: RestContext): Promise<{ readonly resource: Resource; readonly rows: Condition }> {
  // A restored object is not deleted any more.
  const model = resource.deleted ? route.resource : resourceOf(route.resource.deleted?.of ?? route.resource);
  const read = isReading ? undefined : await access.tryAuthorize(model, 'GET');
  const view = read && (await grantRelatedKeys(restrictFields(model, read), access, 'GET'));
  return !view || showSameFields(resource, view)
    ? { resource, rows: ALWAYS }
    : { resource: view, rows: read.grantCondition };
}

/**
 * The opaque part of a strong entity tag: version and view, if the version identifies the whole representation, else a
 * hash of the content. Versions of two views never equal each other, nor a hash.
 */
export function etagFor(view: ObjectView, validatorValues: readonly Json[], content: () => string): string {
  return view.versioned
    ? `${versionTag(validatorValues[0] ?? null)}${viewTag(view)}`
    : contentHash(content());
}

function versionTag(version: Json): string {
  return `v${String(version)}.`;
}

/** The version in a tag of this view; undefined for any other tag. */
export function versionIn(opaque: string, view: ObjectView): string | undefined {
  const [state = ''] = opaque.split('/');
  const version = /^v(\d{1,19})\./.exec(state)?.[1];
  return version !== undefined && state === `${versionTag(version)}${viewTag(view)}` ? version : undefined;
}

/**
 * Appends a hash of the body to the tag of a response that an interceptor or method of the application may have changed.
 */
export function etagWithBody(opaque: string, body: string): string {
  return `${opaque}/${contentHash(body)}`;
}

/** The tag without the hash of a body that was changed. */
export function etagIn(opaque: string): string {
  return opaque.split('/')[0] ?? opaque;
}

export function quoteTag(opaque: string): string {
  return `"${opaque}"`;
}

function contentHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 27);
}

const VIEW_TAGS = new WeakMap<Resource, { readonly basePath: string; readonly mark: string }>();

/** A hash of the names and types of the readable fields, and of the base path of links. */
function viewTag({ resource, basePath }: ObjectView): string {
  const known = VIEW_TAGS.get(resource);
  if (known?.basePath === basePath) return known.mark;
  const mark = contentHash(
    JSON.stringify([basePath, fieldSignature(resource.fields)], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  ).slice(0, 16);
  VIEW_TAGS.set(resource, { basePath, mark });
  return mark;
}

function fieldSignature(fields: readonly Field[]): readonly unknown[] {
  return fields
    .filter((field) => field.readable)
    .map((field) => [field.name, field.kind, valueShapeOf(field)]);
}

function valueShapeOf(field: Field): unknown {
  switch (field.kind) {
    case 'column':
      return field.type;
    case 'embedded':
      return fieldSignature(field.fields);
    default:
      return null;
  }
}

/** An entity tag (RFC 9110, 8.8.3), without its quotes. */
export interface EntityTag {
  readonly weak: boolean;
  readonly opaque: string;
}

const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/y;
const BETWEEN = /[\t ]*(?:,[\t ]*)*/y;
const COMMA = /[\t ]*,[\t ,]*/y;

/** The entity tags of `If-Match` and `If-None-Match`, or `any`. Undefined for what is not a list of tags, or too long. */
export function parseEntityTags(header: string): 'any' | readonly EntityTag[] | undefined {
  const text = header.trim();
  if (text === '*') return 'any';
  if (text.length > MAX_PRECONDITION) return undefined;
  const tags: EntityTag[] = [];
  let at = endOf(BETWEEN, text, 0) ?? 0;
  while (at < text.length) {
    TAG.lastIndex = at;
    const found = TAG.exec(text);
    if (!found || tags.length === MAX_ENTITY_TAGS) return undefined;
    tags.push({ weak: found[1] !== undefined, opaque: found[2] ?? '' });
    at = TAG.lastIndex;
    if (at === text.length) break;
    const next = endOf(COMMA, text, at);
    if (next === undefined) return undefined;
    at = next;
  }
  return tags.length === 0 ? undefined : tags;
}

/** The end of a match at this position. */
function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** True if two views have the same readable fields. */
export function showSameFields(one: Resource, other: Resource): boolean {
  return one === other || readableKey(one.fields) === readableKey(other.fields);
}

/** `Last-Modified`, once its second, and the time in which rows may still be written with it, have passed. */
export function lastModified(resource: Resource, validatorValues: readonly Json[], now: number): Validators {
  const { modified, columns } = validatorColumnsOf(resource);
  const instant = modified ? parseTimestamp(validatorValues[columns.indexOf(modified)] ?? null) : undefined;
  return instant === undefined || instant > now - MODIFIED_SETTLES * 1000
    ? {}
    : { 'Last-Modified': httpDate(instant) };
}

function parseTimestamp(value: Json): number | undefined {
  const instant = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(instant) ? undefined : instant;
}
