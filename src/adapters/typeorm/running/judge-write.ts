import type { EntityMetadata } from 'typeorm';
import { InvalidInput, NotFound, PermissionDenied } from '../../../errors/request-errors.js';
import { isRestError } from '../../../errors/rest-error.js';
import type { CreatePlan } from '../../../model/plan.js';
import type { Resource } from '../../../model/resource.js';
import type { DatabaseRefusal } from '../dialects/dialect.js';
import { refusedWrite } from './refusals.js';
import type { WriterTools } from './row-writer.js';

/** What a refused write is judged by. */
export interface Judgement {
  readonly keys: CreatePlan['keys'];
  readonly fixed: CreatePlan['fixed'];
  /** False where the caller may not have the row. Asked when the transaction has ended. */
  readonly may: () => Promise<boolean>;
}

/** What the database refuses for the sake of other rows. */
const TELLING: ReadonlySet<DatabaseRefusal['kind']> = new Set(['unique', 'check', 'foreign-key']);

/** What is thrown in the place of an error that has ended a write. */
export async function judgedWrite(
  error: unknown,
  { keys, fixed, may }: Judgement,
  {
    resource,
    metadata,
    tools,
  }: { readonly resource: Resource; readonly metadata: EntityMetadata; readonly tools: WriterTools },
): Promise<unknown> {
  const refusal = isRestError(error) ? undefined : tools.dialect.refusal(error);
  if (!refusal) return error;
  if (refusal.kind === 'foreign-key') {
    // A related row went away between the look and the write.
    const { errors } = await tools.lookups.lookUp(keys);
    if (Object.keys(errors).length > 0) return new InvalidInput(errors);
  }
  // A row that the caller may not have is refused as such: a unique index, or an exclusion, would tell of rows of others.
  if (TELLING.has(refusal.kind) && !(await may())) return new PermissionDenied();
  if (refusal.kind === 'unique')
    return (
      refusedWrite({ kind: 'unique', columns: await tools.indexes.of(refusal, metadata) }, resource) ?? error
    );
  if (refusal.kind !== 'foreign-key') return refusedWrite(refusal, resource) ?? error;
  // Nothing is wrong with the body: what the URL names has gone.
  return fixed.length > 0 ? new NotFound() : InvalidInput.ofNoField('A related object does not exist.');
}
