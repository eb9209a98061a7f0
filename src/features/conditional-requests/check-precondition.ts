import { NotFound } from '../../core/errors/http-exceptions.js';
import { conjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Precondition } from '../../core/query/plan.js';
import type { Resource } from '../../core/schema/resource.js';
import type { RestContext } from '../../request/rest-context.js';
import type { DataAdapter } from '../../core/data-adapter.js';

/** Explains why an object was not written. It decides nothing: the write itself checks the precondition. */
export class Preconditions {
  constructor(private readonly adapter: DataAdapter) {}

  /** Throws 404, or the error of the precondition. `where` selects the object. */
  async assertMet({ resource, precondition }: RestContext, where: Condition): Promise<void> {
    if (!(await this.adapter.exists({ resource, where, forWriting: true }))) throw new NotFound();
    if (precondition && !(await this.isMet(precondition, resource, where))) throw precondition.refusal();
  }

  /** The reason why nothing was written: without a precondition, the object does not exist. */
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
      !(await this.adapter.exists({ resource, where: conjunction([where, asked]), forWriting: true }))
    )
      return false;
    if (!expected) return true;
    const row = await this.adapter.read(
      { kind: 'retrieve', resource: expected.resource, where, forWriting: true },
      'rows',
    );
    return row !== undefined && expected.holds(row);
  }
}
