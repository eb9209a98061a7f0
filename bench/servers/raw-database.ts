import Sqlite from 'better-sqlite3';
import { createPool } from 'mysql2/promise';
import type { RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { MARIADB_OPTIONS, POOL_SIZE, POSTGRES_SETTINGS, prepareSqlite } from './data-source-options.js';

export type Row = Record<string, unknown>;
type Rows = readonly Row[];
type Statement = (values: readonly unknown[]) => Promise<Rows>;

const QUESTION = 'id, question_text, pub_date';
const CHOICE = 'id, choice_text, votes, note, question_id';

/** With the placeholders of PostgreSQL, which `openSqlite` replaces. */
const STATEMENTS = {
  question: `SELECT ${QUESTION} FROM question WHERE id = $1`,
  student: 'SELECT id FROM student WHERE id = $1',
  students: 'SELECT id, name, email, credits, enrolled_at FROM student ORDER BY id',
  choices: `SELECT ${CHOICE} FROM choice ORDER BY id`,
  choicesWithVotes: `SELECT ${CHOICE} FROM choice WHERE votes = $1 ORDER BY choice_text DESC`,
  choicesOf: `SELECT ${CHOICE} FROM choice WHERE question_id = $1 ORDER BY id`,
  enrolmentsOf: 'SELECT id, grade, student_id, course_id FROM enrolment WHERE student_id = $1 ORDER BY id',
  measurements:
    'SELECT id, label, value FROM measurement WHERE value >= $1 AND value < $2 ORDER BY value DESC, id DESC',
  posts: 'SELECT id, title, published_at FROM post ORDER BY id LIMIT 100 OFFSET $1',
  countPosts: 'SELECT count(*) AS count FROM post',
  devices: 'SELECT id, name, settings FROM device ORDER BY id LIMIT 100 OFFSET $1',
  countDevices: 'SELECT count(*) AS count FROM device',
  createChoice: `INSERT INTO choice (choice_text, votes, note, question_id) VALUES ($1, $2, $3, $4) RETURNING ${CHOICE}`,
  updateQuestion: `UPDATE question SET question_text = $1 WHERE id = $2 RETURNING ${QUESTION}`,
} as const;

type StatementName = keyof typeof STATEMENTS;

/** Prepares a statement with placeholders `$1`, `$2` … in their order. */
export type OpenStatement = (name: string, sql: string) => Statement;
export type RawDatabase = Readonly<Record<StatementName, Statement>>;

const OPENERS = { sqlite: openSqlite, postgres: openPostgres, mariadb: openMariadb };

/** The database of the servers, as the runner names it. */
export const DATABASE = process.env.BENCH_DATABASE as keyof typeof OPENERS;

export function connectRaw(): OpenStatement {
  return OPENERS[DATABASE]();
}

export function openRawDatabase(open: OpenStatement): RawDatabase {
  const names = Object.keys(STATEMENTS) as StatementName[];
  return Object.fromEntries(names.map((name) => [name, open(name, STATEMENTS[name])])) as RawDatabase;
}

function openSqlite(): OpenStatement {
  const database = new Sqlite(process.env.BENCH_SQLITE_FILE ?? '');
  prepareSqlite(database);
  return (_name, sql) => {
    const prepared = database.prepare(sql.replace(/\$\d/g, '?'));
    const instant = INSTANTS.find((column) => sql.includes(column));
    if (instant === undefined) return (values) => Promise.resolve(prepared.all(...values));
    return (values) => Promise.resolve(withInstants(prepared.all(...values), instant));
  };
}

const INSTANTS = ['pub_date', 'enrolled_at', 'published_at'];

/** Converts the texts of SQLite to ISO 8601, as every other contestant sends them. */
function withInstants(rows: Rows, column: string): Rows {
  for (const row of rows) row[column] = `${String(row[column]).replace(' ', 'T')}Z`;
  return rows;
}

function openPostgres(): OpenStatement {
  const pool = new pg.Pool({
    connectionString: process.env.BENCH_POSTGRES_URL,
    max: POOL_SIZE,
    options: POSTGRES_SETTINGS,
  });
  return (name, text) => async (values) => (await pool.query<Row>({ name, text, values: [...values] })).rows;
}

const UPDATE = /^UPDATE (\w+) SET (\w+) = \$1 WHERE id = \$2 RETURNING (.*)$/;

function openMariadb(): OpenStatement {
  const pool = createPool(MARIADB_OPTIONS);
  const run = async (sql: string, values: readonly unknown[]): Promise<Rows> =>
    (await pool.execute<RowDataPacket[]>(sql.replace(/\$\d/g, '?'), [...values] as string[]))[0];
  return (_name, sql) => {
    const [, table, column, returned] = UPDATE.exec(sql) ?? [];
    if (table === undefined) return (values) => run(sql, values);
    return async (values) => {
      // There is no UPDATE … RETURNING.
      await run(`UPDATE ${table} SET ${column} = ? WHERE id = ?`, values);
      return run(`SELECT ${returned} FROM ${table} WHERE id = ?`, values.slice(1));
    };
  };
}
