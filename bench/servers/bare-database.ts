import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { POOL_SIZE, POSTGRES_SETTINGS, prepareSqlite } from './data-source-options.js';

/** The text of a response; undefined if the row does not exist. */
export type Statement = (...values: readonly unknown[]) => Promise<string | undefined>;

/** The columns of each table, and whether they are instants. */
const COLUMNS = {
  question: ['id', 'question_text', 'pub_date'],
  choice: ['id', 'choice_text', 'votes', 'note', 'question_id'],
  student: ['id', 'name', 'email', 'credits', 'enrolled_at'],
  enrolment: ['id', 'grade', 'student_id', 'course_id'],
} as const;

const INSTANTS: ReadonlySet<string> = new Set(['pub_date', 'enrolled_at']);

type Table = keyof typeof COLUMNS;

/** The JSON functions of a database. */
export interface Writer {
  readonly instant: (column: string) => string;
  readonly object: (members: string) => string;
  readonly joined: (rows: string) => string;
}

const SQLITE: Writer = {
  instant: (column) => `replace(${column}, ' ', 'T') || 'Z'`,
  object: (members) => `json_object(${members})`,
  joined: (rows) => `'[' || coalesce(group_concat(${rows}, ','), '') || ']'`,
};

const POSTGRES: Writer = {
  instant: (column) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  object: (members) => `json_build_object(${members})::text`,
  joined: (rows) => `'[' || coalesce(string_agg(${rows}, ','), '') || ']'`,
};

function objectOf(table: Table, { instant, object }: Writer): string {
  return object(
    COLUMNS[table]
      .map((column) => `'${column}', ${INSTANTS.has(column) ? instant(column) : column}`)
      .join(', '),
  );
}

function listSql(table: Table, rest: string, writer: Writer): string {
  return `SELECT ${writer.joined('row.text')} FROM (SELECT ${objectOf(table, writer)} AS text FROM ${table} ${rest}) AS row`;
}

/** One statement per workload, which returns the whole response; that of a nested list also checks its parent. */
function statementsOf(writer: Writer): Readonly<Record<StatementName, string>> {
  const below = (parent: Table, list: string): string =>
    `SELECT (${list}) WHERE EXISTS (SELECT 1 FROM ${parent} WHERE id = $1)`;
  return {
    question: `SELECT ${objectOf('question', writer)} FROM question WHERE id = $1`,
    students: listSql('student', 'ORDER BY id', writer),
    choices: listSql('choice', 'ORDER BY id', writer),
    choicesWithVotes: listSql('choice', 'WHERE votes = $1 ORDER BY choice_text DESC', writer),
    choicesOf: below('question', listSql('choice', 'WHERE question_id = $1 ORDER BY id', writer)),
    enrolmentsOf: below('student', listSql('enrolment', 'WHERE student_id = $1 ORDER BY id', writer)),
    createChoice: `INSERT INTO choice (choice_text, votes, note, question_id) VALUES ($1, $2, $3, $4) RETURNING ${objectOf('choice', writer)}`,
    updateQuestion: `UPDATE question SET question_text = $2 WHERE id = $1 RETURNING ${objectOf('question', writer)}`,
  };
}

type StatementName =
  | 'question'
  | 'students'
  | 'choices'
  | 'choicesWithVotes'
  | 'choicesOf'
  | 'enrolmentsOf'
  | 'createChoice'
  | 'updateQuestion';
export type BareDatabase = Readonly<Record<StatementName, Statement>>;

export interface StatementSource {
  readonly writer: Writer;
  /** Prepares a statement with placeholders `$1`, `$2` …, whose first column is the text of the response. */
  readonly open: (name: string, sql: string) => Statement;
}

export function openStatements(): StatementSource {
  return process.env.BENCH_DATABASE === 'sqlite'
    ? { writer: SQLITE, open: openSqlite() }
    : { writer: POSTGRES, open: openPostgres() };
}

export function openBareDatabase(): BareDatabase {
  const { writer, open } = openStatements();
  const texts = statementsOf(writer);
  return {
    question: open('question', texts.question),
    students: open('students', texts.students),
    choices: open('choices', texts.choices),
    choicesWithVotes: open('choicesWithVotes', texts.choicesWithVotes),
    choicesOf: open('choicesOf', texts.choicesOf),
    enrolmentsOf: open('enrolmentsOf', texts.enrolmentsOf),
    createChoice: open('createChoice', texts.createChoice),
    updateQuestion: open('updateQuestion', texts.updateQuestion),
  };
}

function openSqlite(): (name: string, sql: string) => Statement {
  const database = new Sqlite(process.env.BENCH_SQLITE_FILE ?? '');
  prepareSqlite(database);
  return (_name, sql) => {
    const prepared = database.prepare(sql.replace(/\$\d/g, '?')).pluck();
    const order = [...sql.matchAll(/\$(\d)/g)].map(([, place]) => Number(place) - 1);
    return (...values) =>
      Promise.resolve(prepared.get(...order.map((at) => values[at])) as unknown as string | undefined);
  };
}

function openPostgres(): (name: string, sql: string) => Statement {
  const pool = new pg.Pool({
    connectionString: process.env.BENCH_POSTGRES_URL,
    max: POOL_SIZE,
    options: POSTGRES_SETTINGS,
  });
  return (name, text) =>
    async (...values) =>
      (await pool.query<[string]>({ name, text, values: [...values], rowMode: 'array' })).rows[0]?.[0];
}
