import { DataSource } from 'typeorm';
import { TypeOrmAdapter } from '../../src/adapters/typeorm/typeorm-adapter.js';
import type { Resource } from '../../src/core/schema/resource.js';
import { resolveOptions } from '../../src/restify.options.js';
import './compare-paths.js';
import './compare-writes.js';
import { compileModels } from './compile-models.js';
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
    await adapter.loadTableFacts();
    const resources = compileModels(adapter.describe()).all;
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
