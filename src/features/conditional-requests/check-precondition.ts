import { NotFound } from '../../core/errors/http-exceptions.js';
import { allOf } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Precondition } from '../../core/query/plan.js';
import type { Resource } from '../../core/schema/resource.js';
import type { RestContext } from '../../request/rest-context.js';
import type { DataAdapter } from '../../core/data-adapter.js';

/** Says why an object is not written. Decides nothing: the write itself asks what its precondition asks. */
export class Preconditions {
  constructor(private readonly adapter: DataAdapter) {}

  /** Throws 404, or what the precondition says. `where` names the object. */
  async assertMet({ resource, precondition }: RestContext, where: Condition): Promise<void> {
    if (!(await this.adapter.exists({ resource, where, forWriting: true }))) throw new NotFound();
    if (precondition && !(await this.isMet(precondition, resource, where))) throw precondition.refusal();
  }

  /** Why nothing was written: without a precondition, there is nothing. */
  async explainFailure({ resource, precondition }: RestContext, where: Condition): Promise<Error> {
    return precondition && (await this.adapter.exists({ resource, where, forWriting: true }))
      ? precondition.refusal()
      : new NotFound();
  }

  private async isMet(
    { where: asked, expected }: Precondition,
    resource: Resource,
    where: Condition,
  ): Promise<boolean> {
    if (
      asked.kind !== 'always' &&
      !(await this.adapter.exists({ resource, where: allOf([where, asked]), forWriting: true }))
    )
      return false;
    if (!expected) return true;
    const row = await this.adapter.retrieve({
      kind: 'retrieve',
      resource: expected.resource,
      where,
      forWriting: true,
    });
    return row !== undefined && expected.holds(row);
  }
}
