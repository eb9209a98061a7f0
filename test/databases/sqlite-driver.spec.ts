// @tags nest
import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';

/** The class of better-sqlite3 that TypeORM has loaded. `explain` is new in version 13. */
interface SqliteDriver {
  readonly sqlite: { readonly prototype: { readonly explain?: unknown } };
}

test('SQLite runs with better-sqlite3 13 on Node 22 and newer, and with 12 on Node 20', async () => {
  const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  try {
    const { sqlite } = dataSource.driver as unknown as SqliteDriver;
    const node = Number(process.versions.node.split('.')[0]);
    expect(typeof sqlite.prototype.explain).toBe(node >= 22 ? 'function' : 'undefined');
  } finally {
    await dataSource.destroy();
  }
});
