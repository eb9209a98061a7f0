import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { DataType } from '../../../core/schema/data-type.js';
import { dialectFamily } from '../dialect-family.js';

/** The value type of a column, or the name of a database type that has no place in the interface; `isArray` where TypeORM does not write arrays of it. */
export type ColumnDataType =
  { readonly type: DataType } | { readonly unsupported: string; readonly isArray?: true };

const SAFE = { kind: 'integer', min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER } as const;
const BIGINT = { kind: 'bigint', min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;

/** Bytes of the integer types that JSON numbers hold exactly. */
const INTEGER_BITS: Readonly<Record<string, number>> = {
  tinyint: 8,
  smallint: 16,
  int2: 16,
  mediumint: 24,
  int: 32,
  integer: 32,
  int4: 32,
};

/** Bytes that a text or a blob of MySQL's and MariaDB's holds; where none stands, more than any body. */
const CONTENT_BYTES: Readonly<Record<string, number>> = {
  tinytext: 255,
  text: 65_535,
  tinyblob: 255,
  blob: 65_535,
};

export function dataTypeOf(column: ColumnMetadata, dataSource: DataSource): ColumnDataType {
  return column.isArray ? arrayType(column, dataSource) : scalarType(column, dataSource);
}

/** PostgreSQL has arrays, but none of TypeORM's own kinds of text; elsewhere TypeORM keeps those of a `simple-enum` on SQLite, as one text. */
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

/** TypeORM 0.3 makes no array of what stands there, and its tables refuse more than one value. */
function isReadAsArray(column: ColumnMetadata, { driver }: DataSource): boolean {
  const plain = Object.create(column, { transformer: { value: undefined } }) as ColumnMetadata;
  return Array.isArray(driver.prepareHydratedValue('', plain));
}

function scalarType(column: ColumnMetadata, dataSource: DataSource): ColumnDataType {
  // TypeScript says a type where the decorator was given one: what is left has none, as a `@ViewColumn`.
  if ((column.type as unknown) === undefined) return untypedColumn(column, dataSource);
  if (column.type === 'simple-array')
    return described({ kind: 'list', of: { kind: 'string', trim: false }, storage: 'text' });
  if (column.type === 'simple-json') return described({ kind: 'json' });
  if (column.generationStrategy === 'uuid' || column.type === 'uuid') return described({ kind: 'uuid' });
  if (column.enum && column.enum.length > 0) {
    return column.type === 'set'
      ? described({ kind: 'set', values: column.enum.map(String) })
      : described({ kind: 'enum', values: column.enum });
  }
  if (isBoolean(column)) return described({ kind: 'boolean' });
  return byDatabaseType(dataSource.driver.normalizeType(column).toLowerCase(), column, dataSource);
}

/** By the type of the property. An instant needs the column's own on PostgreSQL, which has two of them. */
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

function isBoolean(column: ColumnMetadata): boolean {
  return column.type === Boolean || column.type === 'boolean' || column.type === 'bool';
}

function byDatabaseType(name: string, column: ColumnMetadata, dataSource: DataSource): ColumnDataType {
  const family = dialectFamily(dataSource);
  const bits = INTEGER_BITS[name];
  if (bits !== undefined) return described(family === 'sqlite' ? SAFE : integerOf(bits, column.unsigned));
  const unsigned = column.unsigned ? { unsigned: true } : {};
  switch (name) {
    case 'year':
      return described({ kind: 'integer', min: 1901, max: 2155 });
    case 'bigint':
    case 'int8':
    case 'unsigned big int':
      return described(column.unsigned ? { kind: 'bigint', min: 0n, max: 2n ** 64n - 1n } : BIGINT);
    case 'decimal':
    case 'numeric':
      return described(decimalOf(column, family));
    case 'float':
      return described(family === 'mysql' ? { kind: 'float', single: true, ...unsigned } : { kind: 'float' });
    case 'real':
      return described(family === 'postgres' ? { kind: 'float', single: true } : { kind: 'float' });
    case 'double':
    case 'double precision':
      return described({ kind: 'float', ...unsigned });
    case 'char':
    case 'character':
    case 'nchar':
      // Blanks behind the text are the column's own, and belong to no value.
      return described({ kind: 'string', trim: true, loose: true, ...lengthOf(column, dataSource) });
    case 'citext':
      return described({ kind: 'string', trim: true, loose: true });
    case 'varchar':
    case 'character varying':
    case 'varying character':
    case 'native character':
    case 'nvarchar':
    case 'text':
    case 'tinytext':
    case 'mediumtext':
    case 'longtext':
    case 'clob':
      return described({
        kind: 'string',
        trim: true,
        ...looseness(column, family),
        ...lengthOf(column, dataSource),
        ...contentBytes(name, column, family),
      });
    case 'date':
      return described({ kind: 'date' });
    case 'time':
    case 'time without time zone':
      return described({ kind: 'time', digits: column.precision ?? (family === 'mysql' ? 0 : 6) });
    case 'datetime':
    case 'timestamp':
    case 'timestamp without time zone':
    case 'timestamp with time zone':
      return described({
        kind: 'datetime',
        ...fractionDigits(column, family),
        zoned: name.endsWith('with time zone'),
      });
    case 'interval':
      return described({ kind: 'interval', digits: column.precision ?? 6 });
    case 'json':
      return described({ kind: 'json' });
    case 'jsonb':
      return described(family === 'sqlite' ? { kind: 'json', packed: true } : { kind: 'json' });
    case 'binary': {
      // Shorter values would come back with zeros behind them.
      const { maxLength: length = 1 } = lengthOf(column, dataSource);
      return described({ kind: 'binary', minLength: length, maxLength: length });
    }
    case 'blob':
    case 'tinyblob':
    case 'mediumblob':
    case 'longblob':
    case 'varbinary':
    case 'bytea': {
      const bytes = family === 'mysql' ? CONTENT_BYTES[name] : undefined;
      return described({
        kind: 'binary',
        ...(bytes === undefined ? {} : { maxLength: bytes }),
        ...lengthOf(column, dataSource),
      });
    }
    default:
      return { unsupported: name };
  }
}

function integerOf(bits: number, unsigned: boolean): DataType {
  return unsigned
    ? { kind: 'integer', min: 0, max: 2 ** bits - 1 }
    : { kind: 'integer', min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 };
}

/** MySQL and MariaDB keep `decimal` as `decimal(10,0)`; SQLite keeps no limits, and none are made up. */
function decimalOf(column: ColumnMetadata, family: string): DataType {
  const precision = column.precision ?? (family === 'mysql' ? 10 : undefined);
  const scale = column.scale ?? (family === 'mysql' ? 0 : undefined);
  return {
    kind: 'decimal',
    ...(column.unsigned ? { unsigned: true } : {}),
    ...(precision === undefined ? {} : { precision }),
    ...(scale === undefined ? {} : { scale }),
    ...(family === 'sqlite' ? { exact: 15 } : {}),
  };
}

/** A collation of the column's own may take one text for another. */
function looseness(column: ColumnMetadata, family: string): { loose?: boolean } {
  return family === 'postgres' && column.collation ? { loose: true } : {};
}

/** Of UTF-8: other character sets need other numbers of bytes, and are left to the database. */
function contentBytes(name: string, column: ColumnMetadata, family: string): { maxBytes?: number } {
  const bytes =
    family === 'mysql' && /^(utf8|$)/i.test(column.charset ?? '') ? CONTENT_BYTES[name] : undefined;
  return bytes === undefined ? {} : { maxBytes: bytes };
}

function lengthOf(column: ColumnMetadata, dataSource: DataSource): { maxLength?: number } {
  const length = Number(
    column.length || (dialectFamily(dataSource) === 'mysql' ? dataSource.driver.getColumnLength(column) : ''),
  );
  return Number.isInteger(length) && length > 0 ? { maxLength: length } : {};
}

/** Contract 2: max(3, the column's precision); SQLite keeps 3. Fewer are cut here, for some databases would round them up. */
function fractionDigits(column: ColumnMetadata, family: string): { digits: number; kept?: number } {
  const kept = family === 'sqlite' ? 3 : Math.min(6, column.precision ?? (family === 'postgres' ? 6 : 0));
  return kept < 3 ? { digits: 3, kept } : { digits: kept };
}
