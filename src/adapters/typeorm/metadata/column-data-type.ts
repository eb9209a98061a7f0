import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { DataType } from '../../../core/schema/data-type.js';
import { dialectFamily } from '../data-source-dialect.js';
import type { DialectFamily } from '../data-source-dialect.js';

/**
 * The data type of a column, or the name of a database type that is not supported. `isArray`: it is an array of a type of
 * which TypeORM does not write arrays.
 */
export type ColumnDataType =
  { readonly type: DataType } | { readonly unsupported: string; readonly isArray?: true };

export function dataTypeOf(column: ColumnMetadata, dataSource: DataSource): ColumnDataType {
  return column.isArray ? arrayType(column, dataSource) : scalarType(column, dataSource);
}

/** Arrays are supported on PostgreSQL, except of types that TypeORM serializes to text; and on SQLite for `simple-enum`, as one text. */
function arrayType(column: ColumnMetadata, dataSource: DataSource): ColumnDataType {
  const family = dialectFamily(dataSource);
  const of = scalarType(column, dataSource);
  if (!('type' in of)) return { unsupported: `${of.unsupported}[]` };
  if (family === 'sqlite' && column.type === 'simple-enum' && isReadAsArray(column, dataSource))
    return described({ kind: 'list', of: of.type, storage: 'text' });
  return family === 'postgres' && column.type !== 'simple-array' && column.type !== 'simple-json'
    ? described({ kind: 'list', of: of.type, storage: 'array' })
    : { unsupported: String(column.type), isArray: true };
}

/** False for TypeORM 0.3, which does not convert the text to an array, and whose CHECK constraint rejects several values. */
function isReadAsArray(column: ColumnMetadata, { driver }: DataSource): boolean {
  const plain = Object.create(column, { transformer: { value: undefined } }) as ColumnMetadata;
  return Array.isArray(driver.prepareHydratedValue('', plain));
}

function scalarType(column: ColumnMetadata, dataSource: DataSource): ColumnDataType {
  // Declared as never undefined, but a `@ViewColumn` has no type.
  if ((column.type as unknown) === undefined) return untypedColumn(column, dataSource);
  if (column.type === 'simple-array')
    return described({ kind: 'list', of: { kind: 'string', trim: false }, storage: 'text' });
  if (column.type === 'simple-json') return described(textOfJson(dialectFamily(dataSource)));
  if (column.generationStrategy === 'uuid' || column.type === 'uuid') return described({ kind: 'uuid' });
  if (column.enum && column.enum.length > 0) {
    return column.type === 'set'
      ? described({ kind: 'set', values: column.enum.map(String) })
      : described({ kind: 'enum', values: column.enum });
  }
  const name = dataSource.driver.normalizeType(column).toLowerCase();
  if (isBoolean(column) || isStoredAsNumber(name, column, dataSource)) return described({ kind: 'boolean' });
  const type = TYPE_RULES.get(name)?.({ name, column, dataSource, family: dialectFamily(dataSource) });
  return type ? described(type) : { unsupported: name };
}

/** The type of a column by that of its property. PostgreSQL has two types for a Date, which differ in their time zone. */
function untypedColumn(column: ColumnMetadata, dataSource: DataSource): ColumnDataType {
  const design =
    typeof column.target === 'function'
      ? (Reflect.getMetadata(
          'design:type',
          column.target.prototype as object,
          column.propertyName,
        ) as unknown)
      : undefined;
  const family = dialectFamily(dataSource);
  switch (design) {
    case String:
      return described({ kind: 'string', trim: true });
    case Number:
      return described({ kind: 'float' });
    case Boolean:
      return described({ kind: 'boolean' });
    case Date:
      return family === 'postgres'
        ? { unsupported: '' }
        : described({ kind: 'datetime', digits: family === 'sqlite' ? 3 : 6, zoned: false });
    default:
      return { unsupported: '' };
  }
}

function described(type: DataType): ColumnDataType {
  return { type };
}

/** Of a `boolean` property, in the types that MariaDB and MySQL have for it. A transformer decides what a number means. */
function isStoredAsNumber(name: string, column: ColumnMetadata, dataSource: DataSource): boolean {
  if (dialectFamily(dataSource) !== 'mysql' || designType(column) !== Boolean) return false;
  // TypeORM 1 has no width.
  const { width = 1 } = column as { readonly width?: number };
  return name === 'tinyint' ? column.transformer === undefined : name === 'bit' && width === 1;
}

function isBoolean(column: ColumnMetadata): boolean {
  return column.type === Boolean || column.type === 'boolean' || column.type === 'bool';
}

/** The TypeScript type of a property, if `emitDecoratorMetadata` has recorded it. */
export function designType(metadata: ColumnMetadata): unknown {
  if (typeof metadata.target !== 'function') return undefined;
  const owner = metadata.embeddedMetadata
    ? (metadata.embeddedMetadata.type as { prototype?: object }).prototype
    : (metadata.target.prototype as object);
  return owner ? Reflect.getMetadata('design:type', owner, metadata.propertyName) : undefined;
}

/** A column, and its database type in lower case. */
interface TypedColumn {
  readonly name: string;
  readonly column: ColumnMetadata;
  readonly dataSource: DataSource;
  readonly family: DialectFamily;
}

type TypeRule = (typed: TypedColumn) => DataType;

const ANY_INTEGER = {
  kind: 'integer',
  min: Number.MIN_SAFE_INTEGER,
  max: Number.MAX_SAFE_INTEGER,
} as const;
const SIGNED_BIGINT = { kind: 'bigint', min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;
const UNSIGNED_BIGINT = { kind: 'bigint', min: 0n, max: 2n ** 64n - 1n } as const;

/** The maximum length in bytes of text and blob columns of MySQL and MariaDB; the other types hold more than any body. */
const CONTENT_BYTES: ReadonlyMap<string, number> = new Map([
  ['tinytext', 255],
  ['text', 65_535],
  ['tinyblob', 255],
  ['blob', 65_535],
]);

function integerType(bits: number): TypeRule {
  return ({ column, family }) => {
    if (family === 'sqlite') return ANY_INTEGER;
    return column.unsigned
      ? { kind: 'integer', min: 0, max: 2 ** bits - 1 }
      : { kind: 'integer', min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 };
  };
}

function bigintType({ column }: TypedColumn): DataType {
  return column.unsigned ? UNSIGNED_BIGINT : SIGNED_BIGINT;
}

/** MySQL and MariaDB store `decimal` as `decimal(10,0)`; SQLite does not enforce precision and scale. */
function decimalType({ column, family }: TypedColumn): DataType {
  const precision = column.precision ?? (family === 'mysql' ? 10 : undefined);
  const scale = column.scale ?? (family === 'mysql' ? 0 : undefined);
  return {
    kind: 'decimal',
    ...unsignedness(column),
    ...(precision === undefined ? {} : { precision }),
    ...(scale === undefined ? {} : { scale }),
    ...(family === 'sqlite' ? { exact: 15 } : {}),
  };
}

function floatType({ column, family }: TypedColumn): DataType {
  return family === 'mysql' ? { kind: 'float', single: true, ...unsignedness(column) } : { kind: 'float' };
}

function realType({ family }: TypedColumn): DataType {
  return family === 'postgres' ? { kind: 'float', single: true } : { kind: 'float' };
}

function doubleType({ column }: TypedColumn): DataType {
  return { kind: 'float', ...unsignedness(column) };
}

function unsignedness(column: ColumnMetadata): { unsigned?: boolean } {
  return column.unsigned ? { unsigned: true } : {};
}

/** Trailing blanks are padding, and not part of the value. */
function fixedLengthTextType(typed: TypedColumn): DataType {
  const length = lengthOf(typed);
  const padding =
    typed.family === 'postgres'
      ? ({ cast: `character(${length.maxLength ?? 1})`, padded: true } as const)
      : {};
  return { kind: 'string', trim: true, loose: true, ...length, ...padding };
}

function textType(typed: TypedColumn): DataType {
  return { kind: 'string', trim: true, ...inexactEquality(typed), ...lengthOf(typed), ...maxBytesOf(typed) };
}

/** A collation declared on the column may compare different texts as equal. */
function inexactEquality({ column, family }: TypedColumn): { loose?: boolean } {
  return family === 'postgres' && column.collation ? { loose: true } : {};
}

/** In UTF-8. For other character sets, the limit in bytes is left to the database. */
function maxBytesOf({ name, column, family }: TypedColumn): { maxBytes?: number } {
  const bytes =
    family === 'mysql' && /^(utf8|$)/i.test(column.charset ?? '') ? CONTENT_BYTES.get(name) : undefined;
  return bytes === undefined ? {} : { maxBytes: bytes };
}

function lengthOf({ column, dataSource, family }: TypedColumn): { maxLength?: number } {
  const length = Number(
    column.length || (family === 'mysql' ? dataSource.driver.getColumnLength(column) : ''),
  );
  return Number.isInteger(length) && length > 0 ? { maxLength: length } : {};
}

/** PostgreSQL stores the text as it was written, with numbers and escapes that only `jsonb` checks. */
function textOfJson(family: DialectFamily): DataType {
  return family === 'postgres' ? { kind: 'json', unsearchable: true } : { kind: 'json' };
}

function timeType({ column, family }: TypedColumn): DataType {
  return { kind: 'time', digits: column.precision ?? (family === 'mysql' ? 0 : 6) };
}

/**
 * The fraction has the precision of the column, at least 3 digits (contract 2); SQLite stores 3. Values are truncated to
 * the precision of the column before they are written, because some databases would round them up.
 */
function datetimeType({ name, column, family }: TypedColumn): DataType {
  const stored = family === 'sqlite' ? 3 : Math.min(6, column.precision ?? (family === 'postgres' ? 6 : 0));
  return {
    kind: 'datetime',
    ...(stored < 3 ? { digits: 3, kept: stored } : { digits: stored }),
    zoned: name.endsWith('with time zone'),
  };
}

/** The database pads shorter values with zero bytes, so only values of the full length are accepted. */
function fixedLengthBinaryType(typed: TypedColumn): DataType {
  const { maxLength = 1 } = lengthOf(typed);
  return { kind: 'binary', minLength: maxLength, maxLength };
}

function binaryType(typed: TypedColumn): DataType {
  const bytes = typed.family === 'mysql' ? CONTENT_BYTES.get(typed.name) : undefined;
  return { kind: 'binary', ...(bytes === undefined ? {} : { maxLength: bytes }), ...lengthOf(typed) };
}

const TYPE_RULES: ReadonlyMap<string, TypeRule> = new Map<string, TypeRule>([
  ['tinyint', integerType(8)],
  ['smallint', integerType(16)],
  ['int2', integerType(16)],
  ['mediumint', integerType(24)],
  ['int', integerType(32)],
  ['integer', integerType(32)],
  ['int4', integerType(32)],
  ['year', () => ({ kind: 'integer', min: 1901, max: 2155, orZero: true })],
  ['bigint', bigintType],
  ['int8', bigintType],
  ['unsigned big int', bigintType],
  ['decimal', decimalType],
  ['numeric', decimalType],
  ['float', floatType],
  ['real', realType],
  ['double', doubleType],
  ['double precision', doubleType],
  ['char', fixedLengthTextType],
  ['character', fixedLengthTextType],
  ['nchar', fixedLengthTextType],
  ['citext', () => ({ kind: 'string', trim: true, loose: true, cast: 'citext' })],
  ['varchar', textType],
  ['character varying', textType],
  ['varying character', textType],
  ['native character', textType],
  ['nvarchar', textType],
  ['text', textType],
  ['tinytext', textType],
  ['mediumtext', textType],
  ['longtext', textType],
  ['clob', textType],
  ['date', ({ column }) => ({ kind: 'date', ...(column.utc ? { utc: true } : {}) })],
  ['time', timeType],
  ['time without time zone', timeType],
  ['datetime', datetimeType],
  ['timestamp', datetimeType],
  ['timestamp without time zone', datetimeType],
  ['timestamp with time zone', datetimeType],
  ['interval', ({ column }) => ({ kind: 'interval', digits: column.precision ?? 6 })],
  // SQLite converts a text that is a number, unless the type of the column is a text.
  ['json', ({ family }) => (family === 'sqlite' ? { kind: 'json', numeric: true } : textOfJson(family))],
  ['jsonb', ({ family }) => (family === 'sqlite' ? { kind: 'json', packed: true } : { kind: 'json' })],
  ['binary', fixedLengthBinaryType],
  ['varbinary', binaryType],
  ['blob', binaryType],
  ['tinyblob', binaryType],
  ['mediumblob', binaryType],
  ['longblob', binaryType],
  ['bytea', binaryType],
]);
