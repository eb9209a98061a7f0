import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { POOL_SIZE, POSTGRES_SETTINGS, prepareSqlite } from './data-source-options.js';

type Statement = (values: readonly unknown[]) => Promise<readonly unknown[]>;
type Rows = readonly Record<string, unknown>[];

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
  createChoice: `INSERT INTO choice (choice_text, votes, note, question_id) VALUES ($1, $2, $3, $4) RETURNING ${CHOICE}`,
  updateQuestion: `UPDATE question SET question_text = $1 WHERE id = $2 RETURNING ${QUESTION}`,
} as const;

type StatementName = keyof typeof STATEMENTS;
export type RawDatabase = Readonly<Record<StatementName, Statement>>;

export function openRawDatabase(): RawDatabase {
  const open = process.env.BENCH_DATABASE === 'sqlite' ? openSqlite() : openPostgres();
  return {
    question: open('question'),
    student: open('student'),
    students: open('students'),
    choices: open('choices'),
    choicesWithVotes: open('choicesWithVotes'),
    choicesOf: open('choicesOf'),
    enrolmentsOf: open('enrolmentsOf'),
    createChoice: open('createChoice'),
    updateQuestion: open('updateQuestion'),
  };
}

function openSqlite(): (name: StatementName) => Statement {
  const database = new Sqlite(process.env.BENCH_SQLITE_FILE ?? '');
  prepareSqlite(database);
  return (name) => {
    const prepared = database.prepare(STATEMENTS[name].replace(/\$\d/g, '?'));
    const instant = instantColumn(name);
    if (instant === undefined) return (values) => Promise.resolve(prepared.all(...values));
    return (values) => Promise.resolve(withInstants(prepared.all(...values), instant));
  };
}

function instantColumn(name: StatementName): string | undefined {
  if (name === 'students') return 'enrolled_at';
  return name.toLowerCase().includes('question') ? 'pub_date' : undefined;
}

/** Converts the texts of SQLite to ISO 8601, as every other contestant sends them. */
function withInstants(rows: Rows, column: string): Rows {
  for (const row of rows) row[column] = `${String(row[column]).replace(' ', 'T')}Z`;
  return rows;
}

function openPostgres(): (name: StatementName) => Statement {
  const pool = new pg.Pool({
    connectionString: process.env.BENCH_POSTGRES_URL,
    max: POOL_SIZE,
    options: POSTGRES_SETTINGS,
  });
  return (name) => async (values) =>
    (await pool.query<Record<string, unknown>>({ name, text: STATEMENTS[name], values: [...values] })).rows;
}
