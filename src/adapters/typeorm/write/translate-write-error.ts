import type { EntityMetadata } from 'typeorm';
import { InvalidInput, NotFound, PermissionDenied } from '../../../core/errors/http-exceptions.js';
import { errorAt, isRestException } from '../../../core/errors/rest-exception.js';
import type { CreatePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { noSuchKey } from '../../../core/values/keys.js';
import type { DatabaseError } from '../../../sql/dialects/dialect.js';
import { exhaustedKeyError } from './exhausted-key.js';
import { DroppedRow, notStored } from './dropped-rows.js';
import { underSentNames } from './duplicate-references.js';
import { restrictionError } from './find-referrer.js';
import { constraintError } from './constraint-errors.js';
import type { WriterTools } from './row-writer.js';
import { violatedConstraint } from './violated-constraint.js';
import { uncheckedKey } from './unchecked-key.js';

/** The write whose error is translated. */
export interface TranslatedWriteError {
  readonly plan: CreatePlan | UpdatePlan;
  /** False if the caller is not permitted to have the row. Called after the transaction has ended. */
  readonly isPermitted: () => Promise<boolean>;
}

/** Constraints whose violation depends on other rows. */
const ROW_CONSTRAINTS: ReadonlySet<DatabaseError['kind']> = new Set([
  'unique',
  'check',
  'foreign-key',
  'raised',
]);

/** Translates the error of a failed write to the error that is thrown. */
export async function translateWriteError(
  error: unknown,
  { plan, isPermitted }: TranslatedWriteError,
  {
    resource,
    metadata,
    tools,
  }: { readonly resource: ResourceSchema; readonly metadata: EntityMetadata; readonly tools: WriterTools },
): Promise<unknown> {
  if (error instanceof DroppedRow) return (await isPermitted()) ? notStored() : new PermissionDenied();
  const reported = isRestException(error) ? undefined : tools.dialect.errorFor(error);
  if (!reported) return exhaustedKeyError(underSentName(error, plan, resource), metadata, tools);
  const refusal = await violatedConstraint(error, plan.resource, tools);
  if (!refusal || !isOfBody(refusal, plan, { resource, metadata })) return error;
  if (refusal.kind === 'foreign-key') {
    // A related row was deleted between the lookup and the write.
    const { errors } = await tools.lookups.lookUp(plan.keys);
    if (Object.keys(errors).length > 0) return new InvalidInput(errors);
  }
  // A row that the caller is not permitted to have is rejected as such: a unique or exclusion constraint would reveal
  // rows of others.
  if (ROW_CONSTRAINTS.has(refusal.kind) && !(await isPermitted())) return new PermissionDenied();
  if (refusal.kind === 'foreign-key')
    return (
      (plan.kind === 'update' ? await restrictionError(plan, refusal, tools) : undefined) ??
      danglingKey(plan, resource)
    );
  const { triggerMessages } = tools;
  return constraintError(refusal, { resource, sent: plan.values, triggerMessages }) ?? error;
}

/**
 * False if the database cannot make a key that the body does not have, because its sequence is behind the stored keys or
 * exhausted, or if it misses a value that the statement has.
 */
export function isOfBody(
  refusal: DatabaseError,
  plan: TranslatedWriteError['plan'],
  { resource, metadata }: { readonly resource: ResourceSchema; readonly metadata: EntityMetadata },
): boolean {
  if (refusal.kind === 'not-null' && refusal.table === undefined && refusal.column !== undefined)
    return (valueOf(refusal.column, plan, resource) ?? null) === null;
  if (plan.kind !== 'create') return true;
  const isGeneratedKey = (name: string): boolean =>
    metadata.columns.some((each) => each.databaseName === name && each.isGenerated) &&
    valueOf(name, plan, resource) === undefined;
  const { columns, column } = refusal as { readonly columns?: readonly string[]; readonly column?: string };
  return !(columns ?? [column ?? '']).some(isGeneratedKey);
}

/** What a write sets a column to; of a relation, its key. */
function valueOf(column: string, plan: TranslatedWriteError['plan'], resource: ResourceSchema): unknown {
  const given = plan.kind === 'create' ? [...plan.fixed, ...plan.added] : [];
  const set = given.find((each) => each.column.id === column);
  if (set) return set.value;
  const field = resource.fields.find((each) =>
    each.kind === 'to-one'
      ? plan.values.has(each.name) && each.relation.on.some(({ near }) => near.id === column)
      : each.kind === 'column' && each.column.id === column,
  );
  return field && plan.values.get(field.name);
}

/** Renames an error that was thrown before the write. */
function underSentName(
  error: unknown,
  plan: TranslatedWriteError['plan'],
  resource: ResourceSchema,
): unknown {
  return error instanceof InvalidInput && resource.foreignKeyAliases.length > 0
    ? new InvalidInput(underSentNames(error.fields, resource, plan))
    : error;
}

function danglingKey(plan: TranslatedWriteError['plan'], resource: ResourceSchema): NotFound | InvalidInput {
  // The body is valid, but the parent in the URL has been deleted.
  if (plan.kind === 'create' && plan.fixed.length > 0) return new NotFound();
  const unchecked = uncheckedKey(plan, resource);
  return unchecked
    ? new InvalidInput(errorAt(unchecked.path, noSuchKey(String(unchecked.value))))
    : noRelatedObject();
}

export function noRelatedObject(): InvalidInput {
  return InvalidInput.ofNoField('A related object does not exist.');
}
