import { DataSource } from 'typeorm';
import { dataSourceOptions } from './data-source-options.js';
import type { DatabaseEnvironment } from './data-source-options.js';
import { seed } from './seed.js';

/**
 * What must happen once before several processes use the database: the migrations, and the first rows where they are
 * wanted. Answers whether it wrote rows. Several clusters that start at once on one database need it done before them.
 */
export async function prepareDatabase(
  { DATABASE_URL, POOL_SIZE }: DatabaseEnvironment,
  rows: boolean,
): Promise<boolean> {
  // Without the replica: it is nobody's to write, and may lag behind what was made a moment ago.
  const dataSource = await new DataSource(dataSourceOptions({ DATABASE_URL, POOL_SIZE })).initialize();
  try {
    return rows && (await seed(dataSource));
  } finally {
    await dataSource.destroy();
  }
}
