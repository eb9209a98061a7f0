import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import { touches } from '../../../core/query/condition.js';
import type { StartedPairs, UpdatePlan } from '../../../core/query/plan.js';
import { completeWrite } from './complete-write.js';
import type { Change } from './entity-saver.js';
import type { EntityStatements } from './entity-statements.js';
import type { LoadedEntities } from './loaded-entities.js';
import type { LockedEntity } from './lock-entity.js';
import type { PreciseValues } from './precise-values.js';
import type { WriterTools } from './row-writer.js';

/** A change that is ready to be written. */
export interface ChangedWrite {
  readonly entity: ObjectLiteral;
  readonly change: Change;
  readonly copy: LockedEntity['copy'];
  readonly pairs: StartedPairs;
  readonly runner: QueryRunner;
}

interface UpdateParts {
  readonly tools: WriterTools;
  readonly metadata: EntityMetadata;
  readonly entities: LoadedEntities;
  readonly statements: EntityStatements | undefined;
  readonly precise: PreciseValues | undefined;
}

/** Writes what has changed in an entity that was loaded by SQL. Undefined if TypeORM has to write the row. */
export async function updateBySql(
  plan: UpdatePlan,
  { entity, change, copy, pairs, runner }: ChangedWrite,
  parts: UpdateParts,
): Promise<Row | undefined> {
  const { statements, entities } = parts;
  const { identity, unchanged, storedJson, hooked } = change;
  if (!statements || !copy) return undefined;
  const precise = parts.precise?.ofUpdated(entity, plan.values, storedJson) ?? [];
  const written = await statements.update(
    { entity, stored: copy(), unchanged },
    { key: identity, precise, isTouched: pairs.changes || plan.children?.changes === true },
    { runner },
  );
  if (!written) return undefined;
  if (plan.hooks.after && !(await statements.readComputed(entity, identity, { runner })))
    await entities.readComputed(entity, identity, runner);
  const { row, columns } = written;
  const isKnown =
    plan.after.kind === 'always' || (!hooked && !touches(plan.after, (id) => columns?.has(id) === true));
  return completeWrite(plan, { entity, identity, pairs, runner, row: isKnown ? row : undefined }, parts);
}
