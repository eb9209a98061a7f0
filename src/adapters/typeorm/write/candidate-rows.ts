import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { DatabaseUnavailable } from '../../../core/errors/http-exceptions.js';
import type { Column } from '../../../core/schema/column.js';
import type { Condition } from '../../../core/query/condition.js';
import { mayMatch, ownColumns } from '../../../core/query/may-match.js';
import type { ColumnValue } from '../../../core/query/plan.js';
import type { Resource } from '../../../core/schema/resource.js';
import { candidateStatement } from '../../../sql/candidate-query.js';
import type { CandidateRow, HeldValue } from '../../../sql/candidate-query.js';
import { listensTo } from './subscriber-events.js';
import type { WriterTools } from './row-writer.js';

/** What TypeORM writes into columns; undefined where nothing says a value. */
export type WrittenValues = ReadonlyMap<Column, unknown>;

interface NewRow {
  readonly where: Condition;
  /** Written behind TypeORM's own statement. */
  readonly exactly: readonly ColumnValue[];
  /** The application's hook runs when it is there. */
  readonly hooked: boolean;
}

interface ChangedRow {
  readonly where: Condition;
  readonly exactly: readonly ColumnValue[];
  /** Names the row. */
  readonly stored: Condition;
  readonly before: WrittenValues;
}

/** Tells of entities whose rows the database has refused whether the caller may have such rows at all. */
export class CandidateRows {
  constructor(
    private readonly resource: Resource,
    private readonly metadata: EntityMetadata,
    private readonly tools: WriterTools,
  ) {}

  /** Of the columns that the condition looks at. */
  writtenOf(entity: ObjectLiteral, where: Condition): WrittenValues {
    return new Map(
      this.columnsOf(where).map(({ column, metadata }) => [column, this.written(entity, metadata)]),
    );
  }

  mayStandNew(entity: ObjectLiteral, { where, exactly, hooked }: NewRow): Promise<boolean> {
    const held = new Map<Column, HeldValue>();
    const columns = new Set<string>();
    for (const { column, metadata } of this.columnsOf(where)) {
      const value = this.exactly(column, exactly) ?? this.heldByNew(this.written(entity, metadata), metadata);
      if (value) held.set(column, value);
      else columns.add(column.id);
    }
    return mayStand(
      { resource: this.resource, held },
      mayMatch(where, { columns, referring: hooked || this.isFollowed() }),
      this.tools,
    );
  }

  mayStandChanged(entity: ObjectLiteral, { where, exactly, stored, before }: ChangedRow): Promise<boolean> {
    const held = new Map<Column, HeldValue>();
    for (const { column, metadata } of this.columnsOf(where)) {
      const raw = this.written(entity, metadata);
      const changes = raw !== undefined && !isDeepStrictEqual(raw, before.get(column));
      held.set(
        column,
        this.exactly(column, exactly) ??
          (changes ? { kind: 'value', raw } : heldByChanged(this.defaultOf(metadata), metadata)),
      );
    }
    return mayStand({ resource: this.resource, held, stored }, where, this.tools);
  }

  /** Whether something of the application may make rows that refer to a new one. */
  private isFollowed(): boolean {
    const { subscribers } = this.dataSource;
    return (
      this.metadata.afterInsertListeners.length > 0 ||
      subscribers.some((each) => each.afterInsert !== undefined && listensTo(each, this.metadata))
    );
  }

  private exactly(column: Column, values: readonly ColumnValue[]): HeldValue | undefined {
    const given = values.find((each) => each.column.id === column.id);
    return (
      given && {
        kind: 'value',
        raw: given.value === null ? null : this.tools.dialect.encode(given.value, column.type),
      }
    );
  }

  /** Those of the table; where one that is made of others is looked at, all of them. */
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
    return value === undefined || typeof value === 'function'
      ? value
      : (this.driver.preparePersistentValue(value, column) as unknown);
  }

  /** As an INSERT of TypeORM's has it; undefined where the database makes a value of which nothing is known here. */
  private heldByNew(raw: unknown, column: ColumnMetadata): HeldValue | undefined {
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

/** As an UPDATE of TypeORM's has it. */
function heldByChanged(sql: string | undefined, { isUpdateDate, isVersion }: ColumnMetadata): HeldValue {
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

/** Whether the condition holds for a row that is not written. Asked in a session as writes have it, which says what is now. */
export async function mayStand(
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
    // What cannot be compared fits no grant.
    return false;
  }
}

/** Of a row whose values are all known. */
export function mayStandAs(
  values: readonly ColumnValue[],
  {
    resource,
    where,
    tools,
  }: { readonly resource: Resource; readonly where: Condition; readonly tools: WriterTools },
): Promise<boolean> {
  const held = new Map(
    values.map(({ column, value }): [Column, HeldValue] => [
      column,
      { kind: 'value', raw: value === null ? null : tools.dialect.encode(value, column.type) },
    ]),
  );
  return mayStand({ resource, held }, where, tools);
}
