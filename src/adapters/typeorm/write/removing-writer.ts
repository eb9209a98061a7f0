import type { QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import { conjunction, equals, touches } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { CreatePlan, DeletePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { VALUE_CHOICES } from '../../../execution/choose-write.js';
import type { WriteChoice } from '../../../execution/write-causes.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { decodeRecord, readColumns, Scope, selectList } from '../../../sql/query-scope.js';
import { existsStatement } from '../../../sql/select-query.js';
import { labelStatement } from '../../../sql/statement.js';
import type { Statement } from '../../../sql/statement.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import type { Written } from '../../../execution/connection/connection-manager.js';
import type { KeyLookup } from '../../../execution/read/key-lookups.js';
import { deletionError } from './find-referrer.js';
import { selectForDeletion } from './row-locks.js';
import { NO_ERRORS, notFound, prepared } from './row-writer.js';
import { inOwnTransaction } from './step-writer.js';
import type { InsertableRow, PreparableWrite, RowWriter, WriterTools } from './row-writer.js';

/**
 * Deletes rows by SQL, and soft-deletes them by the statement that TypeORM has for this, where `WriteChoices` chooses the lane `direct` or
 * `locked`. `others` does everything else.
 */
export class RemovingWriter implements RowWriter {
  private readonly shapes: StatementCache;
  /** The assignments of a soft deletion. */
  private readonly marks: readonly string[] | undefined;
  private readonly returnsRows: boolean;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly others: RowWriter,
  ) {
    const { tables, dialect } = tools;
    this.shapes = new StatementCache(dialect);
    const { metadata, dataSource } = tables.of(resource);
    const { deleteDateColumn, versionColumn, updateDateColumn } = metadata;
    const quote = (name: string): string => dataSource.driver.escape(name);
    if (deleteDateColumn) {
      const version = versionColumn && quote(versionColumn.databaseName);
      this.marks = [
        `${quote(deleteDateColumn.databaseName)} = CURRENT_TIMESTAMP`,
        ...(version === undefined ? [] : [`${version} = ${version} + 1`]),
        ...(updateDateColumn ? [`${quote(updateDateColumn.databaseName)} = CURRENT_TIMESTAMP`] : []),
      ];
    }
    this.returnsRows = this.marks ? dialect.returning !== undefined : dialect.inserting !== undefined;
  }

  create(plan: CreatePlan): MaybePromise<Row> {
    return this.others.create(plan);
  }

  update(plan: UpdatePlan): MaybePromise<Row | undefined> {
    return this.others.update(plan);
  }

  prepareCreate(plan: CreatePlan, known?: KeyLookup): ReturnType<RowWriter['prepareCreate']> {
    return this.others.prepareCreate(plan, known);
  }

  insertable(plan: CreatePlan, below: readonly Column[]): MaybePromise<InsertableRow | undefined> {
    return this.others.insertable?.(plan, below);
  }

  prepareUpdate(plan: UpdatePlan): ReturnType<RowWriter['prepareUpdate']> {
    return this.others.prepareUpdate(plan);
  }

  prepareDeletes(plans: readonly DeletePlan[]): ReturnType<RowWriter['prepareDeletes']> {
    return this.others.prepareDeletes(plans);
  }

  async delete(plan: DeletePlan): Promise<boolean> {
    const { lane } = await this.choose(plan);
    if (lane === 'entities') return this.others.delete(plan);
    if (lane === 'direct' && plan.recording?.images !== 'both') {
      if (await this.deleteAtOnce(plan)) return true;
      if (!(await this.exists(plan))) return false;
    }
    return inOwnTransaction(this.prepareLocked(plan), plan, this.tools);
  }

  prepareDelete(plan: DeletePlan): MaybePromise<PreparableWrite<boolean>> {
    return mapMaybe(this.tools.choices.chooseDeletion(plan), ({ lane }) =>
      lane === 'entities' ? this.others.prepareDelete(plan) : this.prepareLocked(plan),
    );
  }

  private async choose(plan: DeletePlan): Promise<WriteChoice> {
    const choice = await this.tools.choices.chooseDeletion(plan);
    // A statement that has waited for the row would compare rows of other tables as they were before.
    const isAlone = choice.lane !== 'direct' || !touches(plan.where, () => false);
    return isAlone ? choice : VALUE_CHOICES['other-rows'];
  }

  /** False if no row was deleted: there is none, or the database has rejected the deletion. */
  private async deleteAtOnce(plan: DeletePlan): Promise<boolean> {
    const { connections, dialect } = this.tools;
    const { kind, resource, recording, origin } = plan;
    const record: Written<QueryRunner> = ([deleted], runner) => {
      if (!deleted || !recording) return;
      const key = decodeRecord(deleted, resource.identity, dialect);
      connections.committed.add(runner, recording, { kind, resource, origin, key });
    };
    try {
      const records = await connections.write(this.deletion(plan.where), plan.requester, record);
      return records !== undefined && records.length > 0;
    } catch (error) {
      // A foreign key has set a column of another row, whose value is not unique.
      if (connections.failures.kindOf(error) === 'unique') return false;
      throw error;
    }
  }

  private async exists({ resource, where, requester }: DeletePlan): Promise<boolean> {
    const { connections, dialect, tables } = this.tools;
    const statement = existsStatement({ resource, where, forWriting: true }, dialect, tables);
    return (await connections.read(statement, 'primary', requester)).length > 0;
  }

  /** Locks the row before it is deleted, to compare it with what it has to be, or to say why the database rejects the deletion. */
  private prepareLocked(plan: DeletePlan): PreparableWrite<boolean> {
    const { resource, tools } = this;
    return {
      errors: NO_ERRORS,
      prepare: async (runner) => {
        const { where, expected } = plan;
        const row = { columns: resource.identity, where, expected };
        const key = await selectForDeletion(resource, row, { runner, tools });
        return key
          ? { ...prepared(() => this.deleteLocked(plan, key, runner)), identity: key }
          : notFound(false);
      },
      translateError: (error) => deletionError(error, plan, tools),
    };
  }

  private async deleteLocked(plan: DeletePlan, key: readonly Json[], runner: QueryRunner): Promise<boolean> {
    const { identity } = this.resource;
    const row = conjunction(identity.map((column, index) => equals(column, key[index] ?? null)));
    if ((await this.count(this.deletion(row), runner)) > 0) return true;
    // It went with a row that was deleted before in this transaction, a policy of the table keeps it, or its key is not found as it is read.
    const { missing, write } = await (await this.others.prepareDelete(plan)).prepare(runner);
    return missing || write();
  }

  /** Runs a deletion, and returns the number of rows that it has deleted. */
  private async count(statement: Statement, runner: QueryRunner): Promise<number> {
    if (this.returnsRows) return (await this.tools.connections.records(runner, statement)).length;
    const { affected } = await runner.query(statement.sql, [...statement.parameters], true);
    return affected ?? 0;
  }

  private deletion(where: Condition): Statement {
    const { resource, tools, marks } = this;
    return this.shapes.of('delete', [where], () => {
      const scope = Scope.ofTable(tools.dialect, tools.tables, resource);
      const { path } = scope.table;
      const verb = marks ? `UPDATE ${path} SET ${marks.join(', ')}` : `DELETE FROM ${path}`;
      const condition = compileWhere(where, scope);
      const returned = selectList(readColumns(resource.identity, scope));
      const sql = `${verb} WHERE ${condition}${this.returnsRows ? ` RETURNING ${returned}` : ''}`;
      return labelStatement({ sql, parameters: scope.parameters }, { operation: 'delete', resource }, [
        { resource, where },
      ]);
    });
  }
}
