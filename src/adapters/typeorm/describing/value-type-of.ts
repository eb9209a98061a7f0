import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ValueType } from '../../../model/value-type.js';
import { dialectFamily } from '../dialects/dialect-family.js';

/** The value type of a column, or the name of a database type that has no place in the interface. */
export type DescribedType = { readonly type: ValueType } | { readonly unsupported: string };

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
  year: 16,
};

export function valueTypeOf(column: ColumnMetadata, dataSource: DataSource): DescribedType {
  if (column.isArray) {
    const of = scalarType(column, dataSource);
    if (!('type' in of)) return of;
    // TypeORM writes the items of such an array as something else than JSON.
    return of.type.kind === 'json' ? { unsupported: `${String(column.type)}[]` } : { type: { kind: 'list', of: of.type, storage: 'array' } };
  }
  return scalarType(column, dataSource);
}

function scalarType(column: ColumnMetadata, dataSource: DataSource): DescribedType {
  // TypeScript says a type where the decorator was given one: what is left has none, as a `@ViewColumn`.
  if ((column.type as unknown) === undefined) return untypedColumn(column, dataSource);
  if (column.type === 'simple-array') return described({ kind: 'list', of: { kind: 'string', trim: false }, storage: 'text' });
  if (column.type === 'simple-json') return described({ kind: 'json' });
  if (column.generationStrategy === 'uuid' || column.type === 'uuid') return described({ kind: 'uuid' });
  if (column.enum && column.enum.length > 0) {
    return column.type === 'set' ? described({ kind: 'set', values: column.enum.map(String) }) : described({ kind: 'enum', values: column.enum });
  }
  if (isBoolean(column)) return described({ kind: 'boolean' });
  return byDatabaseType(dataSource.driver.normalizeType(column).toLowerCase(), column, dataSource);
}

/** By the type of the property. An instant needs the column's own on PostgreSQL, which has two of them. */
function untypedColumn(column: ColumnMetadata, dataSource: DataSource): DescribedType {
  const design = typeof column.target === 'function' ? (Reflect.getMetadata('design:type', column.target.prototype as object, column.propertyName) as unknown) : undefined;
  const family = dialectFamily(dataSource);
  switch (design) {
    case String:
      return described({ kind: 'string', trim: true });
    case Number:
      return described({ kind: 'float' });
    case Boolean:
      return described({ kind: 'boolean' });
    case Date:
      return family === 'postgres' ? { unsupported: '' } : described({ kind: 'datetime', digits: family === 'sqlite' ? 3 : 6, zoned: false });
    default:
      return { unsupported: '' };
  }
}

function described(type: ValueType): DescribedType {
  return { type };
}

function isBoolean(column: ColumnMetadata): boolean {
  return column.type === Boolean || column.type === 'boolean' || column.type === 'bool';
}

function byDatabaseType(name: string, column: ColumnMetadata, dataSource: DataSource): DescribedType {
  const family = dialectFamily(dataSource);
  const bits = INTEGER_BITS[name];
  if (bits !== undefined) return described(family === 'sqlite' ? SAFE : integerOf(bits, column.unsigned));
  switch (name) {
    case 'bigint':
    case 'int8':
    case 'unsigned big int':
      return described(column.unsigned ? { kind: 'bigint', min: 0n, max: 2n ** 64n - 1n } : BIGINT);
    case 'decimal':
    case 'numeric':
      return described(decimalOf(column, family));
    case 'float':
      return described(family === 'mysql' ? { kind: 'float', single: true } : { kind: 'float' });
    case 'real':
      return described(family === 'postgres' ? { kind: 'float', single: true } : { kind: 'float' });
    case 'double':
    case 'double precision':
      return described({ kind: 'float' });
    case 'char':
    case 'character':
    case 'nchar':
      // Blanks behind the text are the column's own, and belong to no value.
      return described({ kind: 'string', trim: true, padded: true, ...lengthOf(column, dataSource) });
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
    case 'citext':
      return described({ kind: 'string', trim: true, ...lengthOf(column, dataSource) });
    case 'date':
      return described({ kind: 'date' });
    case 'time':
    case 'time without time zone':
      return described({ kind: 'time', digits: column.precision ?? (family === 'mysql' ? 0 : 6) });
    case 'datetime':
    case 'timestamp':
    case 'timestamp without time zone':
    case 'timestamp with time zone':
      return described({ kind: 'datetime', digits: fractionDigits(column, family), zoned: name.endsWith('with time zone') });
    case 'interval':
      return described({ kind: 'interval' });
    case 'json':
    case 'jsonb':
      return described({ kind: 'json' });
    case 'blob':
    case 'tinyblob':
    case 'mediumblob':
    case 'longblob':
    case 'binary':
    case 'varbinary':
    case 'bytea':
      return described({ kind: 'binary', ...lengthOf(column, dataSource) });
    default:
      return { unsupported: name };
  }
}

function integerOf(bits: number, unsigned: boolean): ValueType {
  return unsigned ? { kind: 'integer', min: 0, max: 2 ** bits - 1 } : { kind: 'integer', min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 };
}

/** MySQL and MariaDB keep `decimal` as `decimal(10,0)`; SQLite keeps no limits, and none are made up. */
function decimalOf(column: ColumnMetadata, family: string): ValueType {
  const precision = column.precision ?? (family === 'mysql' ? 10 : undefined);
  const scale = column.scale ?? (family === 'mysql' ? 0 : undefined);
  return { kind: 'decimal', ...(precision === undefined ? {} : { precision }), ...(scale === undefined ? {} : { scale }), ...(family === 'sqlite' ? { exact: 15 } : {}) };
}

function lengthOf(column: ColumnMetadata, dataSource: DataSource): { maxLength?: number } {
  const length = Number(column.length || (dialectFamily(dataSource) === 'mysql' ? dataSource.driver.getColumnLength(column) : ''));
  return Number.isInteger(length) && length > 0 ? { maxLength: length } : {};
}

/** Contract 2: max(3, the column's precision); SQLite keeps 3. */
function fractionDigits(column: ColumnMetadata, family: string): number {
  if (family === 'sqlite') return 3;
  return Math.min(6, Math.max(3, column.precision ?? (family === 'postgres' ? 6 : 0)));
}
