import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { DataType } from '../../../core/schema/data-type.js';
import { dialectFamily } from '../data-source-dialect.js';
import type { DialectFamily } from '../data-source-dialect.js';

/** A column, and its database type in lower case. */
interface TypedColumn {
  readonly name: string;
  readonly column: ColumnMetadata;
  readonly dataSource: DataSource;
  readonly family: DialectFamily;
}

type TypeRule = (typed: TypedColumn) => DataType;

/** The data type of a column by the name of its database type; undefined if the type is not supported. */
export function dataTypeByName(
  name: string,
  column: ColumnMetadata,
  dataSource: DataSource,
): DataType | undefined {
  return TYPE_RULES.get(name)?.({ name, column, dataSource, family: dialectFamily(dataSource) });
}

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
  ['json', ({ family }) => (family === 'sqlite' ? { kind: 'json', numeric: true } : { kind: 'json' })],
  ['jsonb', ({ family }) => (family === 'sqlite' ? { kind: 'json', packed: true } : { kind: 'json' })],
  ['binary', fixedLengthBinaryType],
  ['varbinary', binaryType],
  ['blob', binaryType],
  ['tinyblob', binaryType],
  ['mediumblob', binaryType],
  ['longblob', binaryType],
  ['bytea', binaryType],
]);
