import { isDeepStrictEqual } from 'node:util';
import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import { dialectFamily } from '../data-source-dialect.js';
import type { LoadedRelation } from './loaded-entities.js';

/** What TypeORM would bind for a column. */
export interface WrittenColumn {
  readonly column: ColumnMetadata;
  readonly raw: unknown;
}

/** An entity before it is written. */
export interface ChangedEntity {
  readonly entity: ObjectLiteral;
  /** The same row as it was loaded. */
  readonly stored: ObjectLiteral;
  /** The relations that a save leaves out. */
  readonly unchanged: readonly LoadedRelation[];
}

/**
 * The columns that `save` of TypeORM would find changed, as its `SubjectChangedColumnsComputer` does. Undefined if TypeORM has to write: it
 * would write other rows, too, or compares values by rules that are not those here.
 */
export function changedColumns(
  { entity, stored, unchanged }: ChangedEntity,
  metadata: EntityMetadata,
  dataSource: DataSource,
): readonly WrittenColumn[] | undefined {
  const changed = new Set<ColumnMetadata>();
  for (const column of metadata.columns) {
    const differs = column.isVirtual ? false : columnDiffers(column, entity, stored);
    if (differs === undefined) return undefined;
    if (differs) changed.add(column);
  }
  for (const relation of metadata.relations) {
    const value: unknown = relation.getEntityValue(entity);
    if (value === undefined || unchanged.some((each) => each.relation === relation && each.value === value))
      continue;
    if (!relation.isWithJoinColumn) return undefined;
    const differs = relationDiffers(relation, value, { entity, stored });
    if (differs === undefined) return undefined;
    if (differs) for (const column of relation.joinColumns) changed.add(column);
  }
  const written: WrittenColumn[] = [];
  const names = new Map<string, unknown>();
  for (const column of changed) {
    const own = isWritable(column) ? writtenColumn(column, entity, dataSource) : undefined;
    if (!own) return undefined;
    // A column of two properties, which a hook may have given different values.
    if (names.has(column.databaseName) && names.get(column.databaseName) !== own.raw) return undefined;
    if (!names.has(column.databaseName)) written.push(own);
    names.set(column.databaseName, own.raw);
  }
  return written;
}

/** The columns of a new row that have a value. Undefined if TypeORM has to write one of them. */
export function insertedColumns(
  entity: ObjectLiteral,
  metadata: EntityMetadata,
  dataSource: DataSource,
): readonly WrittenColumn[] | undefined {
  const written: WrittenColumn[] = [];
  for (const column of metadata.columns) {
    if (!column.isInsert) continue;
    if (column.getEntityValue(entity) === undefined) continue;
    const own = column.isArray ? undefined : writtenColumn(column, entity, dataSource);
    if (!own) return undefined;
    written.push(own);
  }
  return written;
}

/** Undefined if TypeORM has to write the value. */
function writtenColumn(
  column: ColumnMetadata,
  entity: ObjectLiteral,
  dataSource: DataSource,
): WrittenColumn | undefined {
  const value: unknown = column.getEntityValue(entity);
  if (!isStorable(value)) return undefined;
  const raw: unknown = dataSource.driver.preparePersistentValue(value, column);
  return isBoundAlike(raw, column, dataSource) ? { column, raw } : undefined;
}

/** Those that TypeORM does not set by itself, and by which it does not find the row. */
function isWritable(column: ColumnMetadata): boolean {
  const { isPrimary, isVersion, isCreateDate, isUpdateDate, isDeleteDate, isUpdate } = column;
  return isUpdate && !isPrimary && !isVersion && !isCreateDate && !isUpdateDate && !isDeleteDate;
}

/** False for an expression of SQL, and for what a hook has deleted. */
function isStorable(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

/** The types of columns in which SQLite stores a number as the text of a float, or as it is bound. */
const NOT_NUMERIC = /char|clob|text|blob/i;

/** Whether a bound value is stored as TypeORM stores it, which writes numbers into statements for SQLite, and converts other values. */
function isBoundAlike(raw: unknown, column: ColumnMetadata, dataSource: DataSource): boolean {
  if (dialectFamily(dataSource) !== 'sqlite') return true;
  if (typeof raw === 'number')
    return Number.isFinite(raw) && !NOT_NUMERIC.test(dataSource.driver.normalizeType(column));
  return typeof raw !== 'boolean' && !(raw instanceof Date);
}

function columnDiffers(
  column: ColumnMetadata,
  entity: ObjectLiteral,
  stored: ObjectLiteral,
): boolean | undefined {
  const value: unknown = column.getEntityValue(entity);
  if (value === undefined) return false;
  const relation = column.relationMetadata;
  if (relation && column.propertyName === relation.propertyName) {
    const related: unknown = relation.getEntityValue(entity);
    if (related !== null && related !== undefined) return false;
  }
  return differ(column, value, column.getEntityValue(stored));
}

function relationDiffers(
  { joinColumns }: RelationMetadata,
  value: unknown,
  { entity, stored }: Pick<ChangedEntity, 'entity' | 'stored'>,
): boolean | undefined {
  let differs = false;
  for (const column of joinColumns) {
    const now: unknown = value === null ? null : column.getEntityValue(entity);
    // A related object without a key is a new one.
    if (now === undefined || !isKey(now)) return undefined;
    differs ||= differ(column, now, column.getEntityValue(stored) ?? null) !== false;
  }
  return differs;
}

function isKey(value: unknown): boolean {
  return typeof value !== 'object' || value === null || value instanceof Date;
}

/** The types whose values TypeORM compares as date-times. */
const INSTANTS: ReadonlySet<unknown> = new Set([
  'datetime',
  Date,
  'timestamp',
  'timestamp without time zone',
  'timestamp with time zone',
  'timestamptz',
]);

/** The types that TypeORM compares by their own texts. */
const OTHERS: ReadonlySet<unknown> = new Set([
  'time',
  'time with time zone',
  'time without time zone',
  'timetz',
  'datetime2',
  'timestamp with local time zone',
]);

/** Undefined if it is not known how TypeORM compares the values. */
function differ(column: ColumnMetadata, value: unknown, stored: unknown): boolean | undefined {
  const { type } = column;
  if (column.isArray) return isDeepStrictEqual(value, stored) ? false : undefined;
  if (value === null || stored === null || stored === undefined) return value !== stored;
  if (OTHERS.has(type)) return undefined;
  if (INSTANTS.has(type)) {
    const [now, before] = [instantOf(value), instantOf(stored)];
    return now === undefined || before === undefined ? undefined : now !== before;
  }
  switch (type) {
    case 'date':
      return dayOf(value) !== dayOf(stored);
    case 'json':
    case 'jsonb':
      return !isDeepStrictEqual(value, stored);
    case 'simple-array':
      return String(value) !== String(stored);
    case 'simple-enum':
      return String(value) !== String(stored);
    case 'simple-json':
      return JSON.stringify(value) !== JSON.stringify(stored);
    default:
      if (value instanceof Uint8Array && stored instanceof Uint8Array)
        return !isDeepStrictEqual(value, stored);
      return value !== stored;
  }
}

function instantOf(value: unknown): number | undefined {
  const time = value instanceof Date ? value.getTime() : new Date(String(value)).getTime();
  return Number.isNaN(time) ? undefined : time;
}

function dayOf(value: unknown): string {
  if (!(value instanceof Date)) return String(value);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${String(value.getFullYear()).padStart(4, '0')}-${two(value.getMonth() + 1)}-${two(value.getDate())}`;
}
