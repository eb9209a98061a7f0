import Sqlite from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchDatabase, Statistics } from '../databases.js';
import { FINISH, SEEDED_TABLES, columnsOf, inDatabase, restoreOf, valuesOf } from '../seeds.js';

const NAMES = {
  types: { instant: 'datetime', json: 'text' },
  table: (name: string) => `"${name}"`,
};

/** A file in a temporary folder. */
export async function openSqlite(statistics: Statistics): Promise<BenchDatabase<'sqlite'>> {
  const folder = mkdtempSync(join(tmpdir(), 'restify-bench-'));
  const file = join(folder, 'bench.sqlite');
  const connection = new Sqlite(file);
  // The mode is stored in the file: readers do not wait for the writer, in every server.
  connection.pragma('journal_mode = WAL');
  const run = (sql: string): Promise<void> => {
    connection.exec(inDatabase(sql, NAMES));
    return Promise.resolve();
  };
  for (const { name, columns, rows } of SEEDED_TABLES) {
    await run(`CREATE TABLE @${name} (id integer PRIMARY KEY AUTOINCREMENT, ${columns.join(', ')})`);
    const names = columnsOf(rows);
    const insert = connection.prepare(
      `INSERT INTO "${name}" (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    );
    connection.exec('BEGIN');
    for (const row of rows) insert.run(...valuesOf(row));
    connection.exec('COMMIT');
  }
  for (const sql of FINISH) await run(sql);
  if (statistics === 'with') await run('ANALYZE');
  return {
    name: 'sqlite',
    version: `SQLite ${String(connection.prepare('SELECT sqlite_version() AS version').get()?.version)}`,
    environment: { BENCH_DATABASE: 'sqlite', BENCH_SQLITE_FILE: file },
    run,
    rows: (sql) => Promise.resolve(connection.prepare(inDatabase(sql, NAMES)).all()),
    restore: (table) => Promise.all(restoreOf(table).map(run)).then(() => undefined),
    cpuByProcess: () => Promise.resolve(undefined),
    drop: () => {
      connection.close();
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}
