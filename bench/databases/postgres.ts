import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { BenchDatabase, Statistics } from '../databases.js';
import { cpuOfProcesses } from '../process-cpu.js';
import { FINISH, SEEDED_TABLES, TABLES, columnOf, inDatabase, restoreOf } from '../seeds.js';

const TYPES = { instant: 'timestamp(3)', json: 'jsonb' };

/** A schema of the server of the tests. */
export async function openPostgres(statistics: Statistics): Promise<BenchDatabase<'postgres'>> {
  const url = process.env.RESTIFY_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';
  const schema = `restify_bench_${process.pid}_${randomBytes(4).toString('hex')}`;
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 3000,
    application_name: 'bench-runner',
  });
  await client.connect();
  const inSchema = (sql: string): string =>
    inDatabase(sql, { types: TYPES, table: (table) => `"${schema}"."${table}"` });
  const run = async (sql: string): Promise<void> => {
    await client.query(inSchema(sql));
  };
  const rows = async (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await client.query<Record<string, unknown>>(inSchema(sql))).rows;
  await run(`CREATE SCHEMA "${schema}"`);
  try {
    for (const { name, columns, rows: seeded } of SEEDED_TABLES) {
      // The statistics change at no other time than here and in `restore`.
      await run(
        `CREATE TABLE @${name} (id serial PRIMARY KEY, ${columns.join(', ')}) WITH (autovacuum_enabled = off)`,
      );
      const values = JSON.stringify(
        seeded.map((row) =>
          Object.fromEntries(Object.entries(row).map(([column, value]) => [columnOf(column), value])),
        ),
      );
      await client.query(
        inSchema(`INSERT INTO @${name} SELECT * FROM json_populate_recordset(NULL::@${name}, $1)`),
        [values],
      );
      await run(`SELECT setval('"${schema}"."${name}_id_seq"', ${seeded.length})`);
    }
    for (const sql of FINISH) await run(sql);
    if (statistics === 'with') await run(`ANALYZE ${TABLES}`);
  } catch (error) {
    await run(`DROP SCHEMA "${schema}" CASCADE`);
    throw error;
  }
  return {
    name: 'postgres',
    version: `PostgreSQL ${String((await rows('SHOW server_version'))[0]?.server_version)}`,
    environment: { BENCH_DATABASE: 'postgres', BENCH_POSTGRES_URL: url, BENCH_POSTGRES_SCHEMA: schema },
    run,
    rows,
    restore: async (table) => {
      for (const sql of restoreOf(table)) await run(sql);
      await run(`VACUUM ${statistics === 'with' ? '(ANALYZE)' : ''} @${table}`);
    },
    cpuByProcess: async (application) => {
      const found = await client.query<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE application_name = $1',
        [application],
      );
      return cpuOfProcesses(found.rows.map(({ pid }) => pid));
    },
    drop: async () => {
      await run(`DROP SCHEMA "${schema}" CASCADE`);
      await client.end();
    },
  };
}
