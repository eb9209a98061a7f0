import type { RestifyOptions } from '../decorators/model-options.js';
import type { FieldType } from '../core/schema/field-type.js';
import type { Json } from '../core/errors/rest-exception.js';
import type { Column, Transform } from '../core/schema/column.js';
import type {
  ColumnDescription,
  EntityDescription,
  TransformerDescription,
} from '../core/schema/entity-metadata.js';
import type { DataType } from '../core/schema/data-type.js';
import { typeOfField } from '../core/schema/field-type.js';
import { invalid, valid } from '../core/values/parse-result.js';
import type { Outcome } from '../core/values/parse-result.js';
import { parseValue } from '../core/values/parse-value.js';

/** The columns of an entity with the conversions of their transformers. */
export function transformedColumns(
  entity: EntityDescription,
  options: RestifyOptions,
): readonly ColumnDescription[] {
  const keys = keyColumns(entity);
  return entity.columns.map((column) => {
    if (!column.transformer) return column;
    const outward = keys.has(column.id) ? undefined : outwardOf(column, typeOption(column, options));
    return { ...column, transform: transformOf(column, column.transformer, outward) };
  });
}

/** The columns of the entity's key and of foreign keys, whose values are in URLs as they are stored. */
export function keyColumns({ key, relations }: EntityDescription): ReadonlySet<string> {
  return new Set([
    ...key,
    ...relations.flatMap((relation) =>
      relation.kind === 'to-one' ? relation.on.map(({ localColumn }) => localColumn) : [],
    ),
  ]);
}

/** The type of a column's values as declared by `type`. */
function typeOption({ path }: Column, { type }: RestifyOptions): FieldType | undefined {
  return (type as Readonly<Record<string, FieldType>> | undefined)?.[path];
}

/** Whether the type of the transformer's values is unknown. */
export function isUntyped(column: ColumnDescription, options: RestifyOptions): boolean {
  return (
    column.transformer?.declared === 'unknown' &&
    column.type.kind !== 'json' &&
    typeOption(column, options) === undefined
  );
}

/** The name in `type` of a property's class. */
const DECLARED: Readonly<Record<TransformerDescription['declared'], FieldType | undefined>> = {
  list: 'json[]',
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'datetime',
  unknown: 'json',
  own: undefined,
};

/** The type of the transformed values; undefined if the transformer preserves it. */
function outwardOf(
  { type, transformer }: ColumnDescription,
  configured: FieldType | undefined,
): DataType | undefined {
  const declared = transformer && DECLARED[transformer.declared];
  const named = configured ?? (declared && isOfClass(type, declared) ? undefined : declared);
  if (named === undefined || (named === 'string' && isTextType(type))) return undefined;
  // Such a column contains integers only.
  const outward = typeOfField(named === 'number' && type.kind === 'bigint' ? 'integer' : named);
  return outward.kind === type.kind && outward.kind !== 'list' ? undefined : outward;
}

/** Whether the column's own values are of the class that a property declares. */
function isOfClass(own: DataType, declared: FieldType): boolean {
  switch (declared) {
    case 'json[]':
      return own.kind === 'list' || own.kind === 'set';
    case 'number':
      return isNumberType(own);
    case 'datetime':
      return own.kind === 'date';
    default:
      return false;
  }
}

/** Whether values of the type are texts in JSON, and in the entity. */
function isTextType(type: DataType): boolean {
  switch (type.kind) {
    case 'string':
    case 'uuid':
    case 'date':
    case 'time':
    case 'datetime':
    case 'interval':
    case 'bigint':
    case 'decimal':
      return true;
    case 'enum':
      return type.values.every((value) => typeof value === 'string');
    default:
      return false;
  }
}

function isNumberType(type: DataType): boolean {
  return (
    type.kind === 'integer' ||
    type.kind === 'float' ||
    (type.kind === 'enum' && type.values.every((value) => typeof value === 'number'))
  );
}

const INVALID_VALUE = invalid('Not a valid value.');

function transformOf(
  { type }: Column,
  transformer: TransformerDescription,
  outward: DataType | undefined,
): Transform {
  return {
    ...(outward ? { outward } : {}),
    stored: (value) => {
      const made = transformer.convert(value, outward ?? type);
      if (made === undefined) return INVALID_VALUE;
      return outward && made !== null ? fitting(made, type, outward) : valid(made);
    },
  };
}

/** Parses a stored value. A number with too many digits for the column is rejected with a message of its own. */
function fitting(made: Json, type: DataType, outward: DataType): Outcome<Json> {
  const outcome = parseValue(made, type.kind === 'string' ? { ...type, trim: false } : type);
  if (!outcome.errors) return outcome;
  const isOfNumber = outward.kind === 'integer' || outward.kind === 'float';
  return isOfNumber && (type.kind === 'decimal' || type.kind === 'bigint') ? outcome : INVALID_VALUE;
}
