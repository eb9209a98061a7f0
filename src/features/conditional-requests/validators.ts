import { createHash } from 'node:crypto';
import type { Json } from '../../core/errors/rest-exception.js';
import { validatorColumnsOf } from '../../core/contracts/conditional.js';
import type { Field } from '../../core/schema/field.js';
import { MODIFIED_SETTLES } from '../../core/schema/limits.js';
import type { Resource } from '../../core/schema/resource.js';
import { httpDate } from './http-date.js';

/** The headers that tell which state of an object an answer shows. */
export type Validators = Readonly<Record<string, string>>;

/** One view of an object's model, at one path. */
export interface ObjectView {
  readonly resource: Resource;
  /** The path below which the links of its objects stand. */
  readonly basePath: string;
  /** Whether a version says all that is shown. */
  readonly versioned: boolean;
}

/**
 * The state of an object as the opaque part of a strong tag: its version and what is shown of it, where there is one that
 * says all, else its content. Versions of two views never equal each other, and neither equals a content.
 */
export function etagFor(view: ObjectView, stamps: readonly Json[], content: () => string): string {
  return view.versioned ? `${versionTag(stamps[0] ?? null)}${viewTag(view)}` : contentHash(content());
}

function versionTag(version: Json): string {
  return `v${String(version)}.`;
}

/** The version that a tag of this view names; undefined for the tag of anything else. */
export function versionIn(opaque: string, view: ObjectView): string | undefined {
  const [state = ''] = opaque.split('/');
  const version = /^v(\d{1,19})\./.exec(state)?.[1];
  return version !== undefined && state === `${versionTag(version)}${viewTag(view)}` ? version : undefined;
}

/** What stands around an operation has a part of its own in the tag of what it has answered. */
export function etagWithBody(opaque: string, body: string): string {
  return `${opaque}/${contentHash(body)}`;
}

/** The state that a tag names, whatever stood around the operation. */
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

/** Of the names and types that are shown, and the path of their links. */
function viewTag({ resource, basePath }: ObjectView): string {
  const known = VIEW_TAGS.get(resource);
  if (known?.basePath === basePath) return known.mark;
  const mark = contentHash(
    JSON.stringify([basePath, shapeOf(resource.fields)], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  ).slice(0, 16);
  VIEW_TAGS.set(resource, { basePath, mark });
  return mark;
}

function shapeOf(fields: readonly Field[]): readonly unknown[] {
  return fields
    .filter((field) => field.readable)
    .map((field) => [
      field.name,
      field.kind,
      field.kind === 'column' ? field.type : field.kind === 'embedded' ? shapeOf(field.fields) : null,
    ]);
}

/** Whether two views show the same fields. */
export function showTheSame(one: Resource, other: Resource): boolean {
  return one === other || JSON.stringify(namesOf(one.fields)) === JSON.stringify(namesOf(other.fields));
}

function namesOf(fields: readonly Field[]): readonly unknown[] {
  return fields
    .filter((field) => field.readable)
    .map((field) => (field.kind === 'embedded' ? [field.name, namesOf(field.fields)] : field.name));
}

/** `Last-Modified`, once its second and what may still be written with it are over. */
export function lastModified(resource: Resource, stamps: readonly Json[], now: number): Validators {
  const { modified, columns } = validatorColumnsOf(resource);
  const instant = modified ? instantOf(stamps[columns.indexOf(modified)] ?? null) : undefined;
  return instant === undefined || instant > now - MODIFIED_SETTLES * 1000
    ? {}
    : { 'Last-Modified': httpDate(instant) };
}

/** They tell of JSON, and of no other form. */
export function withoutValidators({
  ETag: _tag,
  'Last-Modified': _modified,
  ...others
}: Validators): Validators {
  return others;
}

function instantOf(value: Json): number | undefined {
  const instant = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(instant) ? undefined : instant;
}
