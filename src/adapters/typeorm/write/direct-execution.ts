import type { QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import { isPromise, mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { CreatePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Statement } from '../../../sql/statement.js';
import { recordOf } from './recorded-writes.js';
import { throwStepError } from './row-writer.js';
import type { PreparableWrite, WriterTools } from './row-writer.js';
import { exhaustedKeyError } from './translate-write-error.js';

/** Executes statements that write one row and return it; undefined where they write none. */
export class DirectExecution {
  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {}

  /**
   * Executes a statement alone. A duplicate value, which the general writer would write in vain again, is reported at once: then the
   * row has passed the conditions of the statement, and the keys of the body exist.
   * @throws the error of a duplicate value, translated by the general writer.
   */
  execute(
    statement: Statement,
    plan: CreatePlan | UpdatePlan,
    prepare: () => MaybePromise<PreparableWrite<Row | undefined>>,
  ): MaybePromise<Row | undefined> {
    const { connections, reader, tables } = this.tools;
    const fail = async (error: unknown): Promise<never> => {
      if (connections.failures.kindOf(error) !== 'unique')
        throw await exhaustedKeyError(error, tables.of(this.resource).metadata, this.tools);
      const step = await prepare();
      throwStepError(step.errors);
      throw await step.translateError(error);
    };
    try {
      const written = mapMaybe(
        connections.write(statement, plan.requester, recordOf(plan, this.tools)),
        (records) => reader.rowOf(records ?? []),
      );
      return isPromise(written) ? written.catch(fail) : written;
    } catch (error) {
      return fail(error);
    }
  }

  async executeWithin(statement: Statement, runner: QueryRunner): Promise<Row | undefined> {
    return this.tools.reader.rowOf(await this.tools.connections.records(runner, statement));
  }
}
