import { QueryFailedError } from 'typeorm';
import type { EntityMetadata, QueryRunner } from 'typeorm';
import { BulkWriteError, isRestException } from '../../../core/errors/rest-exception.js';
import { inSlices } from '../../../core/event-loop.js';
import { equals } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { DeletePlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { keyText } from '../../../core/values/keys.js';
import { compileCondition } from '../../../sql/compile-where.js';
import { isTemporary } from '../../../sql/dialects/dialect.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { Scope } from '../../../sql/query-scope.js';
import { whereIdentity } from './entity-values.js';
import { anyOf, chunksOf, keyTextOf, LockTogether, selectionOf } from './lock-together.js';
import type { Compare, Identity, Selection } from './lock-together.js';
import { inLockOrder, selectForDeletion } from './row-locks.js';
import { WriteRecorder } from './recorded-writes.js';
import type { DeleteTogether, WriterTools } from './row-writer.js';

/** The row of the plan at this index. */
interface LockedRow {
  readonly index: number;
  readonly identity: Identity;
}

/** The number of rows that a statement has deleted is not that of the rows that were locked. */
class UnevenDeletion extends Error {}

/**
 * Deletes many rows by few statements, where nothing runs for each of them. It changes nothing but the number of statements:
 * where the database rejects one, the rows are deleted one by one in another transaction, which finds the row that it rejects.
 */
export class BulkDeletion {
  private readonly metadata: EntityMetadata;
  private readonly together: LockTogether;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {
    this.metadata = tools.tables.of(resource).metadata;
    this.together = new LockTogether(resource, tools);
  }

  /** Undefined if the rows have to be deleted one by one. */
  async prepare(plans: readonly DeletePlan[]): Promise<DeleteTogether | undefined> {
    const selection = selectionOf(plans);
    const { lane } = await this.tools.choices.chooseDeletions(selection && plans);
    if (!selection || lane !== 'bulk-deletion' || this.resource.deleted) return undefined;
    return async (runner, { skipsMissing }) => {
      const { found, missing } = await this.lock(selection, runner);
      if (missing.length > 0 && !skipsMissing)
        throw new BulkWriteError(new Map(missing.map((index) => [index, 'missing'])));
      const deleted = found.flatMap(({ index }) => plans[index] ?? []);
      const recorder = WriteRecorder.of(deleted, () => this.tools);
      if (recorder) await recorder.begin(runner);
      const identities = found.map(({ identity }) => identity);
      for await (const slice of inSlices(chunksOf(identities))) await this.delete(slice, runner);
      if (!recorder) return;
      for (const [at, identity] of identities.entries()) recorder.add(deleted[at], identity);
      await recorder.end(runner);
    };
  }

  /** Whether the rows have to be deleted one by one after this error. TypeORM 0.3 leaves an error of COMMIT as the driver throws it. */
  static isOfOneRow(error: unknown, { errorFor }: Pick<Dialect, 'errorFor'>): boolean {
    if (error instanceof QueryFailedError || error instanceof UnevenDeletion) return true;
    const known = isRestException(error) ? undefined : errorFor(error);
    return known !== undefined && !isTemporary(known);
  }

  /** Locks the rows, all of them before the first one is deleted. */
  private async lock(
    selection: Selection,
    runner: QueryRunner,
  ): Promise<{ readonly found: readonly LockedRow[]; readonly missing: readonly number[] }> {
    const found = new Map<string, LockedRow>();
    const missing: number[] = [];
    for await (const targets of inSlices(chunksOf(inLockOrder(selection.targets)))) {
      const rows = await this.together.select({ ...selection, targets }, runner);
      for (const { index, where, key } of targets) {
        const identity = rows?.get(keyTextOf(key)) ?? (await this.selectAlone(where, runner));
        if (identity) found.set(keyText(identity), { index, identity });
        else missing.push(index);
      }
    }
    return { found: [...found.values()], missing: missing.sort((a, b) => a - b) };
  }

  private selectAlone(where: Condition, runner: QueryRunner): Promise<Identity | undefined> {
    const { resource, tools } = this;
    return selectForDeletion(resource, { columns: resource.identity, where }, { runner, tools });
  }

  /** @throws UnevenDeletion if the statement has deleted fewer rows. */
  private async delete(identities: readonly Identity[], runner: QueryRunner): Promise<void> {
    const affected = await (this.metadata.deleteDateColumn
      ? this.softDelete(identities, runner)
      : this.deleteRows(identities, runner));
    if (affected !== identities.length) throw new UnevenDeletion();
  }

  private async deleteRows(identities: readonly Identity[], runner: QueryRunner): Promise<unknown> {
    const { dialect, tables } = this.tools;
    const { identity } = this.resource;
    const scope = Scope.ofTable(dialect, tables, this.resource);
    const rows = identities.map((values) => comparisonsOf(identity, values));
    const operands = identity.map((column) => ({ joinPath: [], column }));
    const condition = compileCondition(anyOf(operands, rows), scope);
    const order = identity.map((column) => scope.own(column)).join(', ');
    const end = dialect.limitsChanges ? ` ORDER BY ${order} LIMIT ${identities.length}` : '';
    const sql = `DELETE FROM ${scope.table.path} WHERE ${condition}${end}`;
    return (await runner.query(sql, [...scope.parameters], true)).affected;
  }

  /** By the statement of TypeORM, which also changes versions and dates of updates. */
  private async softDelete(identities: readonly Identity[], { manager }: QueryRunner): Promise<unknown> {
    const { resource, metadata, tools } = this;
    const update = manager
      .createQueryBuilder()
      .callListeners(false)
      .softDelete()
      .from(metadata.target)
      .whereInIds(identities.map((each) => whereIdentity(each, resource, metadata)));
    if (tools.dialect.limitsChanges) {
      update.limit(identities.length);
      for (const { propertyPath } of metadata.primaryColumns)
        update.addOrderBy(`${update.alias}.${propertyPath}`);
    }
    return (await update.execute()).affected;
  }
}

function comparisonsOf(columns: readonly Column[], values: Identity): readonly Compare[] {
  return columns.map((column, index) => equals(column, values[index] ?? null) as Compare);
}
