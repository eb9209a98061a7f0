import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Column } from '../../../core/schema/column.js';
import type { DataKind, DataType, TypeOf } from '../../../core/schema/data-type.js';
import type { ValueComparison } from '../../../sql/dialects/dialect.js';
import { designType } from '../metadata/column-data-type.js';

/**
 * How `save` of TypeORM decides whether a column's value changes: by a comparison, or `always`, because the property and
 * the loaded value have different JavaScript types. Two nulls are equal in any case.
 */
export type ChangeDetection = ValueComparison | 'always';

/** Where columns are compared: TypeORM loads some values differently from PostgreSQL than from SQLite. */
export type ComparingDatabase = 'sqlite' | 'postgres';

/**
 * The detection that has the result of TypeORM's `SubjectChangedColumnsComputer`; undefined if there is no such SQL.
 * `metadatas`: of the column itself, and of the column that it refers to.
 */
export function changeDetection(
  { type }: Column,
  metadatas: readonly ColumnMetadata[],
  database: ComparingDatabase,
): ChangeDetection | undefined {
  const [first, ...others] = metadatas.map((metadata) => detectionOf(type, metadata, database));
  return others.every((other) => other === first) ? first : undefined;
}

/** The kinds whose values JavaScript and the database compare alike. */
const COMPARED_BY_VALUE: ReadonlySet<DataKind> = new Set(['integer', 'boolean', 'uuid', 'enum', 'binary']);

function detectionOf(
  type: DataType,
  metadata: ColumnMetadata,
  database: ComparingDatabase,
): ChangeDetection | undefined {
  if (COMPARED_BY_VALUE.has(type.kind)) return 'value';
  switch (type.kind) {
    case 'string':
      return valueUnless(type.loose === true);
    case 'float':
      return valueUnless(type.single === true);
    case 'date':
      return valueUnless(metadata.utc);
    case 'list':
      return valueUnless(type.storage === 'array');
    case 'datetime':
      return 'instant';
    case 'decimal':
      return decimalDetection(type, metadata, database);
    case 'bigint':
      return bigintDetection(metadata, database);
    case 'json':
      return jsonDetection(metadata, database);
    default:
      return undefined;
  }
}

/** `differs`: the database compares values otherwise, or converts them. */
function valueUnless(differs: boolean): ChangeDetection | undefined {
  return differs ? undefined : 'value';
}

/** The digits that a JavaScript number represents exactly. */
const EXACT_DIGITS = 15;

/** PostgreSQL's driver loads texts, SQLite's loads numbers. A property is a number if its class declares it. */
function decimalDetection(
  { precision }: TypeOf<'decimal'>,
  metadata: ColumnMetadata,
  database: ComparingDatabase,
): ChangeDetection | undefined {
  const isNumber = designType(metadata) === Number;
  if (database === 'sqlite') return isNumber ? 'value' : 'always';
  if (!isNumber) return 'text';
  // A number that is not exact stays a text.
  return precision !== undefined && precision <= EXACT_DIGITS ? 'always' : undefined;
}

/** As decimals; a property of type `number` is a text if it is not exact. */
function bigintDetection(metadata: ColumnMetadata, database: ComparingDatabase): ChangeDetection | undefined {
  const design = designType(metadata);
  if (design === Number) return undefined;
  return database === 'sqlite' || design === BigInt ? 'always' : 'text';
}

/** TypeORM compares `simple-json` as text, and other JSON in any order of keys, which SQLite cannot. */
function jsonDetection(metadata: ColumnMetadata, database: ComparingDatabase): ChangeDetection | undefined {
  if (metadata.type === 'simple-json') return 'json-text';
  if (database !== 'postgres') return undefined;
  return metadata.type === 'jsonb' ? 'jsonb' : 'json';
}

/** A column that TypeORM sets in each UPDATE that changes a value: the version, the date of the last update. */
export interface ComputedColumn {
  readonly columnId: string;
  /** The quoted name of the column. */
  readonly name: string;
  /** Its new value. */
  readonly sql: string;
}

/** The new value of a column, in the driver's form. */
export interface ColumnChange {
  readonly column: Column;
  readonly raw: unknown;
  readonly detection: ChangeDetection | undefined;
}

/** The changes of one UPDATE. */
export interface RowChanges {
  readonly changes: readonly ColumnChange[];
  /** Set only if a value changes. */
  readonly computed: readonly ComputedColumn[];
}
