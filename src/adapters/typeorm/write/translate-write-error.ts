import type { EntityMetadata } from 'typeorm';
import {
  InvalidInput,
  NotFound,
  PermissionDenied,
  DatabaseUnavailable,
  ServerError,
} from '../../../core/errors/http-exceptions.js';
import type { RestrictedByReferrer } from '../../../core/errors/http-exceptions.js';
import { errorAt, isRestException } from '../../../core/errors/rest-exception.js';
import { inSlices } from '../../../core/event-loop.js';
import type { CreatePlan, UpdatePlan, BatchPlan, DeletePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { noSuchKey } from '../../../core/values/keys.js';
import type { DatabaseError } from '../../../sql/dialects/dialect.js';
import { constraintError, violatedConstraint, forbiddenDeletion } from './constraint-errors.js';
import { DroppedRow, notStored } from './dropped-rows.js';
import { underSentNames } from './duplicate-references.js';
import { restrictionError, uncheckedKey } from './find-referrer.js';
import type { WriterTools } from './row-writer.js';

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
  const violation = await violatedConstraint(error, plan.resource, tools);
  if (!violation || !isOfBody(violation, plan, { resource, metadata })) return error;
  if (violation.kind === 'foreign-key') {
    // A related row was deleted between the lookup and the write.
    const { errors } = await tools.lookups.lookUp(plan.keys);
    if (Object.keys(errors).length > 0) return new InvalidInput(errors);
  }
  // A row that the caller is not permitted to have is rejected as such: a unique or exclusion constraint would reveal
  // rows of others.
  if (ROW_CONSTRAINTS.has(violation.kind) && !(await isPermitted())) return new PermissionDenied();
  if (violation.kind === 'foreign-key')
    return (
      (plan.kind === 'update' ? await restrictionError(plan, violation, tools) : undefined) ??
      danglingKey(plan, resource)
    );
  const { triggerMessages } = tools;
  return constraintError(violation, { resource, sent: plan.values, triggerMessages }) ?? error;
}

/**
 * False if the database cannot make a key that the body does not have, because its sequence is behind the stored keys or
 * exhausted, or if it misses a value that the statement has.
 */
export function isOfBody(
  violation: DatabaseError,
  plan: TranslatedWriteError['plan'],
  { resource, metadata }: { readonly resource: ResourceSchema; readonly metadata: EntityMetadata },
): boolean {
  if (violation.kind === 'not-null' && violation.table === undefined && violation.column !== undefined)
    return (valueOf(violation.column, plan, resource) ?? null) === null;
  if (plan.kind !== 'create') return true;
  const isGeneratedKey = (name: string): boolean =>
    metadata.columns.some((each) => each.databaseName === name && each.isGenerated) &&
    valueOf(name, plan, resource) === undefined;
  const { columns, column } = violation as { readonly columns?: readonly string[]; readonly column?: string };
  return !(columns ?? [column ?? '']).some(isGeneratedKey);
}

/** What a write sets a column to; of a relation, its key. */
function valueOf(column: string, plan: TranslatedWriteError['plan'], resource: ResourceSchema): unknown {
  const given = plan.kind === 'create' ? [...plan.fixed, ...plan.added] : [];
  const set = given.find((each) => each.column.id === column);
  if (set) return set.value;
  const field = resource.fields.find((each) =>
    each.kind === 'to-one'
      ? plan.values.has(each.name) && each.relation.on.some(({ localColumn }) => localColumn.id === column)
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

type StepPlan = CreatePlan | UpdatePlan | DeletePlan;

/**
 * Translates the error of the COMMIT of several writes, where a database checks deferred constraints: it does not say which of
 * the written objects violates one. `recheck` throws the errors of those objects whose related ones are gone.
 */
export async function commitError(
  error: unknown,
  { steps }: BatchPlan,
  {
    toolsOf,
    recheck,
  }: { readonly toolsOf: (resource: ResourceSchema) => WriterTools; readonly recheck: () => Promise<void> },
): Promise<unknown> {
  const plans = steps.flatMap(plansOf);
  const [first] = plans;
  if (!first || isRestException(error)) return error;
  const { resource } = first;
  const tools = toolsOf(resource);
  const violation = await violatedConstraint(error, resource, tools);
  if (!violation) return error;
  const restricted = await findRestriction(plans, violation, tools);
  if (restricted) return restricted;
  const { triggerMessages } = tools;
  const written = plans.filter((plan) => plan.kind !== 'delete');
  if (written.length === 0) return forbiddenDeletion(violation, triggerMessages) ?? error;
  const { metadata } = tools.tables.of(resource);
  if (!written.some((plan) => isOfBody(violation, plan, { resource, metadata }))) return error;
  if (violation.kind === 'foreign-key') await recheck();
  return (
    constraintError(withoutColumns(violation), { resource, sent: new Map(), triggerMessages }) ??
    noRelatedObject()
  );
}

function plansOf(step: BatchPlan['steps'][number]): readonly StepPlan[] {
  switch (step.kind) {
    case 'upsert':
      return [step.create, step.update];
    case 'refused':
      return [];
    default:
      return [step];
  }
}

/** The 409 of a batch. It names the first model that the caller may view, whichever row its objects refer to. */
async function findRestriction(
  plans: readonly StepPlan[],
  violation: DatabaseError,
  tools: WriterTools,
): Promise<RestrictedByReferrer | undefined> {
  let restricted: RestrictedByReferrer | undefined;
  for await (const plan of inSlices(plans)) {
    const found = plan.kind === 'create' ? undefined : await restrictionError(plan, violation, tools);
    if (found?.referrer !== undefined) return found;
    restricted ??= found;
  }
  return restricted;
}

function withoutColumns(violation: DatabaseError): DatabaseError {
  switch (violation.kind) {
    case 'unique':
    case 'not-null':
    case 'data':
      return { kind: violation.kind };
    default:
      return violation;
  }
}

/**
 * The same error, or that of the server where SQLite reports a full disk because the table has no further generated key. Queries
 * outside of a transaction.
 */
export async function exhaustedKeyError(
  error: unknown,
  { tableName: name, database }: EntityMetadata,
  { dialect, connections }: Pick<WriterTools, 'dialect' | 'connections'>,
): Promise<unknown> {
  if (!dialect.exhaustedKey || !(error instanceof DatabaseUnavailable)) return error;
  if (dialect.errorFor(error.cause)?.kind !== 'full') return error;
  try {
    const found = await connections.read(dialect.exhaustedKey({ path: '', name, database }), 'primary');
    return found.length > 0 ? new ServerError({ cause: error.cause }) : error;
  } catch {
    // No table has generated keys that are counted, or the disk is full.
    return error;
  }
}
