import type { Json } from '../errors/rest-exception.js';
import type { Column } from '../schema/column.js';
import type { Resource } from '../schema/resource.js';
import type { Row } from './serializer.js';

/** How requests for the objects of a model may be conditional (RFC 9110, 13). */
export interface ConditionalOptions {
  /** PUT, PATCH and DELETE of an object must say which state of it they are about: 428 without (RFC 6585). Default: false. */
  readonly require?: boolean;
  /** The `ETag` is made of the content, also where there is a version column: rows are changed without their version. */
  readonly etag?: 'content';
}

/** The same, compiled. */
export interface Conditional {
  readonly require: boolean;
  /** Changes with all that is shown of its row; undefined where nothing but the content tells. */
  readonly version: Column | undefined;
  /** When a row was last changed. */
  readonly modified: Column | undefined;
}

/** `Cache-Control` of what is read, by who has asked. */
export interface CacheControl {
  readonly anonymous: string;
  readonly actors: string;
}

/** Columns of which validators are made, and where their values stand in a row. */
export interface ValidatorColumns {
  readonly version: Column | undefined;
  readonly modified: Column | undefined;
  /** Those of both that there are, in this order. */
  readonly columns: readonly Column[];
  readonly places: readonly number[];
}

const VALIDATOR_COLUMNS = new WeakMap<Resource, ValidatorColumns>();

/** Of a view the columns that its callers read: what they may not read is not told by a validator either. */
export function validatorColumnsOf(resource: Resource): ValidatorColumns {
  const known = VALIDATOR_COLUMNS.get(resource);
  if (known) return known;
  const shown = resource.fields.filter((field) => field.readable);
  const placeOf = (column: Column | undefined): number =>
    shown.findIndex((field) => field.kind === 'column' && field.column.id === column?.id);
  const { version, modified } = resource.conditional ?? {};
  const columns = [version, modified].filter(
    (column) => column !== undefined && placeOf(column) >= 0,
  ) as readonly Column[];
  const stamps: ValidatorColumns = {
    version: version && columns.includes(version) ? version : undefined,
    modified: modified && columns.includes(modified) ? modified : undefined,
    columns,
    places: columns.map(placeOf),
  };
  VALIDATOR_COLUMNS.set(resource, stamps);
  return stamps;
}

/** Their values in a row of the view. */
export function validatorColumnsIn(row: Row, resource: Resource): readonly Json[] {
  return validatorColumnsOf(resource).places.map((place) => (row.values[place] ?? null) as Json);
}
