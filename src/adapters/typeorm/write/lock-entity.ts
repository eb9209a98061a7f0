import type { ObjectLiteral, QueryRunner } from 'typeorm';
import type { StoredValues } from '../../../core/contracts/hooks.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { UpdatePlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { EntityStatements } from './entity-statements.js';
import type { LoadedEntities } from './loaded-entities.js';
import { meetsExpectation, selectForUpdate } from './row-locks.js';
import type { WriterTools } from './row-writer.js';
import { StoredImages } from './stored-images.js';

/** A locked row with its entity. */
export interface LockedEntity {
  readonly key: readonly Json[];
  /** The stored values of the columns that were asked for. */
  readonly values: readonly Json[];
  readonly entity: ObjectLiteral;
  /** Makes the same entity once more; undefined if TypeORM has loaded it, and has to write it. */
  readonly copy: (() => ObjectLiteral) | undefined;
  /** All stored values, if they were read, too. */
  readonly image: StoredValues | undefined;
}

export interface LockParts {
  readonly resource: ResourceSchema;
  readonly tools: WriterTools;
  readonly entities: LoadedEntities;
  readonly statements: EntityStatements | undefined;
}

/** Locks the row of a change, and loads its entity. Undefined if there is none, or it does not meet the expectation. */
export async function lockEntity(
  plan: UpdatePlan,
  columns: readonly Column[],
  { resource, tools, entities, statements, runner }: LockParts & { readonly runner: QueryRunner },
): Promise<LockedEntity | undefined> {
  const { where, expected, hooks, recording } = plan;
  if (statements && (await statements.suits(plan))) {
    const hasImage = hooks.keepStored !== undefined || recording?.images === 'both';
    const images = hasImage ? new StoredImages(resource, tools) : undefined;
    const locked = await statements.lock(where, [...columns, ...(images?.columns ?? [])], { runner });
    if (!locked) return undefined;
    if (locked !== 'unreadable') {
      const image = images?.imageOf(locked.values.slice(columns.length));
      const isExpected = !expected || (await meetsExpectation(expected, where, { runner, tools }));
      return isExpected ? { ...locked, image } : undefined;
    }
  }
  const read = await selectForUpdate(
    resource,
    { columns: [...resource.identity, ...columns], where, expected },
    { runner, tools },
  );
  const key = read?.slice(0, resource.identity.length);
  const entity = key && (await entities.load(key, runner));
  return read && key && entity
    ? { key, values: read.slice(key.length), entity, copy: undefined, image: undefined }
    : undefined;
}
