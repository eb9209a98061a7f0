import type { DataSource } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { DataType } from '../../../core/schema/data-type.js';
import { dialectFamily } from '../data-source-dialect.js';
import { dataTypeByName } from './data-type-by-name.js';
import { designType } from './design-type.js';

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
  if (column.type === 'simple-json') return described({ kind: 'json' });
  if (column.generationStrategy === 'uuid' || column.type === 'uuid') return described({ kind: 'uuid' });
  if (column.enum && column.enum.length > 0) {
    return column.type === 'set'
      ? described({ kind: 'set', values: column.enum.map(String) })
      : described({ kind: 'enum', values: column.enum });
  }
  const name = dataSource.driver.normalizeType(column).toLowerCase();
  if (isBoolean(column) || isStoredAsNumber(name, column, dataSource)) return described({ kind: 'boolean' });
  const type = dataTypeByName(name, column, dataSource);
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
