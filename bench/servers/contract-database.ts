import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { POOL_SIZE, POSTGRES_SETTINGS, prepareSqlite } from './data-source-options.js';

type Records = readonly (readonly unknown[])[];
type Run = (name: string, sql: string) => (...values: readonly unknown[]) => Records | Promise<Records>;

/** The tables, with the representation of their rows by contract 3.1 and contract 4.12. */
const TABLES = {
  question: {
    path: 'polls/question',
    columns: { id: 'integer', question_text: 'text', pub_date: 'instant' },
    shown: {},
    link: 'choices',
  },
  choice: {
    path: 'polls/choice',
    columns: { id: 'integer', choice_text: 'text', votes: 'integer', note: 'text', question_id: 'integer' },
    shown: { question_id: 'question' },
    link: undefined,
  },
  student: {
    path: 'edu/student',
    columns: { id: 'integer', name: 'text', email: 'text', credits: 'integer', enrolled_at: 'instant' },
    shown: {},
    link: 'course_set',
  },
  enrolment: {
    path: 'edu/enrolment',
    columns: { id: 'integer', grade: 'text', student_id: 'integer', course_id: 'integer' },
    shown: { student_id: 'student', course_id: 'course' },
    link: undefined,
  },
} as const;

type Table = keyof typeof TABLES;
type ColumnKind = 'integer' | 'text' | 'instant';

/** The JSON of a row by the database, with the same checks of its correctness as in this package. */
interface Writer {
  row(table: Table): string;
  readonly joined: string;
  isRight(table: Table): (text: string) => boolean;
}

interface Member {
  readonly column: string;
  readonly name: string;
  readonly kind: ColumnKind;
}

function membersOf(table: Table): readonly Member[] {
  const { columns, shown } = TABLES[table];
  return Object.entries(columns).map(([column, kind]) => ({
    column,
    kind,
    name: (shown as Readonly<Record<string, string>>)[column] ?? column,
  }));
}

const FORMS: Readonly<Record<ColumnKind, string>> = {
  integer: '(?:null|-?\\d{1,15})',
  text: '(?:null|"[^"\\\\]*(?:\\\\.[^"\\\\]*)*")',
  instant: '(?:null|"\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z")',
};

const SQLITE: Writer = {
  row: (table) => {
    const { link, path } = TABLES[table];
    const members = membersOf(table).map(
      ({ column, name, kind }) =>
        `'${name}', ${kind === 'instant' ? `replace(t.${column}, ' ', 'T') || CASE length(t.${column}) WHEN 23 THEN 'Z' ELSE '.000Z' END` : `t.${column}`}`,
    );
    const links = link === undefined ? [] : [`'${link}', '/rest/v1/${path}/' || t.id || '/${link}/'`];
    const bytes = membersOf(table)
      .map(({ column }) => `t.${column} >= x''`)
      .join(' OR ');
    return `CASE WHEN (${bytes}) IS NOT TRUE THEN json_object(${[...members, ...links].join(', ')}) END`;
  },
  joined: `group_concat(p.text, ',')`,
  isRight: (table) => {
    const { link, path } = TABLES[table];
    const members = membersOf(table).map(({ name, kind }) => `"${name}":${FORMS[kind]}`);
    const links = link === undefined ? [] : [`"${link}":"/rest/v1/${path}/-?\\d{1,15}/${link}/"`];
    const form = new RegExp(`^(?:\\{${[...members, ...links].join(',')}\\}(?:,(?=\\{)|$))*$`);
    return (text) => form.test(text);
  },
};

const POSTGRES: Writer = {
  row: (table) => {
    const { link, path } = TABLES[table];
    const members = membersOf(table).map(
      ({ column, name, kind }, index) =>
        `'${index === 0 ? '{' : ','}"${name}":' || coalesce(${postgresText(`t.${column}`, kind)}, 'null')`,
    );
    const links = link === undefined ? [] : [`',"${link}":"/rest/v1/${path}/' || t.id::text || '/${link}/"'`];
    const instants = membersOf(table)
      .filter(({ kind }) => kind === 'instant')
      .map(
        ({ column }) =>
          `(t.${column} IS NULL OR (t.${column} >= '0001-01-02' AND t.${column} < '9999-12-31'))`,
      );
    const text = `${[...members, ...links].join(' || ')} || '}'`;
    return instants.length === 0 ? text : `CASE WHEN ${instants.join(' AND ')} THEN ${text} END`;
  },
  joined: `string_agg(p.text, ',')`,
  isRight: () => () => true,
};

function postgresText(column: string, kind: ColumnKind): string {
  if (kind === 'integer') return `${column}::text`;
  return kind === 'text'
    ? `to_json(${column}::text)::text`
    : `'"' || left(to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US'), 23) || 'Z"'`;
}

const PAGE_ROWS = 1000;

/** A page of a list as text, and whether there may be another one; undefined if the parent does not exist. */
interface Page {
  readonly text: string;
  readonly last: unknown;
}

/** The statements of this package for these tables, with the checks of their results. */
export interface ContractDatabase {
  question(id: number): Promise<string | undefined>;
  students(): Promise<string>;
  choices(after: unknown): Promise<Page>;
  choicesWithVotes(votes: number): Promise<string>;
  choicesOf(question: number): Promise<string | undefined>;
  enrolmentsOf(student: number): Promise<string | undefined>;
  createChoice(values: readonly unknown[]): Promise<readonly unknown[] | undefined>;
  updateQuestion(id: number, text: unknown): Promise<readonly unknown[] | undefined>;
}

export function openContractDatabase(): ContractDatabase {
  const [writer, run] = process.env.BENCH_DATABASE === 'sqlite' ? [SQLITE, sqlite()] : [POSTGRES, postgres()];
  const listed = (
    name: string,
    table: Table,
    rest: { readonly where: string; readonly order?: string; readonly parent?: string; readonly last?: true },
  ): ((...values: readonly unknown[]) => Promise<Page | undefined>) => {
    const rows = `SELECT ${writer.row(table)} AS text, t.id AS id FROM ${table} t WHERE ${rest.where} ORDER BY ${rest.order ?? 't.id'} LIMIT ${PAGE_ROWS}`;
    const readPage = run(
      name,
      `WITH page AS (${rows}) SELECT count(*), count(p.text), ${writer.joined}, ${rest.parent ?? '1'}, ${rest.last ? 'max(p.id)' : 'NULL'} FROM page p`,
    );
    const isRight = writer.isRight(table);
    return async (...values) => {
      const [[count, written, text, parents, last] = []] = await readPage(...values);
      if (Number(parents) === 0) return undefined;
      const page = String(text ?? '');
      if (Number(count) !== Number(written) || !isRight(page))
        throw new Error(`A row of ${table} is not written so`);
      return { text: page, last: Number(count) < PAGE_ROWS ? undefined : last };
    };
  };
  const one = run('question', `SELECT ${writer.row('question')} FROM question t WHERE t.id = $1 LIMIT 1`);
  const isQuestion = writer.isRight('question');
  const students = listed('students', 'student', { where: '1 = 1' });
  const choices = listed('choices', 'choice', { where: 't.id > $1', last: true });
  const choicesWithVotes = listed('choicesWithVotes', 'choice', {
    where: 't.votes = $1',
    order: 't.choice_text DESC, t.id',
  });
  const choicesOf = listed('choicesOf', 'choice', {
    where: 't.question_id = $1',
    parent: '(SELECT count(*) FROM question WHERE id = $1)',
  });
  const enrolmentsOf = listed('enrolmentsOf', 'enrolment', {
    where: 't.student_id = $1',
    parent: '(SELECT count(*) FROM student WHERE id = $1)',
  });
  const created = run(
    'create',
    `INSERT INTO choice (choice_text, votes, note, question_id) SELECT $1${as('text')}, $2${as('integer')}, $3${as('text')}, $4${as('integer')} WHERE EXISTS (SELECT 1 FROM question WHERE id = $4) RETURNING id, choice_text, votes, note, question_id`,
  );
  const updated = run(
    'update',
    'UPDATE question SET question_text = $2 WHERE id = $1 RETURNING id, question_text, pub_date',
  );
  return {
    question: async (id) => {
      const [[text] = []] = await one(id);
      if (text !== undefined && !(typeof text === 'string' && isQuestion(text)))
        throw new Error('A question is not written so');
      return text;
    },
    students: async () => (await students())?.text ?? '',
    choices: async (after) => (await choices(after)) ?? { text: '', last: undefined },
    choicesWithVotes: async (votes) => (await choicesWithVotes(votes))?.text ?? '',
    choicesOf: async (question) => (await choicesOf(question))?.text,
    enrolmentsOf: async (student) => (await enrolmentsOf(student))?.text,
    createChoice: async (values) => (await created(...values))[0],
    updateQuestion: async (id, text) => (await updated(id, text))[0],
  };
}

function as(type: string): string {
  return process.env.BENCH_DATABASE === 'sqlite' ? '' : `::${type}`;
}

function sqlite(): Run {
  const database = new Sqlite(process.env.BENCH_SQLITE_FILE ?? '');
  prepareSqlite(database);
  return (_name, sql) => {
    const prepared = database.prepare(sql.replace(/\$\d/g, '?')).raw();
    const order = [...sql.matchAll(/\$(\d)/g)].map(([, place]) => Number(place) - 1);
    return (...values) => prepared.all(...order.map((at) => values[at]));
  };
}

function postgres(): Run {
  const pool = new pg.Pool({
    connectionString: process.env.BENCH_POSTGRES_URL,
    max: POOL_SIZE,
    options: POSTGRES_SETTINGS,
  });
  return (name, text) =>
    async (...values) =>
      (await pool.query<unknown[]>({ name: `contract-${name}`, text, values: [...values], rowMode: 'array' }))
        .rows;
}
