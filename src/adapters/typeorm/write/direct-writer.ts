import type { EntityMetadata, QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import { touches } from '../../../core/query/condition.js';
import { evaluateCondition } from '../../../core/query/evaluate-condition.js';
import type { ColumnValue, CreatePlan, DeletePlan, KeyCheck, UpdatePlan } from '../../../core/query/plan.js';
import type { Requester } from '../../../core/contracts/requester.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { selectList } from '../../../sql/select-columns.js';
import { Scope } from '../../../sql/query-scope.js';
import type { Records, Statement } from '../../../sql/statement.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import { columnsOf, isKeptAsGiven } from './column-values.js';
import type { KeyLookup } from './foreign-key-lookup.js';
import { DirectWriterTables } from './direct-writer-tables.js';
import type { DirectWriterRules } from './direct-writer-rules.js';
import type { RowWriter, WriterTools } from './row-writer.js';
import { prepared, preparedWithoutLock, writeWithin } from './write-step.js';
import type { PreparableWrite } from './write-step.js';

/**
 * Writes a row with a single statement that returns the stored row, for writes in which no code of the application
 * takes part. If the statement writes no row (a missing row, an unknown key, a value that the database rejects),
 * nothing has changed, and the general writer executes the write or reports the error.
 */
export class DirectWriter implements RowWriter {
  private readonly metadata: EntityMetadata;
  private readonly tables: DirectWriterTables;
  private readonly shapes: StatementCache;

  constructor(
    private readonly resource: Resource,
    private readonly tools: WriterTools,
    private readonly parts: { readonly general: RowWriter; readonly rules: DirectWriterRules },
  ) {
    this.metadata = tools.tables.of(resource).metadata;
    this.tables = DirectWriterTables.of(tools.tables.of(resource).dataSource);
    this.shapes = new StatementCache(tools.dialect);
  }

  create(plan: CreatePlan): MaybePromise<Row> {
    return mapMaybe(this.mayWrite(plan, 'create'), (may) => {
      const statement = may ? this.insertStatement(plan) : undefined;
      return statement
        ? mapMaybe(this.execute(statement, plan.requester), (row) => row ?? this.parts.general.create(plan))
        : this.parts.general.create(plan);
    });
  }

  update(plan: UpdatePlan): MaybePromise<Row | undefined> {
    return mapMaybe(!plan.expected && this.mayWrite(plan, 'update'), (may) => {
      const statement = may ? this.updateStatement(plan) : undefined;
      return statement
        ? mapMaybe(this.execute(statement, plan.requester), (row) => row ?? this.parts.general.update(plan))
        : this.parts.general.update(plan);
    });
  }

  delete(plan: DeletePlan): Promise<boolean> {
    return this.parts.general.delete(plan);
  }

  async prepareCreate(plan: CreatePlan, known?: KeyLookup): Promise<PreparableWrite<Row>> {
    const found = known ?? (await this.tools.lookups.lookUp(plan.keys));
    const general = await this.parts.general.prepareCreate(plan, found);
    for (const _ in general.errors) return general;
    const statement = (await this.mayWrite(plan, 'create')) ? this.insertStatement(plan) : undefined;
    if (!statement) return general;
    const otherwise = async (runner: QueryRunner): Promise<Row> =>
      writeWithin(
        await this.parts.general.prepareCreate(plan, await this.tools.lookups.lookUp(plan.keys, runner)),
        runner,
      );
    return {
      ...general,
      prepare: (runner) =>
        Promise.resolve(
          prepared(async () => (await this.executeWithin(statement, runner)) ?? otherwise(runner)),
        ),
    };
  }

  async prepareUpdate(plan: UpdatePlan): Promise<PreparableWrite<Row | undefined>> {
    const general = await this.parts.general.prepareUpdate(plan);
    const statement =
      !plan.expected && (await this.mayWrite(plan, 'update')) ? this.updateStatement(plan) : undefined;
    if (!statement) return general;
    return {
      ...general,
      prepare: (runner) =>
        Promise.resolve(
          preparedWithoutLock(
            async () => (await this.executeWithin(statement, runner)) ?? writeWithin(general, runner),
            () => general.prepare(runner),
          ),
        ),
    };
  }

  prepareDelete(plan: DeletePlan): PreparableWrite<boolean> {
    return this.parts.general.prepareDelete(plan);
  }

  /** Whether no hook, listener, subscriber or trigger takes part in this write. */
  private mayWrite(plan: CreatePlan | UpdatePlan, operation: 'create' | 'update'): MaybePromise<boolean> {
    const { errors, hooks } = plan;
    if (plan.kind === 'create' && plan.completed) return false;
    if (
      hooks.before ||
      hooks.after ||
      !this.parts.rules[operation] ||
      this.parts.rules.isListenedTo() ||
      this.tools.reader.needsEntities()
    )
      return false;
    for (const _ in errors) return false;
    return this.tables.isPlain(this.metadata, this.tools);
  }

  private execute(statement: Statement, requester: Requester | undefined): MaybePromise<Row | undefined> {
    return mapMaybe(this.tools.connections.write(statement, requester), (records) =>
      this.rowOf(records ?? []),
    );
  }

  private async executeWithin(statement: Statement, runner: QueryRunner): Promise<Row | undefined> {
    return this.rowOf(await this.tools.connections.records(runner, statement));
  }

  private rowOf([record]: Records): Row | undefined {
    return (
      record && {
        key: this.tools.reader.selection.readKey(record),
        values: this.tools.reader.selection.readValues(record),
      }
    );
  }

  private insertStatement({ values, fixed, added, keys, where }: CreatePlan): Statement | undefined {
    const given = columnsOf(values, this.resource);
    const columns = given && distinct([...given, ...fixed, ...added, ...this.parts.rules.generate(given)]);
    if (
      !columns ||
      !this.parts.rules.acceptsValues([...fixed, ...added]) ||
      evaluateCondition(where, (id) => keptValue(columns.get(id))) !== true
    )
      return undefined;
    const parameters = encoded(columns, this.tools);
    return this.shapes.of(
      shapeKeyOf('insert', columns, keys),
      keys.map((key) => key.where),
      () => {
        const scope = Scope.ofTable(this.tools.dialect, this.tools.tables, this.resource);
        const names = [...columns.values()].map(({ column }) => scope.table.name(column));
        const placed = [...columns.values()].map(({ column }, index) =>
          this.tools.dialect.parameter(scope.bindRaw(parameters[index]), column.type),
        );
        for (const { columnId, name, sql } of this.parts.rules.defaults) {
          if (columns.has(columnId)) continue;
          names.push(name);
          placed.push(sql);
        }
        const found = existing(keys, scope);
        const rows =
          names.length === 0
            ? ' DEFAULT VALUES'
            : ` (${names.join(', ')}) SELECT ${placed.join(', ')}${found.length === 0 ? '' : ` WHERE ${found.join(' AND ')}`}`;
        return {
          sql: `INSERT INTO ${scope.table.path}${rows} RETURNING ${this.returned(scope)}`,
          parameters: scope.parameters,
        };
      },
      parameters,
    );
  }

  private updateStatement({ values, keys, where, after }: UpdatePlan): Statement | undefined {
    const given = columnsOf(values, this.resource);
    const columns = given && distinct(given);
    // A condition over other rows would need a join, which UPDATE does not have.
    if (
      !columns ||
      columns.size === 0 ||
      touches(where, () => false) ||
      touches(after, (id) => columns.has(id))
    )
      return undefined;
    const parameters = encoded(columns, this.tools);
    return this.shapes.of(
      shapeKeyOf('update', columns, keys),
      [where, ...keys.map((key) => key.where)],
      () => {
        const scope = Scope.ofTable(this.tools.dialect, this.tools.tables, this.resource);
        const changes = [...columns.values()].map(
          ({ column }, index) =>
            `${scope.table.name(column)} = ${this.tools.dialect.parameter(scope.bindRaw(parameters[index]), column.type)}`,
        );
        const conditions = [compileWhere(where, scope), ...existing(keys, scope)];
        return {
          sql: `UPDATE ${scope.table.path} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')} RETURNING ${this.returned(scope)}`,
          parameters: scope.parameters,
        };
      },
      parameters,
    );
  }

  private returned(scope: Scope): string {
    return selectList(this.tools.reader.selection.expressions(scope));
  }
}

/** Undefined if the stored value has to be read back. */
function keptValue(given: ColumnValue | undefined): Json | undefined {
  return given && isKeptAsGiven(given.column) ? given.value : undefined;
}

/** As JSON, because names may contain spaces. */
function shapeKeyOf(
  verb: string,
  columns: ReadonlyMap<string, ColumnValue>,
  keys: readonly KeyCheck[],
): string {
  return JSON.stringify([verb, [...columns.keys()], keys.map(({ relation }) => relation.target.id)]);
}

/** The values by column; undefined if a column occurs twice. */
function distinct(values: readonly ColumnValue[]): ReadonlyMap<string, ColumnValue> | undefined {
  const byColumn = new Map(values.map((each) => [each.column.id, each]));
  return byColumn.size === values.length ? byColumn : undefined;
}

function encoded(columns: ReadonlyMap<string, ColumnValue>, { dialect }: WriterTools): readonly unknown[] {
  return [...columns.values()].map(({ column, value }) =>
    value === null ? null : dialect.encode(value, column.type),
  );
}

/** Conditions that the rows exist to which the keys of the body refer. */
function existing(keys: readonly KeyCheck[], scope: Scope): readonly string[] {
  return keys.map(({ relation, where }) => {
    const target = scope.within(relation.target);
    const condition = compileWhere(where, target);
    return `EXISTS (SELECT 1 FROM ${target.from()} WHERE ${condition})`;
  });
}
