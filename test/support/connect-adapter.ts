import { DataSource } from 'typeorm';
import { TypeOrmAdapter } from '../../src/adapters/typeorm/typeorm-adapter.js';
import { compileResources } from '../../src/compiler/compile-resources.js';
import type { ResourceParts, CompilerInput, EntityDeclaration } from '../../src/compiler/compiler-input.js';
import { problemsOfModel } from '../../src/compiler/rules/verify-model.js';
import { declarations } from '../../src/decorators/metadata-storage.js';
import type { EntityDescription, ModelDescription } from '../../src/core/schema/entity-metadata.js';
import type { CompiledPermission } from '../../src/core/contracts/permission.js';
import type { Resource } from '../../src/core/schema/resource.js';
import { FieldFilter } from '../../src/features/filtering/field-filter.js';
import { SearchFilter } from '../../src/features/filtering/search-filter.js';
import { OrderingFilter } from '../../src/features/filtering/ordering-filter.js';
import { AllowAny } from '../../src/features/permissions/built-in-permissions.js';
import { ModelSerializer } from '../../src/features/serialization/model-serializer.js';
import { resolveOptions } from '../../src/restify.options.js';
import './compare-paths.js';
import './compare-writes.js';
import { compareOver } from './comparison.js';
import type { Compared } from './comparison.js';
import { DATABASES } from './databases.js';
import type { TestDatabase } from './databases.js';

export interface ConnectedAdapter {
  readonly adapter: TypeOrmAdapter;
  readonly dataSource: DataSource;
  /** Counters of fast-path reads and writes compared with the general path. */
  readonly compared: Compared;
  /** The compiled resource of this `app.model`. */
  resource(id: string): Resource;
  /** @throws if a comparison has found a difference, even one that the tests ignored. */
  close(): Promise<void>;
}

const OPTIONS = resolveOptions('rest/v1', {});
const NO_PERMISSION: CompiledPermission = { kind: 'all-of', permissions: [] };

/**
 * The adapter with a connected data source and the compiled resources of its declared entities, without HTTP and Nest.
 * There is no injector, so permissions are not enforced and there are no controllers.
 */
export async function connectAdapter({
  entities,
  database = DATABASES[0],
}: {
  readonly entities: readonly (new () => object)[];
  readonly database?: TestDatabase | undefined;
}): Promise<ConnectedAdapter> {
  if (!database) throw new Error('No database');
  const opened = await database.open();
  const dataSource = new DataSource({
    ...opened.options,
    entities: [...entities],
    synchronize: true,
  });
  const close = async (): Promise<void> => {
    if (dataSource.isInitialized) await dataSource.destroy();
    await opened.drop();
  };
  try {
    await dataSource.initialize();
    const { acquireTimeout, statementTimeout, fairShare } = OPTIONS;
    const adapter = new TypeOrmAdapter(dataSource, { acquireTimeout, statementTimeout, fairShare });
    await adapter.learn();
    const resources = compiled(adapter.describe());
    for (const resource of resources) adapter.prepare(resource);
    const comparison = compareOver([dataSource]);
    return {
      adapter,
      dataSource,
      compared: comparison,
      resource: (id) => {
        const found = resources.find((each) => each.id === id);
        if (!found) throw new Error(`No resource ${id}`);
        return found;
      },
      close: async () => {
        await close();
        if (comparison.differences.length > 0) throw new Error(comparison.differences.join('\n\n'));
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function compiled(description: ModelDescription): readonly Resource[] {
  const drafts = description.entities.flatMap((entity) => draftOf(entity) ?? []);
  const input: CompilerInput = {
    ...OPTIONS,
    takenPrefixes: [],
    description,
    drafts,
    allowAny: AllowAny,
    listed: [],
    controllers: [],
    laidOut: new Set(drafts.map(({ declaration }) => declaration.target)),
  };
  const model = compileResources(input, createParts());
  const problems = problemsOfModel(input, model);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return model.all;
}

function draftOf(entity: EntityDescription): EntityDeclaration | undefined {
  const declaration = entity.targets
    .map((target) => declarations().get(target as object))
    .find((each) => each !== undefined);
  return (
    declaration && {
      declaration,
      entity,
      app: declaration.options.app,
      model: declaration.options.name ?? declaration.name.toLowerCase(),
    }
  );
}

function createParts(): ResourceParts {
  const serializer = new ModelSerializer();
  const backends = [new FieldFilter(), new SearchFilter(), new OrderingFilter()];
  return {
    backends: () => backends,
    serializer: () => ({ serializer, hasDefaultSerializer: true }),
    permission: () => NO_PERMISSION,
    permissions: () => NO_PERMISSION,
    authentication: () => ({ schemes: [], guards: [], lateGuards: [] }),
    refusalsThrottled: false,
    interceptors: () => [],
    piping: () => undefined,
    hooks: () => ({ hooks: {}, scope: undefined }),
  };
}
