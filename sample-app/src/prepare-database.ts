import { DataSource } from 'typeorm';
import { dataSourceOptions } from './data-source-options.js';
import type { DatabaseEnvironment } from './data-source-options.js';
import { seed } from './seed.js';

/**
 * Prepares the database before several processes use it: runs the migrations, and inserts the sample rows if configured.
 * Returns whether it has inserted rows. Must complete before several clusters start on one database.
 */
export async function prepareDatabase(
  { DATABASE_URL, POOL_SIZE }: DatabaseEnvironment,
  rows: boolean,
): Promise<boolean> {
  // Without the replica, which is read-only and may lag behind.
  const dataSource = await new DataSource(dataSourceOptions({ DATABASE_URL, POOL_SIZE })).initialize();
  try {
    return rows && (await seed(dataSource));
  } finally {
    await dataSource.destroy();
  }
}
