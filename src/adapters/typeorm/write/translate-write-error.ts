import type { EntityMetadata } from 'typeorm';
import { InvalidInput, NotFound, PermissionDenied } from '../../../core/errors/http-exceptions.js';
import { errorAt, isRestException } from '../../../core/errors/rest-exception.js';
import type { CreatePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { Resource } from '../../../core/schema/resource.js';
import { noSuchKey } from '../../../core/values/keys.js';
import type { DatabaseError } from '../../../sql/dialects/dialect.js';
import { underSentNames } from './duplicate-rows.js';
import { constraintError } from './constraint-errors.js';
import type { WriterTools } from './row-writer.js';
import { uncheckedKey } from './unchecked-key.js';

/** What a refused write is judged by. */
export interface TranslatedWriteError {
  readonly plan: CreatePlan | UpdatePlan;
  /** False where the caller may not have the row. Asked when the transaction has ended. */
  readonly may: () => Promise<boolean>;
}

/** What the database refuses for the sake of other rows. */
const TELLING: ReadonlySet<DatabaseError['kind']> = new Set(['unique', 'check', 'foreign-key']);

/** What is thrown in the place of an error that has ended a write. */
export async function translateWriteError(
  error: unknown,
  { plan, may }: TranslatedWriteError,
  {
    resource,
    metadata,
    tools,
  }: { readonly resource: Resource; readonly metadata: EntityMetadata; readonly tools: WriterTools },
): Promise<unknown> {
  const refusal = isRestException(error) ? undefined : tools.dialect.errorFor(error);
  if (!refusal) return underSentName(error, plan, resource);
  if (refusal.kind === 'foreign-key') {
    // A related row went away between the look and the write.
    const { errors } = await tools.lookups.lookUp(plan.keys);
    if (Object.keys(errors).length > 0) return new InvalidInput(errors);
  }
  // A row that the caller may not have is refused as such: a unique index, or an exclusion, would tell of rows of others.
  if (TELLING.has(refusal.kind) && !(await may())) return new PermissionDenied();
  if (refusal.kind === 'foreign-key') return danglingKey(plan, resource);
  const told =
    refusal.kind === 'unique'
      ? { kind: refusal.kind, columns: await tools.indexes.of(refusal, metadata) }
      : refusal;
  return constraintError(told, resource, plan.values) ?? error;
}

/** What was thrown before anything was written. */
function underSentName(error: unknown, plan: TranslatedWriteError['plan'], resource: Resource): unknown {
  return error instanceof InvalidInput && resource.standIns.length > 0
    ? new InvalidInput(underSentNames(error.fields, resource, plan))
    : error;
}

function danglingKey(plan: TranslatedWriteError['plan'], resource: Resource): NotFound | InvalidInput {
  // Nothing is wrong with the body: what the URL names has gone.
  if (plan.kind === 'create' && plan.fixed.length > 0) return new NotFound();
  const unchecked = uncheckedKey(plan, resource);
  return unchecked
    ? new InvalidInput(errorAt(unchecked.path, noSuchKey(String(unchecked.value))))
    : InvalidInput.ofNoField('A related object does not exist.');
}
