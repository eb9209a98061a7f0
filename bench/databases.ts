import Sqlite from 'better-sqlite3';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { cpuOfProcesses } from './process-cpu.js';
import type { CpuByProcess } from './process-cpu.js';
import {
  CHOICES,
  COURSES,
  COURSES_OF_A_STUDENT,
  QUESTIONS,
  STUDENTS,
  choiceRow,
  courseRow,
  enrolmentRow,
  questionRow,
  studentRow,
  upTo,
} from './rows.js';
import type { Row } from './rows.js';

export const DATABASES = ['sqlite', 'postgres'] as const;
export type DatabaseName = (typeof DATABASES)[number];

/** A database for one run. `drop` removes it. */
export interface BenchDatabase {
  readonly name: DatabaseName;
  readonly version: string;
  /** The environment variables by which servers connect to it. */
  readonly environment: Readonly<Record<string, string>>;
  run(sql: string): Promise<void>;
  rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Updates the statistics of the query planner, as `ANALYZE` or `PRAGMA optimize` do. */
  analyze(): Promise<void>;
  /** Reverts the changes of creates and updates. */
  restore(): Promise<void>;
  /** CPU time of each process of the database that serves the application of that name; undefined if there are none, or if it cannot be measured. */
  cpuByProcess(application: string): Promise<CpuByProcess | undefined>;
  drop(): Promise<void>;
}

interface SeededTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

const SEEDED_TABLES: readonly SeededTable[] = [
  {
    name: 'question',
    columns: ['question_text varchar(200) NOT NULL', 'pub_date @instant NOT NULL'],
    rows: upTo(QUESTIONS).map(questionRow),
  },
  {
    name: 'choice',
    columns: [
      'choice_text varchar(200) NOT NULL',
      'votes integer NOT NULL',
      'note varchar(100)',
      'question_id integer NOT NULL REFERENCES @question (id)',
    ],
    rows: upTo(CHOICES).map(choiceRow),
  },
  {
    name: 'student',
    columns: [
      'name varchar(100) NOT NULL',
      'email varchar(100) NOT NULL',
      'credits integer NOT NULL',
      'enrolled_at @instant NOT NULL',
    ],
    rows: upTo(STUDENTS).map(studentRow),
  },
  { name: 'course', columns: ['title varchar(100) NOT NULL'], rows: upTo(COURSES).map(courseRow) },
  {
    name: 'enrolment',
    columns: [
      'grade varchar(1) NOT NULL',
      'student_id integer NOT NULL REFERENCES @student (id)',
      'course_id integer NOT NULL REFERENCES @course (id)',
    ],
    rows: upTo(STUDENTS * COURSES_OF_A_STUDENT).map(enrolmentRow),
  },
];

const INDEXES = [
  'CREATE INDEX choice_question ON @choice (question_id)',
  'CREATE INDEX choice_votes ON @choice (votes)',
  'CREATE INDEX enrolment_student ON @enrolment (student_id)',
];

const RESTORE = [
  `DELETE FROM @choice WHERE id > ${CHOICES}`,
  "UPDATE @question SET question_text = 'What is the answer to question ' || substr('0000' || id, length('0000' || id) - 4) || '?'",
];

export function openDatabase(name: DatabaseName): Promise<BenchDatabase> {
  switch (name) {
    case 'sqlite':
      return openSqlite();
    case 'postgres':
      return openPostgres();
    default:
      return name satisfies never;
  }
}

async function openSqlite(): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'restify-bench-'));
  const file = join(folder, 'bench.sqlite');
  const connection = new Sqlite(file);
  // The mode is stored in the file: readers do not wait for the writer, in every server.
  connection.pragma('journal_mode = WAL');
  const run = (sql: string): Promise<void> => {
    connection.exec(
      sql.replace(/@(\w+)/g, (_, word: string) => (word === 'instant' ? 'datetime' : `"${word}"`)),
    );
    return Promise.resolve();
  };
  for (const { name, columns, rows } of SEEDED_TABLES) {
    await run(`CREATE TABLE @${name} (id integer PRIMARY KEY AUTOINCREMENT, ${columns.join(', ')})`);
    const names = columnNames(rows);
    const insert = connection.prepare(
      `INSERT INTO "${name}" (${names.map(columnOf).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    );
    connection.exec('BEGIN');
    for (const row of rows) insert.run(...names.map((column) => sqliteValue(column, row[column])));
    connection.exec('COMMIT');
  }
  for (const sql of INDEXES) await run(sql);
  return {
    name: 'sqlite',
    version: `SQLite ${String(connection.prepare('SELECT sqlite_version() AS version').get()?.version)}`,
    environment: { BENCH_DATABASE: 'sqlite', BENCH_SQLITE_FILE: file },
    run,
    rows: (sql) => Promise.resolve(connection.prepare(sql.replace(/@(\w+)/g, '"$1"')).all()),
    analyze: () => run('ANALYZE'),
    restore: () => Promise.all(RESTORE.map(run)).then(() => undefined),
    cpuByProcess: () => Promise.resolve(undefined),
    drop: () => {
      connection.close();
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}

async function openPostgres(): Promise<BenchDatabase> {
  const url = process.env.RESTIFY_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';
  const schema = `restify_bench_${process.pid}_${randomBytes(4).toString('hex')}`;
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 3000,
    application_name: 'bench-runner',
  });
  await client.connect();
  const inSchema = (sql: string): string =>
    sql.replace(/@(\w+)/g, (_, word: string) =>
      word === 'instant' ? 'timestamp(3)' : `"${schema}"."${word}"`,
    );
  const run = async (sql: string): Promise<void> => {
    await client.query(inSchema(sql));
  };
  const rows = async (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await client.query<Record<string, unknown>>(inSchema(sql))).rows;
  await run(`CREATE SCHEMA "${schema}"`);
  try {
    for (const { name, columns, rows: seeded } of SEEDED_TABLES) {
      await run(`CREATE TABLE @${name} (id serial PRIMARY KEY, ${columns.join(', ')})`);
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
    for (const sql of INDEXES) await run(sql);
    await run(`ANALYZE ${SEEDED_TABLES.map(({ name }) => `@${name}`).join(', ')}`);
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
    analyze: () => run(`ANALYZE ${SEEDED_TABLES.map(({ name }) => `@${name}`).join(', ')}`),
    restore: async () => {
      for (const sql of RESTORE) await run(sql);
      await run('VACUUM ANALYZE @choice, @question');
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

function columnNames(rows: readonly Row[]): string[] {
  return Object.keys(rows[0] ?? {});
}

/** Foreign keys have the name of the relation in rows, and the suffix `_id` in tables. */
function columnOf(name: string): string {
  return ['question', 'student', 'course'].includes(name) ? `${name}_id` : name;
}

/** The text that TypeORM stores for an instant on SQLite. */
function sqliteValue(column: string, value: string | number | null | undefined): string | number | null {
  if (typeof value === 'string' && (column === 'pub_date' || column === 'enrolled_at'))
    return value.replace('T', ' ').replace('Z', '');
  return value ?? null;
}
