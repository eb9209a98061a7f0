import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { Column } from '../../../core/schema/column.js';
import type { Condition } from '../../../core/query/condition.js';
import { mayMatch, ownColumns } from '../../../core/query/evaluate-condition.js';
import type { ColumnValue } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { candidateStatement } from '../../../sql/candidate-query.js';
import type { CandidateRow, CandidateValue } from '../../../sql/candidate-query.js';
import { failedConversion } from '../metadata/transformers.js';
import { listensTo } from '../metadata/listeners.js';
import type { WriterTools } from './row-writer.js';

/** The values that TypeORM writes into columns; undefined if no value is given. */
export type WrittenValues = ReadonlyMap<Column, unknown>;

interface NewRow {
  readonly where: Condition;
  /** Values written by a separate statement after TypeORM's. */
  readonly exactly: readonly ColumnValue[];
  /** Whether a hook of the application runs after the row has been inserted. */
  readonly hooked: boolean;
}

interface ChangedRow {
  readonly where: Condition;
  readonly exactly: readonly ColumnValue[];
  /** Identifies the row. */
  readonly stored: Condition;
  readonly before: WrittenValues;
}

/** An entity under update, and its previous values of the columns that the grant reads. */
export interface Changed {
  readonly entity: ObjectLiteral;
  readonly before: WrittenValues;
  readonly key: readonly Json[];
  /** The columns that relations share. */
  readonly decided: readonly ColumnValue[];
}

/** Checks whether the caller is permitted to have a row that the database has rejected. */
export class CandidateRows {
  constructor(
    private readonly resource: ResourceSchema,
    private readonly metadata: EntityMetadata,
    private readonly tools: WriterTools,
  ) {}

  /** The written values of the columns that the condition reads. */
  writtenOf(entity: ObjectLiteral, where: Condition): WrittenValues {
    return new Map(
      this.columnsOf(where).map(({ column, metadata }) => [column, this.written(entity, metadata)]),
    );
  }

  isNewRowPermitted(entity: ObjectLiteral, { where, exactly, hooked }: NewRow): Promise<boolean> {
    const values = new Map<Column, CandidateValue>();
    const columns = new Set<string>();
    for (const { column, metadata } of this.columnsOf(where)) {
      const value =
        this.exactly(column, exactly) ?? this.insertedValue(this.written(entity, metadata), metadata);
      if (value) values.set(column, value);
      else columns.add(column.id);
    }
    return isCandidatePermitted(
      { resource: this.resource, values },
      mayMatch(where, { columns, referring: hooked || this.hasAfterInsertHooks() }),
      this.tools,
    );
  }

  isChangedRowPermitted(
    entity: ObjectLiteral,
    { where, exactly, stored, before }: ChangedRow,
  ): Promise<boolean> {
    const values = new Map<Column, CandidateValue>();
    for (const { column, metadata } of this.columnsOf(where)) {
      const raw = this.written(entity, metadata);
      const changes = raw !== undefined && !isDeepStrictEqual(raw, before.get(column));
      values.set(
        column,
        this.exactly(column, exactly) ??
          (changes ? { kind: 'value', raw } : updatedValue(this.defaultOf(metadata), metadata)),
      );
    }
    return isCandidatePermitted({ resource: this.resource, values, stored }, where, this.tools);
  }

  /** Whether a hook or listener of the application may insert rows that refer to the new one. */
  private hasAfterInsertHooks(): boolean {
    const { subscribers } = this.dataSource;
    return (
      this.metadata.afterInsertListeners.length > 0 ||
      subscribers.some((each) => each.afterInsert !== undefined && listensTo(each, this.metadata))
    );
  }

  private exactly(column: Column, values: readonly ColumnValue[]): CandidateValue | undefined {
    const given = values.find((each) => each.column.id === column.id);
    return (
      given && {
        kind: 'value',
        raw: given.value === null ? null : this.tools.dialect.encode(given.value, column.type),
      }
    );
  }

  /** The columns that the condition reads; all columns of the table if it reads a virtual one. */
  private columnsOf(
    where: Condition,
  ): readonly { readonly column: Column; readonly metadata: ColumnMetadata }[] {
    const ids = new Set(ownColumns(where));
    if (ids.size === 0) return [];
    const all = this.metadata.columns.some((each) => each.isVirtualProperty && ids.has(each.databaseName));
    return this.metadata.columns.flatMap((metadata) => {
      const column = this.resource.columns.get(metadata.databaseName);
      return column && !metadata.isVirtualProperty && (all || ids.has(column.id))
        ? [{ column, metadata }]
        : [];
    });
  }

  private written(entity: ObjectLiteral, column: ColumnMetadata): unknown {
    const related: unknown = column.relationMetadata?.getEntityValue(entity);
    const value: unknown = isEntity(related)
      ? column.referencedColumn?.getEntityValue(related)
      : column.getEntityValue(entity);
    return value === undefined || typeof value === 'function' ? value : this.converted(value, column);
  }

  /** Undefined, as a value that is not written, if the transformer throws on it. */
  private converted(value: unknown, column: ColumnMetadata): unknown {
    try {
      return this.driver.preparePersistentValue(value, column) as unknown;
    } catch (error) {
      if (failedConversion(error)) return undefined;
      throw error;
    }
  }

  /** The value that TypeORM's INSERT writes; undefined if the database generates a value that is unknown here. */
  private insertedValue(raw: unknown, column: ColumnMetadata): CandidateValue | undefined {
    if (column.asExpression || typeof raw === 'function') return undefined;
    if (raw !== undefined) return { kind: 'value', raw };
    if (column.isDiscriminator) return { kind: 'value', raw: this.metadata.discriminatorValue ?? null };
    if (column.isVersion) return { kind: 'value', raw: 1 };
    if (column.isGenerated)
      return column.generationStrategy === 'uuid' ? { kind: 'value', raw: randomUUID() } : { kind: 'next' };
    const sql = this.defaultOf(column);
    if (sql !== undefined) return { kind: 'default', sql };
    return column.isNullable ? { kind: 'value', raw: null } : undefined;
  }

  private defaultOf(column: ColumnMetadata): string | undefined {
    return column.default === undefined || column.default === null
      ? undefined
      : this.driver.normalizeDefault(column);
  }

  private get driver(): DataSource['driver'] {
    return this.dataSource.driver;
  }

  private get dataSource(): DataSource {
    return this.tools.tables.of(this.resource).dataSource;
  }
}

/** The value that TypeORM's UPDATE writes. */
function updatedValue(sql: string | undefined, { isUpdateDate, isVersion }: ColumnMetadata): CandidateValue {
  if (isVersion) return { kind: 'counted' };
  return isUpdateDate && sql !== undefined ? { kind: 'default', sql } : { kind: 'stored' };
}

function isEntity(value: unknown): value is ObjectLiteral {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !(value instanceof Uint8Array)
  );
}

/**
 * Whether the condition holds for a row that is not stored. Runs in a session prepared for writes, so that the current
 * time is evaluated as in the write.
 */
async function isCandidatePermitted(
  row: CandidateRow,
  where: Condition,
  { connections, dialect, tables }: Pick<WriterTools, 'connections' | 'dialect' | 'tables'>,
): Promise<boolean> {
  if (where.kind === 'always' || where.kind === 'never') return where.kind === 'always';
  const statement = candidateStatement(row, where, { dialect, tables });
  try {
    const records = await connections.transact((runner) => connections.records(runner, statement));
    return records.length > 0;
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    // Values that cannot be compared satisfy no grant.
    return false;
  }
}

/** Whether a condition holds for a row whose values are all known. */
export function areValuesPermitted(
  values: readonly ColumnValue[],
  {
    resource,
    where,
    tools,
  }: { readonly resource: ResourceSchema; readonly where: Condition; readonly tools: WriterTools },
): Promise<boolean> {
  const candidate = new Map(
    values.map(({ column, value }): [Column, CandidateValue] => [
      column,
      { kind: 'value', raw: value === null ? null : tools.dialect.encode(value, column.type) },
    ]),
  );
  return isCandidatePermitted({ resource, values: candidate }, where, tools);
}
