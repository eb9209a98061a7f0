import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import { PermissionDenied } from '../../../core/errors/http-exceptions.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { conjunction } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import { mayMatch } from '../../../core/query/evaluate-condition.js';
import type { ColumnValue, CreatePlan, StartedPairs, UpdatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { ReferencedValues } from '../../../execution/read/key-lookups.js';
import type { Row } from '../../../core/contracts/serializer.js';
import { isInvalidInput } from './batch-steps.js';
import { DroppedRow } from './dropped-rows.js';
import { convertingValues, rejectHiddenKeys } from './entity-errors.js';
import type { StoredRow } from './entity-errors.js';
import { KeyColumns } from './key-columns.js';
import type { LoadedEntities } from './loaded-entities.js';
import { writeChildren, writePairs } from './pair-writes.js';
import { runHook } from './row-writer.js';
import type { WriterTools } from './row-writer.js';

interface WrittenRow {
  readonly entity: ObjectLiteral;
  readonly identity: readonly Json[];
  readonly pairs: StartedPairs;
  readonly runner: QueryRunner;
  /** The row as it was written, if the caller is permitted to have it. */
  readonly row?: Row | undefined;
}

interface Parts {
  readonly tools: WriterTools;
  readonly entities: LoadedEntities;
  readonly metadata: EntityMetadata;
}

interface HookParts extends Omit<Parts, 'entities'> {
  readonly resource: ResourceSchema;
  readonly keyColumns: KeyColumns | undefined;
}

/** Runs the hook in front of a write. Returns the columns of relations that it has set. */
export async function runBeforeWrite(
  { hooks, values, fixed }: CreatePlan | UpdatePlan,
  {
    entity,
    referenced,
    runner,
  }: Pick<WrittenRow, 'entity' | 'runner'> & { readonly referenced: ReferencedValues },
  { resource, metadata, keyColumns, tools }: HookParts,
): Promise<readonly ColumnValue[] | undefined> {
  if (!hooks.before) return undefined;
  // The hook may set columns of the URL, which takes precedence.
  const columns = keyColumns ?? (fixed.length > 0 ? KeyColumns.ofAny(resource, metadata) : undefined);
  const before = columns?.propertiesOf(entity);
  await runHook(hooks.before, entity, { runner, dialect: tools.dialect });
  return before && columns?.assignHooked(entity, before, { values, referenced, fixed });
}

/**
 * Writes the pairs and the children of a written row, and reads it, between the hooks that run behind a write.
 * @throws PermissionDenied if the caller is not permitted to have it; DroppedRow if it is not there: a trigger has changed its key, or the
 * view does not show it.
 */
export async function completeWrite(
  plan: CreatePlan | UpdatePlan,
  { entity, identity, pairs, runner, row: written }: WrittenRow,
  { tools, entities, metadata }: Parts,
): Promise<Row> {
  const { reader, dialect } = tools;
  const granted = plan.kind === 'create' ? plan.where : plan.after;
  await writePairs(pairs, identity, { runner, tools });
  let isAsWritten: boolean;
  try {
    isAsWritten = await writeChildren(plan, { entity, identity }, { runner, tools });
  } catch (error) {
    const stored = entities.conditionOf(identity);
    throw isInvalidInput(error) && (await isRefused(granted, { stored, reader, runner }))
      ? new PermissionDenied()
      : error;
  }
  await runHook(plan.hooks.after, entity, { runner, dialect });
  // Nothing that may have changed it has run behind the statement that has returned it.
  if (written && !plan.pairs && isAsWritten && !plan.hooks.after && plan.hiddenKeys.length === 0) {
    await runHook(plan.completed, [written], { runner, dialect });
    return written;
  }
  const stored = entities.conditionOf(identity);
  await rejectHiddenKeys(plan.hiddenKeys, { stored, reader, runner });
  const where = conjunction([stored, granted]);
  const row = await convertingValues(plan, metadata, () => reader.retrieveWithin(where, runner));
  if (!row) throw (await reader.retrieveWithin(stored, runner)) ? new PermissionDenied() : new DroppedRow();
  await runHook(plan.completed, [row], { runner, dialect });
  return row;
}

/** Whether a row may not be had whichever children it will have: what the database rejects in them would reveal rows of others. */
async function isRefused(granted: Condition, { stored, reader, runner }: StoredRow): Promise<boolean> {
  const where = mayMatch(granted, { columns: new Set(), referring: true });
  if (where.kind === 'always') return false;
  return !(await reader.retrieveWithin(conjunction([stored, where]), runner));
}
