import type { CreatePlan, DeletePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { Row } from '../../../core/contracts/serializer.js';
import type { KeyLookup } from './foreign-key-lookup.js';
import type { RowWriter, WriterTools } from './row-writer.js';
import { writeAlone } from './write-step.js';
import type { PreparableWrite } from './write-step.js';

/** A writer whose writes are prepared steps. A single write runs in its own transaction. */
export abstract class StepWriter implements RowWriter {
  constructor(protected readonly tools: WriterTools) {}

  abstract prepareCreate(plan: CreatePlan, known?: KeyLookup): Promise<PreparableWrite<Row>>;
  abstract prepareUpdate(plan: UpdatePlan): PreparableWrite<Row | undefined>;
  abstract prepareDelete(plan: DeletePlan): PreparableWrite<boolean>;

  async create(plan: CreatePlan): Promise<Row> {
    return writeAlone(await this.prepareCreate(plan), this.tools.connections, plan.requester);
  }

  update(plan: UpdatePlan): Promise<Row | undefined> {
    return writeAlone(this.prepareUpdate(plan), this.tools.connections, plan.requester);
  }

  delete(plan: DeletePlan): Promise<boolean> {
    return writeAlone(this.prepareDelete(plan), this.tools.connections, plan.requester);
  }
}
