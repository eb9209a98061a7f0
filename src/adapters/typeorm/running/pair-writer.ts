import type { QueryRunner } from 'typeorm';
import { InvalidInput, PermissionDenied } from '../../../errors/request-errors.js';
import { isRestError } from '../../../errors/rest-error.js';
import type { FieldErrors, Json } from '../../../errors/rest-error.js';
import { allOf, equals } from '../../../model/condition.js';
import type { Condition } from '../../../model/condition.js';
import type { Column } from '../../../model/column.js';
import type { ColumnValue, CreatePlan, DeletePlan, UpdatePlan } from '../../../model/plan.js';
import type { Resource } from '../../../model/resource.js';
import type { Row } from '../../../model/serializer.js';
import type { ReferencedValues } from './entity-values.js';
import { findLocked } from './find-locked.js';
import { Scope } from '../sql/scope.js';
import type { RowWriter, WriterTools } from './row-writer.js';
import { completed } from './run-hook.js';

/**
 * Writes the rows of a junction that only TypeORM knows: pairs of keys, with no entity, no listener and no column of
 * their own. A pair is never changed: another related side is another pair.
 */
export class PairWriter implements RowWriter {
  constructor(
    private readonly resource: Resource,
    private readonly tools: WriterTools,
  ) {}

  async create(plan: CreatePlan): Promise<Row> {
    const { referenced, errors } = await this.tools.lookups.lookUp(plan.keys);
    this.refuseInvalid([plan.errors, errors]);
    const columns = [...plan.fixed, ...this.columnsOf(plan.values, referenced)];
    return this.writing(() => this.tools.connections.transact(async (runner) => completed(await this.insert(columns, plan.where, runner), plan, { runner, dialect: this.tools.dialect })));
  }

  /** Replaces the pair by one with the other related side, in one transaction (contract 2). */
  async update(plan: UpdatePlan): Promise<Row | undefined> {
    return this.writing(() =>
      this.tools.connections.transact(async (runner) => {
        const before = await this.find(plan, runner);
        if (!before) return undefined;
        const { referenced, errors } = await this.tools.lookups.lookUp(plan.keys, runner);
        this.refuseInvalid([plan.errors, errors]);
        const changed = this.columnsOf(plan.values, referenced);
        const after = before.map(({ column, value }) => ({ column, value: changed.find((each) => each.column.id === column.id)?.value ?? value }));
        const same = after.every(({ value }, index) => value === before[index]?.value);
        if (!same) await this.remove(before, runner);
        return same ? this.readBack(after, plan.after, runner) : this.insert(after, plan.after, runner);
      }),
    );
  }

  async delete(plan: DeletePlan): Promise<boolean> {
    return this.tools.connections.transact(async (runner) => {
      const pair = await this.find(plan, runner);
      if (pair) await this.remove(pair, runner);
      return pair !== undefined;
    });
  }

  private columnsOf(values: CreatePlan['values'], referenced: ReferencedValues): readonly ColumnValue[] {
    return [...values.keys()].flatMap((name) => {
      const field = this.resource.fieldsByName.get(name);
      if (field?.kind !== 'to-one') return [];
      return field.relation.on.map((pair, index) => ({ column: pair.near, value: referenced.get(name)?.[index] ?? null }));
    });
  }

  private async find({ where, expected }: Pick<DeletePlan, 'where' | 'expected'>, runner: QueryRunner): Promise<readonly ColumnValue[] | undefined> {
    const columns = [...this.resource.columns.values()];
    const values = await findLocked(this.resource, { columns, where, expected }, { runner, tools: this.tools });
    return values && columns.map((column, index) => ({ column, value: values[index] ?? null }));
  }

  private async insert(columns: readonly ColumnValue[], condition: Condition, runner: QueryRunner): Promise<Row> {
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const names = columns.map(({ column }) => scope.table.name(column)).join(', ');
    const values = columns.map(({ column, value }) => scope.bind(value, column.type)).join(', ');
    await runner.query(`INSERT INTO ${scope.table.path} (${names}) VALUES (${values})`, [...scope.parameters]);
    return this.readBack(columns, condition, runner);
  }

  private async remove(pair: readonly ColumnValue[], runner: QueryRunner): Promise<void> {
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const conditions = pair.map(({ column, value }) => `${scope.table.name(column)} = ${scope.bind(value, column.type)}`);
    await runner.query(`DELETE FROM ${scope.table.path} WHERE ${conditions.join(' AND ')}`, [...scope.parameters]);
  }

  private async readBack(columns: readonly ColumnValue[], condition: Condition, runner: QueryRunner): Promise<Row> {
    const named = columns.map(({ column, value }: { column: Column; value: Json }) => equals(column, value));
    const row = await this.tools.reader.retrieve(allOf([...named, condition]), runner);
    if (!row) throw new PermissionDenied();
    return row;
  }

  private refuseInvalid(found: readonly FieldErrors[]): void {
    const errors: FieldErrors = Object.assign(Object.create(null) as FieldErrors, ...found) as FieldErrors;
    if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
  }

  private async writing<Result>(write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      const refusal = isRestError(error) ? undefined : this.tools.dialect.refusal(error);
      if (refusal?.kind === 'unique') {
        const names = this.resource.fields.flatMap((field) => (field.kind === 'to-one' ? field.name : []));
        throw InvalidInput.ofNoField(`The fields ${names.join(', ')} must make a unique set.`);
      }
      if (refusal?.kind === 'foreign-key') throw InvalidInput.ofNoField('A related object does not exist.');
      throw error;
    }
  }
}
