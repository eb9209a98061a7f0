import { QueryFailedError } from 'typeorm';
import type { EntityMetadata, QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { inSlices } from '../../../core/event-loop.js';
import { conjunction, equals } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { keyText } from '../../../core/values/keys.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { Scope, selectList } from '../../../sql/query-scope.js';
import { MAX_PARAMETERS } from '../../../sql/statement.js';
import type { Records, Statement } from '../../../sql/statement.js';
import { isKeptAsGiven } from './column-values.js';
import type { ColumnChange, ComputedColumn } from './change-detection.js';
import { differsFromStored } from './direct-statements.js';
import type { DirectStatements } from './direct-statements.js';
import { distinctKeys, NotInsertedTogether, References } from './insert-together.js';
import { anyOf, chunksOf } from './lock-together.js';
import type { Compare, Identity } from './lock-together.js';
import type { LockedChange, WriterTools } from './row-writer.js';

/** The maximum number of rows of a statement: a synchronous driver blocks the event loop. */
const MAX_ROWS = 100;

/** The name of the given values in a statement. */
const GIVEN = 'restify_given';

/** What is known of the columns of a table, asked once. */
interface TableColumns {
  /** Those that an order of changes may concern; undefined if each may be one. */
  readonly unique: ReadonlySet<string> | undefined;
  /** The types to which values are cast; undefined if they need none. */
  readonly types: ReadonlyMap<string, string> | undefined;
}

/** A row with its new values. */
interface Target {
  readonly identity: Identity;
  readonly changes: readonly ColumnChange[];
  readonly computed: readonly ComputedColumn[];
  readonly after: Condition;
}

/**
 * Changes many locked rows of a model by few statements. Databases change the rows of a statement in no defined order, so that no value changes
 * that has to be unique.
 */
export class UpdateTogether {
  private readonly metadata: EntityMetadata;
  private columns: Promise<TableColumns> | undefined;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly statements: DirectStatements,
  ) {
    this.metadata = tools.tables.of(resource).metadata;
  }

  async prepare(
    rows: readonly LockedChange[],
    runner: QueryRunner,
  ): Promise<(() => Promise<readonly Row[]>) | undefined> {
    if (rows.length < 2 || new Set(rows.map(({ identity }) => keyText(identity))).size < rows.length)
      return undefined;
    const columns = await this.columnsOf(runner);
    const targets = rows.flatMap((row) => this.targetOf(row, columns) ?? []);
    if (targets.length < rows.length) return undefined;
    const references = new References(this.tools, this.statements, runner);
    if (!(await references.arePermitted(distinctKeys(rows.map(({ row }) => row))))) return undefined;
    return () => this.updateAll(targets, columns, runner);
  }

  /** Undefined if the order of the changes may matter, or one statement for each row does more. */
  private targetOf(
    { row, identity, identifying }: LockedChange,
    { unique, types }: TableColumns,
  ): Target | undefined {
    const key = this.resource.identity;
    const isTyped = ({ id }: Column): boolean => types === undefined || types.has(id);
    const { computed } = row.changes;
    if (!key.every(isTyped)) return undefined;
    if (!this.tools.dialect.returning && key.length + computed.length > 1) return undefined;
    // The value by which the row was found is stored already, unless the database takes another text for equal.
    const changes = row.changes.changes.filter(
      ({ column }) => !identifying.has(column.id) || !isKeptAsGiven(column),
    );
    const isSuitable = ({ column }: ColumnChange): boolean =>
      (unique?.has(column.id) === false || identifying.has(column.id)) &&
      !key.some(({ id }) => id === column.id) &&
      isTyped(column) &&
      column.type.kind !== 'json';
    if (changes.length === 0 || !changes.every(isSuitable)) return undefined;
    return { identity, changes, computed, after: row.after };
  }

  private async updateAll(
    targets: readonly Target[],
    columns: TableColumns,
    runner: QueryRunner,
  ): Promise<readonly Row[]> {
    const byKey = new Map<string, Row>();
    try {
      for await (const rows of inSlices(this.slicesOf(targets)))
        for (const row of await this.update(rows, columns, runner)) byKey.set(keyText(row.key), row);
    } catch (error) {
      const found = this.tools.dialect.errorFor(error);
      if (isTemporary(found) || (!found && !(error instanceof QueryFailedError))) throw error;
      // A migration may have changed it.
      this.columns = undefined;
      throw new NotInsertedTogether('A row of a batch was rejected', { cause: error });
    }
    const rows = targets.flatMap(({ identity }) => byKey.get(keyText(identity)) ?? []);
    if (rows.length < targets.length) throw new NotInsertedTogether('A row of a batch was not changed');
    return rows;
  }

  /** The rows of each statement, which change the same columns. */
  private *slicesOf(targets: readonly Target[]): Generator<readonly Target[]> {
    const groups = new Map<string, Target[]>();
    for (const target of targets) {
      const shape = JSON.stringify(target.changes.map(({ column }) => column.id));
      const group = groups.get(shape);
      if (group) group.push(target);
      else groups.set(shape, [target]);
    }
    for (const group of groups.values()) {
      const width = 2 * ((group[0]?.changes.length ?? 0) + this.resource.identity.length);
      yield* chunksOf(group, Math.min(MAX_ROWS, Math.max(1, Math.floor(MAX_PARAMETERS / width))));
    }
  }

  private async update(
    rows: readonly Target[],
    columns: TableColumns,
    runner: QueryRunner,
  ): Promise<readonly Row[]> {
    const { dialect, connections } = this.tools;
    if (dialect.returning)
      return this.rowsOf(await connections.records(runner, this.updating(rows, columns)));
    const { sql, parameters } = this.updatingByCase(rows);
    await runner.query(sql, [...parameters], true);
    return this.rowsOf(await connections.records(runner, this.reading(rows)));
  }

  private rowsOf(records: Records): readonly Row[] {
    const { selection } = this.tools.reader;
    return records.map((record) => ({
      key: selection.readKey(record),
      values: selection.readValues(record),
    }));
  }

  /** UPDATE … FROM the given values, which returns the rows. */
  private updating(rows: readonly Target[], { types }: TableColumns): Statement {
    const { resource, tools } = this;
    const { dialect } = tools;
    const scope = Scope.ofTable(dialect, tools.tables, resource);
    const changes = rows[0]?.changes ?? [];
    const all = [...resource.identity, ...changes.map(({ column }) => column)];
    const typed = ({ id, type }: Column, raw: unknown): string => {
      const bound = scope.bindRaw(raw);
      const cast = types?.get(id);
      return cast === undefined ? dialect.parameter(bound, type) : `CAST(${bound} AS ${cast})`;
    };
    const values = rows.map(({ identity, changes: own }) => {
      const raw = [
        ...identity.map((value, at) => this.encoded(value, all[at])),
        ...own.map((each) => each.raw),
      ];
      return `(${all.map((column, at) => typed(column, raw[at])).join(', ')})`;
    });
    const given = (at: number): string => `${GIVEN}.v${at}`;
    const valueAt = (at: number): string => given(resource.identity.length + at);
    const assigned = changes.map(({ column }, at) => `${scope.table.name(column)} = ${valueAt(at)}`);
    const differs = changes.map((change, at) => differsFromStored(change, scope, valueAt(at))).join(' OR ');
    for (const { name, sql: value } of rows[0]?.computed ?? [])
      assigned.push(`${name} = CASE WHEN ${differs} THEN ${value} ELSE ${name} END`);
    const found = resource.identity.map((column, at) => `${scope.own(column)} = ${given(at)}`);
    const returned = selectList(tools.reader.selection.expressions(scope));
    const list = all.map((_, at) => `v${at}`).join(', ');
    const sql = `WITH ${GIVEN}(${list}) AS (VALUES ${values.join(', ')}) UPDATE ${scope.table.path} SET ${assigned.join(', ')} FROM ${GIVEN} WHERE ${found.join(' AND ')} RETURNING ${returned}`;
    return { sql, parameters: scope.parameters };
  }

  /** One UPDATE for a key of one column. The database converts the values as those of any other assignment. */
  private updatingByCase(rows: readonly Target[]): Statement {
    const { resource, tools } = this;
    const scope = Scope.ofTable(tools.dialect, tools.tables, resource);
    const [key] = resource.identity;
    if (!key) throw new Error(`${resource.id} has no key.`);
    const name = scope.table.name(key);
    const changes = rows[0]?.changes ?? [];
    const assigned = changes.map(({ column }, at) => {
      const cases = rows.map(
        ({ identity, changes: own }) =>
          `WHEN ${scope.bindRaw(this.encoded(identity[0] ?? null, key))} THEN ${scope.bindRaw(own[at]?.raw)}`,
      );
      return `${scope.table.name(column)} = CASE ${name} ${cases.join(' ')} END`;
    });
    const condition = compileWhere(this.anyOf(rows), scope);
    const sql = `UPDATE ${scope.table.path} SET ${assigned.join(', ')} WHERE ${condition} ORDER BY ${name} LIMIT ${rows.length}`;
    return { sql, parameters: scope.parameters };
  }

  /** The changed rows, of which the caller may have each. */
  private reading(rows: readonly Target[]): Statement {
    const { resource, tools } = this;
    const scope = Scope.begin(tools.dialect, tools.tables, resource);
    const list = selectList(tools.reader.selection.expressions(scope));
    const after = rows[0]?.after;
    const condition = compileWhere(conjunction([this.anyOf(rows), ...(after ? [after] : [])]), scope);
    return { sql: `SELECT ${list} FROM ${scope.from()} WHERE ${condition}`, parameters: scope.parameters };
  }

  private anyOf(rows: readonly Target[]): Condition {
    const { identity } = this.resource;
    const operands = identity.map((column) => ({ joinPath: [], column }));
    return anyOf(
      operands,
      rows.map((row) => identity.map((column, at) => equals(column, row.identity[at] ?? null) as Compare)),
    );
  }

  private encoded(value: Json, column: Column | undefined): unknown {
    return value === null || !column ? value : this.tools.dialect.encode(value, column.type);
  }

  private async columnsOf(runner: QueryRunner): Promise<TableColumns> {
    this.columns ??= this.readColumns(runner);
    try {
      return await this.columns;
    } catch (error) {
      this.columns = undefined;
      throw error;
    }
  }

  private async readColumns(runner: QueryRunner): Promise<TableColumns> {
    const { dialect, connections, tables } = this.tools;
    const { tableName: name, database } = this.metadata;
    const path = tables.pathOf(this.metadata);
    const names = await connections.records(runner, dialect.indexes.unique({ path, name, database }));
    const unique = names.some(([id]) => typeof id !== 'string')
      ? undefined
      : new Set(names.map(([id]) => String(id)));
    const statement = dialect.columnTypes?.(path);
    if (!statement) return { unique, types: undefined };
    const types = await connections.records(runner, statement);
    return {
      unique,
      types: new Map(types.flatMap(([id, type]) => (type ? [[String(id), String(type)]] : []))),
    };
  }
}
