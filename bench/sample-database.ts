import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import pg from 'pg';
import { cpuOfProcesses } from './process-cpu.js';
import type { CpuByProcess } from './process-cpu.js';
import { ROOT } from './root.js';
import { CHOICES, COURSES, COURSES_OF_A_STUDENT, QUESTIONS, STUDENTS } from './rows.js';
import type * as Launching from '../test/support/launch-postgres.cjs';

/** PostgreSQL for the sample application, which creates its tables itself. `drop` removes everything. */
export interface SampleDatabase {
  readonly version: string;
  /** The environment variables by which the sample application connects to it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Seeds the tables that exist. Resolves when the replica has the rows too. */
  fill(): Promise<void>;
  /** Deletes the created rows. */
  restore(): Promise<void>;
  /** The CPU time so far of the database processes that serve the workers of that name, including the replica; undefined if it cannot be measured. */
  cpuByProcess(application: string): Promise<CpuByProcess | undefined>;
  drop(): Promise<void>;
}

interface Place {
  /** The primary and its replica. */
  readonly urls: readonly string[];
  readonly schema: string;
  stop(): Promise<void>;
}

/** A schema on the server of the tests; `replicated`: a separate server from installed binaries, with a streaming replica. */
export async function openSampleDatabase(replicated: boolean): Promise<SampleDatabase> {
  const place = replicated ? await launchPair() : standing();
  const { urls, schema } = place;
  const clients = urls.map(
    (connectionString) => new pg.Client({ connectionString, application_name: 'bench-runner' }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  const [primary] = clients;
  if (!primary) throw new Error('No database');
  await primary.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  const run = async (statements: readonly string[]): Promise<void> => {
    await primary.query(`SET search_path = "${schema}"`);
    for (const sql of statements) await primary.query(sql);
  };
  const [DATABASE_URL = '', REPLICA_URL = ''] = urls.map((url) => inSchema(url, schema));
  const { rows } = await primary.query<{ readonly server_version: string }>('SHOW server_version');
  return {
    version: `PostgreSQL ${rows[0]?.server_version ?? ''}${replicated ? ', with a replica for reads' : ''}`,
    environment: { DATABASE_URL, REPLICA_URL },
    fill: async () => {
      await run(SEED_STATEMENTS);
      const at = await primary.query<{ readonly lsn: string }>('SELECT pg_current_wal_insert_lsn() AS lsn');
      for (const replica of clients.slice(1)) await shows(replica, at.rows[0]?.lsn ?? '');
    },
    restore: () =>
      run([
        `DELETE FROM polls_choice WHERE id > ${CHOICES}`,
        'VACUUM ANALYZE polls_choice',
        'VACUUM ANALYZE polls_question',
      ]),
    cpuByProcess: async (application) => {
      const found = await Promise.all(
        clients.map((client) =>
          client.query<{ pid: number }>(
            'SELECT pid FROM pg_stat_activity WHERE starts_with(application_name, $1)',
            [`${application} worker `],
          ),
        ),
      );
      return cpuOfProcesses(found.flatMap((each) => each.rows.map(({ pid }) => pid)));
    },
    drop: async () => {
      await primary.query(`DROP SCHEMA "${schema}" CASCADE`);
      await Promise.all(clients.map((client) => client.end()));
      await place.stop();
    },
  };
}

/** As many rows as in the other workloads of the benchmark. */
const SEED_STATEMENTS: readonly string[] = [
  `INSERT INTO polls_question (id, question_text, pub_date) SELECT n, 'What is the answer to question ' || n || '?', timestamp '2022-10-02 09:23:28.297' FROM generate_series(1, ${QUESTIONS}) AS n`,
  `INSERT INTO polls_choice (id, choice_text, votes, "questionId") SELECT n, 'Choice ' || n, (n * 7) % 100, (n + 9) / 10 FROM generate_series(1, ${CHOICES}) AS n`,
  `INSERT INTO edu_student (id, name) SELECT n, 'Student ' || n FROM generate_series(1, ${STUDENTS}) AS n`,
  `INSERT INTO edu_course (id, name) SELECT n, 'Course ' || n FROM generate_series(1, ${COURSES}) AS n`,
  `INSERT INTO edu_enrollment (student_id, course_id) SELECT student, (student * ${COURSES_OF_A_STUDENT} + n) % ${COURSES} + 1 FROM generate_series(1, ${STUDENTS}) AS student, generate_series(1, ${COURSES_OF_A_STUDENT}) AS n`,
  ...['polls_question', 'polls_choice', 'edu_student', 'edu_course'].map(
    (table) => `SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT max(id) FROM ${table}))`,
  ),
  'CREATE INDEX ON polls_choice ("questionId")',
  'CREATE INDEX ON polls_choice (votes)',
  'CREATE INDEX ON edu_enrollment (student_id)',
  'ANALYZE',
];

function standing(): Place {
  const url = process.env.RESTIFY_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';
  return {
    urls: [url],
    schema: `restify_bench_${process.pid}_${randomBytes(4).toString('hex')}`,
    stop: () => Promise.resolve(),
  };
}

async function launchPair(): Promise<Place> {
  const { launchPostgres } = createRequire(import.meta.url)(
    join(ROOT, 'test/support/launch-postgres.cjs'),
  ) as typeof Launching;
  const primary = await launchPostgres();
  const replica = await primary?.replica().catch(async (error: unknown) => {
    await primary.stop();
    throw error;
  });
  if (!primary || !replica) {
    await primary?.stop();
    throw new Error(
      '--replica starts a PostgreSQL and a replica from installed binaries, and there are no initdb, postgres and pg_basebackup',
    );
  }
  return {
    urls: [primary.url, replica.url],
    schema: 'bench',
    stop: async () => {
      await replica.stop();
      await primary.stop();
    },
  };
}

/** Commits do not wait for the disk, as in the other workloads of the benchmark. */
function inSchema(url: string, schema: string): string {
  const place = new URL(url);
  place.searchParams.set('options', `-c search_path=${schema} -c synchronous_commit=off`);
  return place.href;
}

async function shows(replica: pg.Client, lsn: string): Promise<void> {
  for (const deadline = Date.now() + 30_000; ;) {
    const { rows } = await replica.query<{ readonly is: boolean }>(
      'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS is',
      [lsn],
    );
    if (rows[0]?.is === true) return;
    if (Date.now() > deadline) throw new Error('The replica does not follow its primary');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
