import { randomUUID } from 'node:crypto';
import type { DataSource, EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { conjunction, equals } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { ColumnValue, CreatePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { isBySql } from '../../../execution/choose-write.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { decodeRecord, lockOf, readColumns, Scope, selectList } from '../../../sql/query-scope.js';
import type { Statement } from '../../../sql/statement.js';
import { labelStatement } from '../../../sql/statement.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import { changedColumns, insertedColumns } from './changed-columns.js';
import type { ChangedEntity, WrittenColumn } from './changed-columns.js';
import { assertExactKey } from './entity-values.js';
import type { DirectWriterRules } from './direct-writer-rules.js';
import type { WriterTools } from './row-writer.js';
import { sharesColumns } from './shared-columns.js';
import { StoredRows } from './stored-rows.js';

/** A row that is locked, and its entity as TypeORM would load it. */
export interface LockedRow {
  readonly key: readonly Json[];
  /** The values of the columns that were asked for. */
  readonly values: readonly Json[];
  readonly entity: ObjectLiteral;
  /** The same entity once more. */
  readonly copy: () => ObjectLiteral;
}

/** What one statement writes. */
interface EntityChange {
  readonly written: readonly WrittenColumn[];
  /** Values that the property does not hold exactly. They take precedence. */
  readonly precise: readonly ColumnValue[];
  /** Whether the version and the date of the last update change. */
  readonly isChanged: boolean;
}

/** The written row, if the statement has returned it. */
export interface WrittenRow {
  readonly row?: Row;
  /** The ids of the columns that may have changed. */
  readonly columns?: ReadonlySet<string>;
}

const NOTHING_WRITTEN: WrittenRow = {};

interface Transaction {
  readonly runner: QueryRunner;
}

/** Loads and writes the entities of rows by one statement each, where no listener, subscriber or cascade of TypeORM sees the write. */
export class EntityStatements {
  private readonly shapes: StatementCache;
  private readonly metadata: EntityMetadata;
  private readonly dataSource: DataSource;
  /** What TypeORM assigns to an entity that it has inserted. */
  private readonly returning: readonly ColumnMetadata[];

  private constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly parts: { readonly rules: DirectWriterRules; readonly rows: StoredRows },
  ) {
    this.shapes = new StatementCache(tools.dialect);
    const { metadata, dataSource } = tools.tables.of(resource);
    this.metadata = metadata;
    this.dataSource = dataSource;
    this.returning = metadata.getInsertionReturningColumns().filter(({ isVirtual }) => !isVirtual);
  }

  /** Undefined if only TypeORM can load or write the entities. */
  static of(
    resource: ResourceSchema,
    tools: WriterTools,
    rules: DirectWriterRules | undefined,
  ): EntityStatements | undefined {
    const { metadata } = tools.tables.of(resource);
    const rows = StoredRows.of(resource, tools);
    const { relations, relationIds } = metadata;
    // Of TypeORM 0.3 only.
    const { relationCounts = [] } = metadata as { readonly relationCounts?: readonly unknown[] };
    const isSimple =
      rules !== undefined &&
      rules.overlapping.size === 0 &&
      !sharesColumns(metadata) &&
      relations.every((each) => !each.isCascadeInsert && !each.isCascadeUpdate) &&
      relationIds.length + relationCounts.length === 0;
    return rows && isSimple ? new EntityStatements(resource, tools, { rules, rows }) : undefined;
  }

  /** Whether nothing sees the write of this plan but hooks of this package. */
  async suits(plan: CreatePlan | UpdatePlan): Promise<boolean> {
    const { rules } = this.parts;
    return rules[plan.kind] !== undefined && isBySql(await this.tools.choices.choose(plan));
  }

  /** Undefined if no row matches; `unreadable` if TypeORM has to load the entity. */
  async lock(
    where: Condition,
    columns: readonly Column[],
    { runner }: Transaction,
  ): Promise<LockedRow | 'unreadable' | undefined> {
    const { dialect, connections } = this.tools;
    const { identity } = this.resource;
    const [record] = await connections.records(runner, this.lockStatement(where, columns));
    if (!record) return undefined;
    const read = [...identity, ...columns];
    const decoded = decodeRecord(record, read, dialect);
    const key = decoded.slice(0, identity.length);
    const raw = record.slice(read.length);
    // Before a hook changes the objects that the driver has made.
    const kept = raw.map(copyOfValue);
    const entity = this.parts.rows.entityOf(raw, key);
    if (!entity) return 'unreadable';
    const copy = (): ObjectLiteral => this.parts.rows.entityOf(kept, key) ?? entity;
    return { key, values: decoded.slice(identity.length), entity, copy };
  }

  private lockStatement(where: Condition, columns: readonly Column[]): Statement {
    const { resource, parts, tools } = this;
    const kind = JSON.stringify(['lock', columns.map(({ id }) => id)]);
    return this.shapes.of(kind, [where], () => {
      const scope = Scope.begin(tools.dialect, tools.tables, resource);
      const read = readColumns([...resource.identity, ...columns], scope);
      const list = selectList([...read, ...parts.rows.columnsIn(scope.alias)]);
      const condition = compileWhere(where, scope);
      const from = scope.from();
      const sql = `SELECT ${list} FROM ${from} WHERE ${condition}${lockOf(scope, from)}`;
      return labelStatement({ sql, parameters: scope.parameters }, { operation: 'lock', resource }, [
        { resource, where },
      ]);
    });
  }

  /**
   * Writes what has changed in the entity of a locked row, and is `precise`. Undefined if TypeORM has to write it. `isTouched`: the version and
   * the date of the last update change in any case.
   */
  async update(
    changed: ChangedEntity,
    {
      key,
      precise,
      isTouched,
    }: {
      readonly key: readonly Json[];
      readonly precise: readonly ColumnValue[];
      readonly isTouched: boolean;
    },
    { runner }: Transaction,
  ): Promise<WrittenRow | undefined> {
    const written = changedColumns(changed, this.metadata, this.dataSource);
    if (!written) return undefined;
    const isChanged =
      isTouched || written.length > 0 || precise.some(({ column: { type } }) => type.kind === 'json');
    const { computed = [] } = this.parts.rules.update ?? {};
    if (written.length + precise.length + (isChanged ? computed.length : 0) === 0) return NOTHING_WRITTEN;
    const { dialect, connections, reader } = this.tools;
    const statement = this.updateStatement(key, { written, precise, isChanged });
    if (!dialect.returning) {
      const { affected } = await runner.query(statement.sql, [...statement.parameters], true);
      return affected === 1 ? NOTHING_WRITTEN : undefined;
    }
    const row = reader.rowOf(await connections.records(runner, statement));
    const ids = new Set([
      ...written.map(({ column }) => column.databaseName),
      ...precise.map(({ column }) => column.id),
      ...computed.map(({ columnId }) => columnId),
    ]);
    return row && { row, columns: ids };
  }

  private updateStatement(key: readonly Json[], change: EntityChange): Statement {
    const { resource, tools } = this;
    const { dialect } = tools;
    const where = conjunction(resource.identity.map((column, index) => equals(column, key[index] ?? null)));
    const { written, precise } = withoutRepeated(change);
    const computed = change.isChanged ? (this.parts.rules.update?.computed ?? []) : [];
    const values = [
      ...written.map(({ raw }) => raw),
      ...precise.map(({ column, value }) => (value === null ? null : dialect.encode(value, column.type))),
    ];
    const ids = [written.map(({ column }) => column.databaseName), precise.map(({ column }) => column.id)];
    return this.shapes.ofWrite(
      JSON.stringify(['update', ids, change.isChanged]),
      { written: values, conditions: [where] },
      () => {
        const scope = Scope.ofTable(dialect, tools.tables, resource);
        const { driver } = this.dataSource;
        const assigned = [
          ...written.map(
            ({ column, raw }) => `${driver.escape(column.databaseName)} = ${scope.bindRaw(raw)}`,
          ),
          ...precise.map(({ column }, index) => {
            const bound = scope.bindRaw(values[written.length + index]);
            // On MariaDB, a cast would cut off what a column refuses.
            return `${scope.table.name(column)} = ${dialect.returning ? dialect.parameter(bound, column.type) : bound}`;
          }),
          ...computed.map(({ name, sql }) => `${name} = ${sql}`),
        ];
        const condition = compileWhere(where, scope);
        const returning = dialect.returning ? ` RETURNING ${this.returned(scope)}` : '';
        const sql = `UPDATE ${scope.table.path} SET ${assigned.join(', ')} WHERE ${condition}${returning}`;
        return labelStatement({ sql, parameters: scope.parameters }, { operation: 'update', resource }, [
          { resource, where },
        ]);
      },
    );
  }

  /** Inserts an entity, and assigns what the database has made. Undefined if TypeORM has to insert it. */
  async insert(
    entity: ObjectLiteral,
    precise: readonly ColumnValue[],
    { runner }: Transaction,
  ): Promise<Row | undefined> {
    const given = insertedColumns(entity, this.metadata, this.dataSource);
    const { create, inserting } = this.parts.rules;
    if (!given || !create || (inserting.generatesForZero && this.hasKeyOfZero(given))) return undefined;
    const generated = create.generated.flatMap(({ id }): WrittenColumn[] => {
      const column = this.metadata.findColumnWithDatabaseName(id);
      const isGiven = given.some((each) => each.column === column);
      return column && !isGiven ? [{ column, raw: randomUUID() }] : [];
    });
    const { connections, reader, dialect } = this.tools;
    const statement = this.insertStatement(withoutRepeated({ written: [...given, ...generated], precise }));
    const records = await connections.records(runner, statement);
    const row = reader.rowOf(records);
    if (!row) return undefined;
    assertExactKey(row.key, this.resource);
    const [record = []] = records;
    const at = record.length - this.returning.length;
    for (const [index, column] of this.returning.entries()) {
      const raw = record[at + index];
      // As TypeORM: what an INSERT returns stays as the driver has read it.
      const value: unknown = dialect.oneConnection
        ? this.dataSource.driver.prepareHydratedValue(raw, column)
        : raw;
      column.setEntityValue(entity, value);
    }
    return row;
  }

  private hasKeyOfZero(given: readonly WrittenColumn[]): boolean {
    return given.some(({ column, raw }) => column.isPrimary && Number(raw) === 0);
  }

  private insertStatement({ written, precise }: Pick<EntityChange, 'written' | 'precise'>): Statement {
    const { resource, tools, parts } = this;
    const { dialect } = tools;
    const { inserting, create } = parts.rules;
    const values = [
      ...written.map(({ raw }) => raw),
      ...precise.map(({ column, value }) => (value === null ? null : dialect.encode(value, column.type))),
    ];
    const ids = [written.map(({ column }) => column.databaseName), precise.map(({ column }) => column.id)];
    return this.shapes.ofWrite(JSON.stringify(['insert', ids]), { written: values, conditions: [] }, () => {
      const scope = Scope.ofTable(dialect, tools.tables, resource);
      const { driver } = this.dataSource;
      const given = new Set(ids.flat());
      const defaults = (create?.defaults ?? []).filter(({ columnId }) => !given.has(columnId));
      const names = [...ids.flat().map((id) => driver.escape(id)), ...defaults.map(({ name }) => name)];
      const placed = [
        ...written.map(({ raw }) => scope.bindRaw(raw)),
        ...precise.map(({ column }, index) =>
          inserting.value(scope.bindRaw(values[written.length + index]), column.type),
        ),
        ...defaults.map(({ sql }) => sql),
      ];
      const rows =
        names.length === 0 ? inserting.noColumns : ` (${names.join(', ')}) VALUES (${placed.join(', ')})`;
      const returned = selectList([
        ...tools.reader.selection.expressions(scope),
        ...this.returning.map(({ databaseName }) => `${scope.alias}.${driver.escape(databaseName)}`),
      ]);
      const sql = `INSERT INTO ${scope.table.path}${rows} RETURNING ${returned}`;
      return labelStatement({ sql, parameters: scope.parameters }, { operation: 'create', resource }, []);
    });
  }

  private returned(scope: Scope): string {
    return selectList(this.tools.reader.selection.expressions(scope));
  }

  /** Assigns what an UPDATE has computed. */
  async readComputed(entity: ObjectLiteral, key: readonly Json[], { runner }: Transaction): Promise<boolean> {
    const columns = this.metadata.columns.filter(
      ({ isSelect, isVersion, isUpdateDate }) => isSelect && (isVersion || isUpdateDate),
    );
    if (columns.length === 0) return true;
    const where = conjunction(
      this.resource.identity.map((column, index) => equals(column, key[index] ?? null)),
    );
    const stored = await this.lock(where, [], { runner });
    if (!stored || stored === 'unreadable') return false;
    for (const column of columns) column.setEntityValue(entity, column.getEntityValue(stored.entity));
    return true;
  }
}

function copyOfValue(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null) return raw;
  if (raw instanceof Date) return new Date(raw);
  return Buffer.isBuffer(raw) ? Buffer.from(raw) : structuredClone(raw);
}

/** Without the columns of which the exact value is written. */
function withoutRepeated({
  written,
  precise,
}: Pick<EntityChange, 'written' | 'precise'>): Pick<EntityChange, 'written' | 'precise'> {
  if (precise.length === 0) return { written, precise };
  const exact = new Set(precise.map(({ column }) => column.id));
  return { written: written.filter(({ column }) => !exact.has(column.databaseName)), precise };
}
