import type { Json } from '../errors/rest-exception.js';
import type { Column } from '../schema/column.js';
import type { ResourceSchema } from '../schema/resource-schema.js';
import type { Row } from './serializer.js';

/** Options of a model's conditional requests (RFC 9110, 13). */
export interface ConditionalOptions {
  /** Requires a precondition for PUT, PATCH and DELETE of an object: 428 without one (RFC 6585). Default: false. */
  readonly require?: boolean;
  /** Computes the `ETag` from the content even if there is a version column, for rows that change without their version. */
  readonly etag?: 'content';
}

/** The compiled `ConditionalOptions`. */
export interface Conditional {
  readonly require: boolean;
  /** The version column, which changes with every visible value of its row; undefined if the `ETag` is computed from the content. */
  readonly version: Column | undefined;
  /** The column with the time of the last modification. */
  readonly modified: Column | undefined;
}

/** The values of `Cache-Control` in responses to reads, for anonymous and authenticated callers. */
export interface CacheControl {
  readonly anonymous: string;
  readonly actors: string;
}

/** The columns from which a view's validators are computed, with the positions of their values in a row. */
export interface ValidatorColumns {
  readonly version: Column | undefined;
  readonly modified: Column | undefined;
  /** The defined ones of `version` and `modified`, in this order. */
  readonly columns: readonly Column[];
  readonly places: readonly number[];
}

/** A model or a view of it. */
interface ConditionalModel extends Pick<ResourceSchema, 'fields'> {
  readonly conditional: Conditional | undefined;
}

const VALIDATOR_COLUMNS = new WeakMap<ConditionalModel, ValidatorColumns>();

/** The validator columns of a view. Excludes unreadable columns, so that no validator discloses a change of them. */
export function validatorColumnsOf(resource: ConditionalModel): ValidatorColumns {
  const known = VALIDATOR_COLUMNS.get(resource);
  if (known) return known;
  const readable = resource.fields.filter((field) => field.readable);
  const placeOf = (column: Column | undefined): number =>
    readable.findIndex((field) => field.kind === 'column' && field.column.id === column?.id);
  const { version, modified } = resource.conditional ?? {};
  const columns = [version, modified].filter(
    (column) => column !== undefined && placeOf(column) >= 0,
  ) as readonly Column[];
  const columnsOfView: ValidatorColumns = {
    version: version && columns.includes(version) ? version : undefined,
    modified: modified && columns.includes(modified) ? modified : undefined,
    columns,
    places: columns.map(placeOf),
  };
  VALIDATOR_COLUMNS.set(resource, columnsOfView);
  return columnsOfView;
}

/** The values of the validator columns in a row of the view. */
export function validatorValuesIn(row: Row, { places }: ValidatorColumns): readonly Json[] {
  return places.map((place) => (row.values[place] ?? null) as Json);
}
