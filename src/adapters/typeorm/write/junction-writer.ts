import type { QueryRunner } from 'typeorm';
import { InvalidInput, PermissionDenied } from '../../../core/errors/http-exceptions.js';
import { addErrors, emptyFieldErrors, isRestException } from '../../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import { conjunction, equals } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { Column } from '../../../core/schema/column.js';
import type { ColumnValue, CreatePlan, DeletePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { DatabaseError } from '../../../sql/dialects/dialect.js';
import type { ReferencedValues } from './entity-values.js';
import { areValuesPermitted } from './candidate-rows.js';
import { selectForUpdate } from './select-for-update.js';
import type { KeyLookup } from '../read/key-lookups.js';
import { Scope } from '../../../sql/query-scope.js';
import { NO_ERRORS, notFound, prepared, StepWriter } from './row-writer.js';
import type { PreparableWrite, WriterTools } from './row-writer.js';
import { constraintError } from './constraint-errors.js';
import { runHook } from './run-hook.js';

/** Constraints that depend on other rows, or on a rule that the caller's own rows do not reveal. */
const PAIR_CONSTRAINTS: ReadonlySet<DatabaseError['kind']> = new Set(['unique', 'check']);

/**
 * Writes the rows of a junction table that only TypeORM knows: pairs of keys, without entity, listeners or columns of
 * their own. A pair is never updated: another related side is another pair.
 */
export class JunctionWriter extends StepWriter {
  constructor(
    private readonly resource: ResourceSchema,
    tools: WriterTools,
  ) {
    super(tools);
  }

  async prepareCreate(plan: CreatePlan, known?: KeyLookup): Promise<PreparableWrite<Row>> {
    const { referenced, errors } = known ?? (await this.tools.lookups.lookUp(plan.keys));
    const columns = [...plan.fixed, ...this.columnsOf(plan.values, referenced)];
    return {
      errors: mergeErrors([plan.errors, errors]),
      prepare: (runner) => Promise.resolve(prepared(() => this.performCreate(plan, columns, runner))),
      translateError: (error) => this.translate(error, columns, plan.where),
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

  /** Replaces the pair by one with the other related side (contract 2.11). */
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
          () => this.replace(before, after, { where: plan.after, runner }),
          mergeErrors([plan.errors, errors]),
        );
      },
      translateError: (error) => this.translate(error, changed, plan.after),
    };
  }

  private async replace(
    before: readonly ColumnValue[],
    after: readonly ColumnValue[],
    { where, runner }: { where: Condition; runner: QueryRunner },
  ): Promise<Row> {
    const same = after.every(({ value }, index) => value === before[index]?.value);
    if (same) return this.readBack(after, where, runner);
    await this.remove(before, runner);
    return this.insert(after, where, runner);
  }

  prepareDelete(plan: DeletePlan): PreparableWrite<boolean> {
    return {
      errors: NO_ERRORS,
      prepare: async (runner) => {
        const pair = await this.find(plan, runner);
        if (!pair) return notFound(false);
        return prepared(async () => {
          await this.remove(pair, runner);
          return true;
        });
      },
      translateError: (error) => Promise.resolve(error),
    };
  }

  private columnsOf(values: CreatePlan['values'], referenced: ReferencedValues): readonly ColumnValue[] {
    return [...values.keys()].flatMap((name) => {
      const field = this.resource.fieldsByName.get(name);
      if (field?.kind !== 'to-one') return [];
      return field.relation.on.map((pair, index) => ({
        column: pair.near,
        value: referenced.get(name)?.[index] ?? null,
      }));
    });
  }

  private async find(
    { where, expected }: Pick<DeletePlan, 'where' | 'expected'>,
    runner: QueryRunner,
  ): Promise<readonly ColumnValue[] | undefined> {
    const columns = [...this.resource.columns.values()];
    const values = await selectForUpdate(
      this.resource,
      { columns, where, expected },
      { runner, tools: this.tools },
    );
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
    await runner.query(`INSERT INTO ${scope.table.path} (${names}) VALUES (${values})`, [
      ...scope.parameters,
    ]);
    return this.readBack(columns, condition, runner);
  }

  private async remove(pair: readonly ColumnValue[], runner: QueryRunner): Promise<void> {
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const conditions = pair.map(
      ({ column, value }) => `${scope.table.name(column)} = ${scope.bind(value, column.type)}`,
    );
    await runner.query(`DELETE FROM ${scope.table.path} WHERE ${conditions.join(' AND ')}`, [
      ...scope.parameters,
    ]);
  }

  private async readBack(
    columns: readonly ColumnValue[],
    condition: Condition,
    runner: QueryRunner,
  ): Promise<Row> {
    const named = columns.map(({ column, value }: { column: Column; value: Json }) => equals(column, value));
    const row = await this.tools.reader.retrieveWithin(conjunction([...named, condition]), runner);
    if (!row) throw new PermissionDenied();
    return row;
  }

  private async translate(
    error: unknown,
    pair: readonly ColumnValue[] | undefined,
    where: Condition,
  ): Promise<unknown> {
    const refusal = isRestException(error) ? undefined : this.tools.dialect.errorFor(error);
    if (!refusal) return error;
    if (pair && PAIR_CONSTRAINTS.has(refusal.kind)) {
      if (!(await areValuesPermitted(pair, { resource: this.resource, where, tools: this.tools })))
        return new PermissionDenied();
    }
    return this.refused(refusal) ?? error;
  }

  private refused(refusal: DatabaseError): unknown {
    switch (refusal.kind) {
      case 'unique': {
        const names = this.resource.fields.flatMap((field) => (field.kind === 'to-one' ? field.name : []));
        return InvalidInput.ofNoField(`The fields ${names.join(', ')} must make a unique set.`);
      }
      case 'foreign-key':
        return InvalidInput.ofNoField('A related object does not exist.');
      case 'check':
      case 'not-null':
        // The violated constraint is on columns that TypeORM's junction does not have.
        return constraintError(refusal, this.resource, new Map());
      default:
        return undefined;
    }
  }
}

function mergeErrors(found: readonly FieldErrors[]): FieldErrors {
  const errors = emptyFieldErrors();
  for (const each of found) addErrors(errors, each);
  return errors;
}
