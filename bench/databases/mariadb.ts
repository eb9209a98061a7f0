import { createConnection } from 'mysql2/promise';
import type { RowDataPacket } from 'mysql2/promise';
import { randomBytes } from 'node:crypto';
import type { BenchDatabase, Statistics } from '../databases.js';
import { cpuOfThreads } from '../process-cpu.js';
import { FINISH, SEEDED_TABLES, TABLES, columnsOf, inDatabase, restoreOf, valuesOf } from '../seeds.js';
import { findMariadb } from './find-mariadb.js';

const TYPES = { instant: 'datetime(3)', json: 'json' };

/** A database of the server of the tests, or of one that is started from installed binaries. */
export async function openMariadb(statistics: Statistics): Promise<BenchDatabase<'mariadb'>> {
  const server = await findMariadb();
  const database = `restify_bench_${process.pid}_${randomBytes(4).toString('hex')}`;
  const connection = await createConnection({ uri: server.url.href, connectTimeout: 3000, timezone: 'Z' });
  const inOwn = (sql: string): string =>
    inDatabase(sql, { types: TYPES, table: (table) => `\`${database}\`.\`${table}\`` });
  const run = async (sql: string): Promise<void> => {
    await connection.query(inOwn(sql));
  };
  const drop = async (): Promise<void> => {
    await connection.query(`DROP DATABASE \`${database}\``);
    await connection.end();
    await server.stop();
  };
  await run(`CREATE DATABASE \`${database}\` CHARACTER SET utf8mb4`);
  try {
    for (const { name, columns, rows } of SEEDED_TABLES) {
      // The statistics change at no other time than here and in `restore`.
      await run(
        `CREATE TABLE @${name} (id integer PRIMARY KEY AUTO_INCREMENT, ${columns.join(', ')}) STATS_AUTO_RECALC = 0`,
      );
      await connection.query(inOwn(`INSERT INTO @${name} (${columnsOf(rows).join(', ')}) VALUES ?`), [
        rows.map(valuesOf),
      ]);
    }
    for (const sql of FINISH) await run(sql);
    if (statistics === 'with') await run(`ANALYZE TABLE ${TABLES}`);
  } catch (error) {
    await drop();
    throw error;
  }
  const rows = async (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await connection.query<RowDataPacket[]>(inOwn(sql)))[0];
  const own = new URL(server.url);
  own.pathname = `/${database}`;
  return {
    name: 'mariadb',
    version: `MariaDB ${String((await rows('SELECT version() AS version'))[0]?.version)}`,
    environment: { BENCH_DATABASE: 'mariadb', BENCH_MARIADB_URL: own.href },
    run,
    rows,
    restore: async (table) => {
      for (const sql of restoreOf(table)) await run(sql);
      if (statistics === 'with') await run(`ANALYZE TABLE @${table}`);
    },
    // A connection has a thread, but no name: all servers of this run, of which one is at work, use this database.
    cpuByProcess: async () => {
      const [found] = await connection.query<RowDataPacket[]>(
        'SELECT tid FROM information_schema.processlist WHERE db = ?',
        [database],
      );
      return cpuOfThreads(found.map(({ tid }) => Number(tid)));
    },
    drop,
  };
}
