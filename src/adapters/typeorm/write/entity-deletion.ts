import type { QueryRunner } from 'typeorm';
import type { DeletePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { EntityRemover } from './entity-remover.js';
import { deletionError } from './find-referrer.js';
import { copyEntity } from './loaded-entities.js';
import type { ListenerRelations, LoadedEntities, StoredEntity } from './loaded-entities.js';
import { selectForDeletion } from './row-locks.js';
import { NO_ERRORS, notFound, prepared, runHook } from './row-writer.js';
import type { PreparableWrite, WriterTools } from './row-writer.js';
import type { TreeKeeper } from './trees/tree-keeper.js';

interface DeletionParts {
  readonly resource: ResourceSchema;
  readonly tools: WriterTools;
  readonly entities: LoadedEntities;
  readonly remover: EntityRemover;
  readonly tree: TreeKeeper | undefined;
  readonly related: ListenerRelations | undefined;
}

/** The deletion of a row through TypeORM, whose entity hooks receive. */
export function prepareEntityDeletion(plan: DeletePlan, parts: DeletionParts): PreparableWrite<boolean> {
  const { resource, tools, entities, tree } = parts;
  return {
    errors: NO_ERRORS,
    prepare: async (runner: QueryRunner) => {
      await tree?.begin(runner);
      const { where, expected } = plan;
      const row = { columns: resource.identity, where, expected };
      const key = await selectForDeletion(resource, row, { runner, tools });
      const entity = key && (await entities.load(key, runner));
      return key && entity
        ? {
            ...prepared(() => performDeletion(plan, { entity, identity: key, runner }, parts)),
            identity: key,
          }
        : notFound(false);
    },
    translateError: (error) => deletionError(error, plan, tools),
  };
}

async function performDeletion(
  { hooks, where }: DeletePlan,
  { entity, identity, runner }: StoredEntity,
  { tools: { dialect }, entities, related, remover }: DeletionParts,
): Promise<boolean> {
  entities.restoreKey(entity, identity);
  await related?.load(entity, runner);
  const loaded = copyEntity(entity);
  await runHook(hooks.before, entity, { runner, dialect });
  await remover.remove(entity, { identity, loaded, where }, runner);
  await runHook(hooks.after, entity, { runner, dialect });
  return true;
}
