import type { QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import { PermissionDenied } from '../../../core/errors/http-exceptions.js';
import { conjunction, touches } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { UpdatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { RowChanges } from './change-detection.js';
import type { DirectStatements } from './direct-statements.js';
import { DroppedRow } from './dropped-rows.js';
import { selectForUpdate } from './row-locks.js';
import type { WriterTools } from './row-writer.js';

/** Changes one row by SQL in a transaction: where its content is expected, and where UPDATE returns no row. */
export class LockedUpdate {
  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly statements: DirectStatements,
  ) {}

  /**
   * Undefined if nothing is written: the row or a related one is missing, the content is another one, or the plan needs TypeORM.
   * @throws PermissionDenied, DroppedRow as `EntityWriter`.
   */
  async execute(plan: UpdatePlan, changes: RowChanges, runner: QueryRunner): Promise<Row | undefined> {
    const { resource, tools } = this;
    const { dialect, connections, reader } = tools;
    const key = dialect.returning ? undefined : this.keyOf(plan, changes);
    if (!dialect.returning && !key) return undefined;
    if (plan.expected) {
      const { where, expected } = plan;
      const row = { columns: resource.identity, where, expected };
      if (!(await selectForUpdate(resource, row, { runner, tools }))) return undefined;
    }
    const statement = this.statements.update(plan, changes);
    if (!key) return reader.rowOf(await connections.records(runner, statement));
    const { affected } = await runner.query(statement.sql, [...statement.parameters], true);
    return affected === 1 ? this.readBack(key, plan, runner) : undefined;
  }

  /**
   * The transaction reads the row as it has locked it, because no statement before has read without a lock. A trigger that the user of
   * the database does not see may have changed what the permission reads.
   */
  private async readBack(key: Condition, { after }: UpdatePlan, runner: QueryRunner): Promise<Row> {
    const { reader } = this.tools;
    const row = await reader.retrieveWithin(conjunction([key, after]), runner);
    if (row) return row;
    throw (await reader.retrieveWithin(key, runner)) ? new PermissionDenied() : new DroppedRow();
  }

  /**
   * The condition that finds the row again; undefined if its key is not compared or changes, or if the statement would lock rows to which
   * the permission of a related one leads.
   */
  private keyOf({ where, keys }: UpdatePlan, { changes }: RowChanges): Condition | undefined {
    const { identity } = this.resource;
    if (changes.some(({ column }) => identity.some(({ id }) => id === column.id))) return undefined;
    if (keys.some(({ exact }) => touches(exact, () => false))) return undefined;
    const parts = partsOf(where);
    const found = identity.flatMap(({ id }) => parts.find((each) => isValueOf(each, id)) ?? []);
    return found.length === identity.length ? conjunction(found) : undefined;
  }
}

function partsOf(where: Condition): readonly Condition[] {
  return where.kind === 'and' ? where.conditions.flatMap(partsOf) : [where];
}

function isValueOf(condition: Condition, columnId: string): boolean {
  return (
    condition.kind === 'compare' &&
    condition.lookup === 'exact' &&
    condition.value !== null &&
    condition.operand.joinPath.length === 0 &&
    condition.operand.column.id === columnId
  );
}
