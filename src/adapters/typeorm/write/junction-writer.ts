import type { QueryRunner } from 'typeorm';
import { InvalidInput, PermissionDenied, UndeletedRow } from '../../../core/errors/http-exceptions.js';
import { conjunction, equals } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { ColumnValue, CreatePlan, DeletePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { DatabaseError } from '../../../sql/dialects/dialect.js';
import type { ReferencedValues } from '../../../execution/read/key-lookups.js';
import { BulkDeletion } from './bulk-deletion.js';
import { areValuesPermitted } from './candidate-rows.js';
import { DroppedRow, notStored, TableKind } from './dropped-rows.js';
import { selectForDeletion, selectForUpdate } from './row-locks.js';
import type { KeyLookup } from '../../../execution/read/key-lookups.js';
import { Scope } from '../../../sql/query-scope.js';
import { NO_ERRORS, notFound, prepared, runHook } from './row-writer.js';
import { StepWriter } from './step-writer.js';
import type { DeleteTogether, PreparableWrite, WriterTools } from './row-writer.js';
import { deletionError, restrictionError } from './find-referrer.js';
import { constraintError, violatedConstraint } from './constraint-errors.js';
import { mergeErrors, storedErrors } from './entity-errors.js';
import { noRelatedObject } from './translate-write-error.js';

/** Constraints that depend on other rows, or on a rule that the caller's own rows do not reveal. */
const PAIR_CONSTRAINTS: ReadonlySet<DatabaseError['kind']> = new Set(['unique', 'check', 'raised']);

/**
 * Writes the rows of a junction table that only TypeORM knows: pairs of keys, without entity, listeners or columns of
 * their own. A pair is never updated: another related side is another pair.
 */
export class JunctionWriter extends StepWriter {
  private readonly table: TableKind;

  constructor(
    private readonly resource: ResourceSchema,
    tools: WriterTools,
  ) {
    super(tools);
    this.table = new TableKind(resource, tools);
  }

  async prepareCreate(plan: CreatePlan, known?: KeyLookup): Promise<PreparableWrite<Row>> {
    const { referenced, errors } = known ?? (await this.tools.lookups.lookUp(plan.keys));
    const columns = [...plan.fixed, ...this.columnsOf(plan.values, referenced)];
    return {
      errors: mergeErrors([plan.errors, errors]),
      prepare: (runner) => Promise.resolve(prepared(() => this.performCreate(plan, columns, runner))),
      translateError: (error) => this.translate(error, columns, plan),
    };
  }

  private async performCreate(
    { where, completed }: CreatePlan,
    columns: readonly ColumnValue[],
    runner: QueryRunner,
  ): Promise<Row> {
    const row = await this.insert(columns, where, runner);
    await runHook(completed, [row], { runner, dialect: this.tools.dialect });
    return row;
  }

  /** Changes the related side, which makes it another pair (contract 2.11). */
  prepareUpdate(plan: UpdatePlan): PreparableWrite<Row | undefined> {
    let changed: readonly ColumnValue[] | undefined;
    return {
      errors: NO_ERRORS,
      prepare: async (runner) => {
        const before = await this.find(plan, runner);
        if (!before) return notFound(undefined);
        const { referenced, errors } = await this.tools.lookups.lookUp(plan.keys, runner);
        const given = this.columnsOf(plan.values, referenced);
        const after = before.map(({ column, value }) => ({
          column,
          value: given.find((each) => each.column.id === column.id)?.value ?? value,
        }));
        changed = after;
        return prepared(
          async () => {
            const row = await this.replace(before, after, { where: plan.after, runner });
            await runHook(plan.completed, [row], { runner, dialect: this.tools.dialect });
            return row;
          },
          mergeErrors([plan.errors, errors, await storedErrors(plan, runner, this.tools)]),
        );
      },
      translateError: (error) => this.translate(error, changed, plan),
    };
  }

  private async replace(
    before: readonly ColumnValue[],
    after: readonly ColumnValue[],
    { where, runner }: { where: Condition; runner: QueryRunner },
  ): Promise<Row> {
    const same = after.every(({ value }, index) => value === before[index]?.value);
    if (same) return this.readBack(after, where, runner);
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const changes = bindAll(after, scope).join(', ');
    const sql = `UPDATE ${scope.table.path} SET ${changes} WHERE ${bindAll(before, scope).join(' AND ')}`;
    const count = await this.countRows(sql, scope.parameters, runner);
    if (count === 0 && !(await this.table.isView(runner))) throw new DroppedRow();
    return this.readBack(after, where, runner);
  }

  prepareDelete(plan: DeletePlan): PreparableWrite<boolean> {
    return {
      errors: NO_ERRORS,
      prepare: async (runner) => {
        const pair = await this.find(plan, runner, selectForDeletion);
        if (!pair) return notFound(false);
        const write = async (): Promise<boolean> => {
          if (!(await this.remove(pair, runner))) throw new UndeletedRow();
          return true;
        };
        const identity = this.resource.identity.map(
          ({ id }) => pair.find(({ column }) => column.id === id)?.value ?? null,
        );
        return { ...prepared(write), identity };
      },
      translateError: (error) => deletionError(error, plan, this.tools),
    };
  }

  prepareDeletes(plans: readonly DeletePlan[]): Promise<DeleteTogether | undefined> {
    return new BulkDeletion(this.resource, this.tools).prepare(plans);
  }

  private columnsOf(values: CreatePlan['values'], referenced: ReferencedValues): readonly ColumnValue[] {
    return [...values.keys()].flatMap((name) => {
      const field = this.resource.fieldsByName.get(name);
      if (field?.kind !== 'to-one') return [];
      return field.relation.on.map((pair, index) => ({
        column: pair.localColumn,
        value: referenced.get(name)?.[index] ?? null,
      }));
    });
  }

  private async find(
    { where, expected }: Pick<DeletePlan, 'where'> & Partial<Pick<DeletePlan, 'expected'>>,
    runner: QueryRunner,
    select = selectForUpdate,
  ): Promise<readonly ColumnValue[] | undefined> {
    const columns = [...this.resource.columns.values()];
    const values = await select(this.resource, { columns, where, expected }, { runner, tools: this.tools });
    return values && columns.map((column, index) => ({ column, value: values[index] ?? null }));
  }

  private async insert(
    columns: readonly ColumnValue[],
    condition: Condition,
    runner: QueryRunner,
  ): Promise<Row> {
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const names = columns.map(({ column }) => scope.table.name(column)).join(', ');
    const values = columns.map(({ column, value }) => scope.bind(value, column.type)).join(', ');
    const sql = `INSERT INTO ${scope.table.path} (${names}) VALUES (${values})`;
    const count = await this.countRows(sql, scope.parameters, runner);
    if (count === 0 && !(await this.table.isView(runner))) throw new DroppedRow();
    return this.readBack(columns, condition, runner);
  }

  /** False if the database has kept the pair. */
  private async remove(pair: readonly ColumnValue[], runner: QueryRunner): Promise<boolean> {
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const sql = `DELETE FROM ${scope.table.path} WHERE ${bindAll(pair, scope).join(' AND ')}`;
    const count = await this.countRows(sql, scope.parameters, runner);
    return count !== 0 || (await this.find({ where: equalTo(pair) }, runner)) === undefined;
  }

  /** Undefined for a database that reports an error for each row that it does not write. */
  private async countRows(
    sql: string,
    parameters: readonly unknown[],
    runner: QueryRunner,
  ): Promise<number | undefined> {
    if (this.tools.dialect.returning) return (await runner.query(sql, [...parameters], true)).affected;
    await runner.query(sql, [...parameters]);
    return undefined;
  }

  private async readBack(
    columns: readonly ColumnValue[],
    condition: Condition,
    runner: QueryRunner,
  ): Promise<Row> {
    const stored = equalTo(columns);
    const row = await this.tools.reader.retrieveWithin(conjunction([stored, condition]), runner);
    if (row) return row;
    throw (await this.tools.reader.retrieveWithin(stored, runner))
      ? new PermissionDenied()
      : new DroppedRow();
  }

  private async translate(
    error: unknown,
    pair: readonly ColumnValue[] | undefined,
    plan: CreatePlan | UpdatePlan,
  ): Promise<unknown> {
    const rejection = await violatedConstraint(error, this.resource, this.tools);
    const isDropped = error instanceof DroppedRow;
    if (!rejection && !isDropped) return error;
    if (pair && (!rejection || PAIR_CONSTRAINTS.has(rejection.kind))) {
      const where = plan.kind === 'create' ? plan.where : plan.after;
      if (!(await areValuesPermitted(pair, { resource: this.resource, where, tools: this.tools })))
        return new PermissionDenied();
    }
    if (!rejection) return notStored();
    const restricted =
      plan.kind === 'update' ? await restrictionError(plan, rejection, this.tools) : undefined;
    return restricted ?? this.refused(rejection) ?? error;
  }

  private refused(rejection: DatabaseError): unknown {
    switch (rejection.kind) {
      case 'unique': {
        const names = this.resource.fields.flatMap((field) => (field.kind === 'to-one' ? field.name : []));
        return InvalidInput.ofNoField(`The fields ${names.join(', ')} must make a unique set.`);
      }
      case 'foreign-key':
        return noRelatedObject();
      case 'check':
      case 'not-null':
      case 'raised':
      case 'denied':
        // The violated constraint is on columns that TypeORM's junction does not have.
        return constraintError(rejection, {
          resource: this.resource,
          sent: new Map(),
          triggerMessages: this.tools.triggerMessages,
        });
      default:
        return undefined;
    }
  }
}

/** `column = value` for each. */
function bindAll(pair: readonly ColumnValue[], scope: Scope): readonly string[] {
  return pair.map(({ column, value }) => `${scope.table.name(column)} = ${scope.bind(value, column.type)}`);
}

function equalTo(pair: readonly ColumnValue[]): Condition {
  return conjunction(pair.map(({ column, value }) => equals(column, value)));
}
