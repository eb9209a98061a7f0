import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ColumnValue, FieldValues } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { DataType } from '../../../core/schema/data-type.js';
import { isJson } from '../../../core/schema/field.js';
import type { ColumnField, Field } from '../../../core/schema/field.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { toFieldValues } from '../../../core/values/duplicate-references.js';
import { hasExactNumbers, isParsedFrom, isSameJson } from '../../../core/values/exact-numbers.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { toProperty } from './property-values.js';
import type { WriterTools } from './row-writer.js';

/** Stored values by the ids of columns. */
export type StoredJsonValues = ReadonlyMap<string, Json>;

const NOTHING_STORED: StoredJsonValues = new Map();

/** Values of properties by the ids of columns. */
export type LoadedJson = ReadonlyMap<string, unknown>;

/** The JSON of a body, of the row, and of the entity that TypeORM has loaded. */
interface RepeatedJson {
  readonly values: FieldValues;
  readonly storedJson: StoredJsonValues;
  readonly loadedJson: LoadedJson;
}

/** The values of a body whose exact form TypeORM does not write. They are written by a separate statement after its own. */
export class PreciseValues {
  private constructor(
    private readonly resource: ResourceSchema,
    private readonly metadata: EntityMetadata,
    private readonly dialect: Dialect,
  ) {}

  /** Undefined if TypeORM writes every value of the resource's fields exactly. */
  static of(
    resource: ResourceSchema,
    { tables, dialect }: Pick<WriterTools, 'tables' | 'dialect'>,
  ): PreciseValues | undefined {
    return resource.fields.some((field) => mayBeHigherPrecision(field, dialect))
      ? new PreciseValues(resource, tables.of(resource).metadata, dialect)
      : undefined;
  }

  /** Those of a new row, except those that a listener has replaced. */
  ofCreated(entity: ObjectLiteral, values: FieldValues): readonly ColumnValue[] {
    return this.heldBy(
      entity,
      highPrecisionValues(values, this.resource, { change: false, loses: () => false }),
    );
  }

  /** Those of an update, except those that a listener has replaced, and JSON that is stored already. */
  ofUpdated(entity: ObjectLiteral, values: FieldValues, stored = NOTHING_STORED): readonly ColumnValue[] {
    const loses = (type: DataType, { id }: Column): boolean =>
      !this.dialect.loadsExactly(type) || hasExactNumbers(stored.get(id));
    const precise = highPrecisionValues(values, this.resource, { change: true, loses });
    return this.heldBy(
      entity,
      precise.filter(
        ({ column: { id, type }, value }) => type.kind !== 'json' || !isSameJson(stored.get(id), value),
      ),
    );
  }

  /** The columns of JSON that a body changes, whose stored values `ofUpdated` needs. */
  changedJson(values: FieldValues): readonly Column[] {
    return changedJson(values, this.resource.fields);
  }

  /** The JSON of these columns as TypeORM has loaded it. */
  loadedJson(entity: ObjectLiteral, columns: readonly Column[]): LoadedJson {
    return new Map(columns.map((column) => [column.id, this.columnOf(column)?.getEntityValue(entity)]));
  }

  /**
   * Puts loaded JSON back into an entity where the body repeats what is stored, so that TypeORM sees no change: what mysql2 has
   * loaded may have texts in place of the body's numbers.
   */
  keepLoadedJson(entity: ObjectLiteral, { values, storedJson, loadedJson }: RepeatedJson): void {
    for (const { column, value } of highPrecisionValues(values, this.resource, EVERY_VALUE)) {
      const loaded = loadedJson.get(column.id);
      if (
        column.type.kind === 'json' &&
        isSameJson(storedJson.get(column.id), value) &&
        isParsedFrom(value, loaded) &&
        this.stillHolds(entity, column, value)
      )
        this.columnOf(column)?.setEntityValue(entity, loaded);
    }
  }

  private columnOf({ id }: Column): EntityMetadata['columns'][number] | undefined {
    return this.metadata.columns.find(({ databaseName }) => databaseName === id);
  }

  private heldBy(entity: ObjectLiteral, values: readonly ColumnValue[]): readonly ColumnValue[] {
    return values.filter(({ column, value }) => this.stillHolds(entity, column, value));
  }

  private stillHolds(entity: ObjectLiteral, column: Column, value: Json): boolean {
    const found = this.columnOf(column);
    return (
      found !== undefined && stillMatches(found.getEntityValue(entity), toProperty(value, column.type, found))
    );
  }
}

/** Whether `highPrecisionValues` may contain a value of the field. */
function mayBeHigherPrecision(field: Field, dialect: Dialect): boolean {
  if (field.kind === 'embedded') return field.fields.some((inner) => mayBeHigherPrecision(inner, dialect));
  return field.kind === 'column' && isWrittenAsGiven(field) && mayLosePrecision(field.type, dialect);
}

/** The separate statement for exact values applies no transformer. */
function isWrittenAsGiven({ column }: ColumnField): boolean {
  return !column.transform;
}

function mayLosePrecision(type: DataType, dialect: Dialect): boolean {
  if (!dialect.loadsExactly(type) || type.kind === 'datetime' || type.kind === 'json') return true;
  return (
    type.kind === 'list' &&
    type.storage === 'array' &&
    type.of.kind !== 'json' &&
    mayLosePrecision(type.of, dialect)
  );
}

function changedJson(values: FieldValues, fields: readonly Field[]): readonly Column[] {
  return fields
    .filter(({ name }) => values.has(name))
    .flatMap((field) => {
      if (field.kind === 'embedded') return changedJson(toFieldValues(values.get(field.name)), field.fields);
      return field.kind === 'column' && isJson(field) ? [field.column] : [];
    });
}

/** How values are written: as an update of a stored row, and with which types the driver loads lossy values. */
interface WriteMode {
  readonly change: boolean;
  readonly loses: (type: DataType, column: Column) => boolean;
}

const EVERY_VALUE: WriteMode = { change: true, loses: () => true };

/**
 * The values of a body that TypeORM does not write exactly, including embedded ones: date-times with more digits than a
 * Date has, and JSON with numbers that JavaScript changes; in an update every value of a column with more digits, because
 * TypeORM compares milliseconds; and values that TypeORM may take for unchanged, because the driver has loaded a rounded value.
 */
export function highPrecisionValues(
  values: FieldValues,
  resource: ResourceSchema,
  mode: WriteMode,
): readonly ColumnValue[] {
  return [...values].flatMap(([name, value]) => {
    const field = resource.fieldsByName.get(name);
    return field ? highPrecisionValuesOf(field, value, mode) : [];
  });
}

function highPrecisionValuesOf(field: Field, value: unknown, mode: WriteMode): readonly ColumnValue[] {
  if (field.kind === 'embedded') {
    // An embedded object inside another one may be missing in the body.
    const inner = (value ?? {}) as Readonly<Record<string, unknown>>;
    return field.fields.flatMap((each) => highPrecisionValuesOf(each, inner[each.name], mode));
  }
  return field.kind === 'column' &&
    isWrittenAsGiven(field) &&
    isHigherPrecision(value as Json | undefined, field, mode)
    ? [{ column: field.column, value: value as Json }]
    : [];
}

/** The year after the last local time offset with seconds (Liberia, 1972). */
const STANDARD_ZONES = '1973';

function isHigherPrecision(
  value: Json | undefined,
  { type, column }: Pick<ColumnField, 'type' | 'column'>,
  mode: WriteMode,
): boolean {
  if (value === null || value === undefined) return false;
  if (mode.loses(type, column)) return true;
  switch (type.kind) {
    case 'json':
      return hasExactNumbers(value);
    case 'datetime':
      // Earlier local time offsets had seconds, which drivers omit from what they write.
      return (
        String(value) < STANDARD_ZONES ||
        (mode.change ? type.digits > 3 : /\.\d{3}\d*[1-9]\d*Z$/.test(String(value)))
      );
    case 'list':
      return (
        type.storage === 'array' &&
        type.of.kind !== 'json' &&
        (value as readonly Json[]).some((item) => isHigherPrecision(item, { type: type.of, column }, mode))
      );
    default:
      return false;
  }
}

/** Whether the property still has the assigned value. */
function stillMatches(property: unknown, put: unknown): boolean {
  if (property instanceof Date) return put instanceof Date && property.getTime() === put.getTime();
  if (!Array.isArray(property)) return property === put;
  return (
    Array.isArray(put) &&
    property.length === put.length &&
    property.every((item, index) => stillMatches(item, put[index]))
  );
}

interface ArrayColumn {
  readonly column: Column;
  readonly metadata: ColumnMetadata;
}

/**
 * The columns with arrays of JSON values, which are written after TypeORM's statement: TypeORM would serialize such an
 * array as one JSON text, which is not a PostgreSQL array.
 */
export class JsonArrays {
  private constructor(private readonly columns: readonly ArrayColumn[]) {}

  /** Undefined if the resource has no such column. */
  static of(resource: ResourceSchema, metadata: EntityMetadata): JsonArrays | undefined {
    const columns = [...resource.columns.values()].filter(isJsonArray).flatMap((column) => {
      const found = metadata.columns.find((each) => each.databaseName === column.id);
      return found ? [{ column, metadata: found }] : [];
    });
    return columns.length === 0 ? undefined : new JsonArrays(columns);
  }

  /**
   * Runs TypeORM's statement with placeholders for the entity's arrays (limited to `only` if given), and returns the
   * values that have to be written afterwards.
   */
  async withPlaceholders(
    entity: ObjectLiteral,
    write: () => Promise<void>,
    only?: ReadonlySet<string>,
  ): Promise<readonly ColumnValue[]> {
    const found = this.columns.flatMap(({ column, metadata }) => {
      const items: unknown = only?.has(column.id) === false ? undefined : metadata.getEntityValue(entity);
      return Array.isArray(items) ? [{ column, metadata, value: items as readonly Json[] }] : [];
    });
    for (const { metadata, value } of found) metadata.setEntityValue(entity, new ArrayPlaceholder(value));
    try {
      await write();
    } finally {
      for (const { metadata } of found) restoreArray(entity, metadata);
    }
    return found;
  }
}

function isJsonArray({ type, transform }: Column): boolean {
  return !transform?.outward && type.kind === 'list' && type.storage === 'array' && type.of.kind === 'json';
}

/** Serializes to `{}`, PostgreSQL's empty array. */
class ArrayPlaceholder {
  constructor(readonly items: readonly Json[]) {}

  toJSON(): object {
    return {};
  }
}

function restoreArray(entity: ObjectLiteral, metadata: ColumnMetadata): void {
  const now: unknown = metadata.getEntityValue(entity);
  if (now instanceof ArrayPlaceholder) metadata.setEntityValue(entity, now.items);
}
