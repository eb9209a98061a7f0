import {
  CHOICES,
  COURSES,
  COURSES_OF_A_STUDENT,
  DEVICES,
  ITEMS_OF_A_SHELF,
  MEASUREMENTS,
  PARCELS,
  POSTS,
  QUESTIONS,
  SHELVES,
  STUDENTS,
  WARES,
  choiceRow,
  courseRow,
  deviceRow,
  enrolmentRow,
  itemRow,
  measurementRow,
  parcelRow,
  postRow,
  questionRow,
  remarkRow,
  shelfRow,
  studentRow,
  upTo,
  wareRow,
} from './rows.js';
import type { Row } from './rows.js';

interface SeededTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** The column that requests change. */
  readonly changed?: { readonly column: string; readonly type: string };
  /** Whether requests create rows. */
  readonly grows?: true;
}

/** `@table` is the name of a table, and `@instant` and `@json` are types, in the form of each database. */
export const SEEDED_TABLES: readonly SeededTable[] = [
  {
    name: 'question',
    columns: ['question_text varchar(200) NOT NULL', 'pub_date @instant NOT NULL'],
    rows: upTo(QUESTIONS).map(questionRow),
    changed: { column: 'question_text', type: 'varchar(200)' },
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
    grows: true,
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
  {
    name: 'measurement',
    columns: ['label varchar(40) NOT NULL', 'value integer NOT NULL'],
    rows: upTo(MEASUREMENTS).map(measurementRow),
  },
  {
    name: 'post',
    columns: ['title varchar(100) NOT NULL', 'published_at @instant NOT NULL'],
    rows: upTo(POSTS).map(postRow),
  },
  ...['comment', 'revision'].map((name) => ({
    name,
    columns: ['text varchar(100) NOT NULL', 'post_id integer NOT NULL REFERENCES @post (id)'],
    rows: upTo(100).map(remarkRow),
  })),
  {
    name: 'device',
    columns: ['name varchar(100) NOT NULL', 'settings @json NOT NULL'],
    rows: upTo(DEVICES).map(deviceRow),
  },
  ...['parcel', 'hooked', 'listened', 'ruled'].map((name) => ({
    name,
    columns: ['label varchar(100) NOT NULL', 'weight integer NOT NULL'],
    rows: upTo(PARCELS).map(parcelRow),
    changed: { column: 'label', type: 'varchar(100)' },
    grows: true as const,
  })),
  {
    name: 'ware',
    columns: ['code varchar(20) NOT NULL UNIQUE', 'stock integer NOT NULL'],
    rows: upTo(WARES).map(wareRow),
    changed: { column: 'stock', type: 'integer' },
  },
  {
    name: 'shelf',
    columns: ['label varchar(100) NOT NULL', 'places integer NOT NULL'],
    rows: upTo(SHELVES).map(shelfRow),
    grows: true,
  },
  {
    name: 'item',
    columns: [
      'label varchar(100) NOT NULL',
      'weight integer NOT NULL',
      // The rows of a shelf are removed with it when its table is restored.
      'shelf_id integer NOT NULL REFERENCES @shelf (id) ON DELETE CASCADE',
    ],
    rows: upTo(SHELVES * ITEMS_OF_A_SHELF).map(itemRow),
  },
];

const INDEXES = [
  'CREATE INDEX choice_question ON @choice (question_id)',
  'CREATE INDEX choice_votes ON @choice (votes)',
  'CREATE INDEX enrolment_student ON @enrolment (student_id)',
  'CREATE INDEX measurement_value ON @measurement (value)',
  'CREATE INDEX comment_post ON @comment (post_id)',
  'CREATE INDEX revision_post ON @revision (post_id)',
  'CREATE INDEX item_shelf ON @item (shelf_id)',
];

const CHANGED = SEEDED_TABLES.flatMap(({ name, changed }) =>
  changed === undefined ? [] : [{ name, changed }],
);

/** Run after the rows are there: indexes, and copies of what requests change. */
export const FINISH = [
  ...INDEXES,
  ...CHANGED.flatMap(({ name, changed }) => [
    `CREATE TABLE @${name}_seed (id integer PRIMARY KEY, value ${changed.type} NOT NULL)`,
    `INSERT INTO @${name}_seed SELECT id, ${changed.column} FROM @${name}`,
  ]),
];

/** The statements that revert the writes of a table. */
export function restoreOf(table: string): string[] {
  const seeded = SEEDED_TABLES.find(({ name }) => name === table);
  if (!seeded) throw new Error(`There is no table ${table}`);
  const { changed, grows, rows } = seeded;
  const seed = `SELECT s.value FROM @${table}_seed s WHERE s.id = @${table}.id`;
  return [
    ...(grows ? [`DELETE FROM @${table} WHERE id > ${rows.length}`] : []),
    ...(changed
      ? [`UPDATE @${table} SET ${changed.column} = (${seed}) WHERE ${changed.column} <> (${seed})`]
      : []),
  ];
}

/** All tables, separated by commas. */
export const TABLES = SEEDED_TABLES.map(({ name }) => `@${name}`).join(', ');

/** The columns of rows, in the order in which `valuesOf` gives their values. */
export function columnsOf(rows: readonly Row[]): string[] {
  return Object.keys(rows[0] ?? {}).map(columnOf);
}

/** Foreign keys have the name of the relation in rows, and the suffix `_id` in tables. */
export function columnOf(name: string): string {
  return ['question', 'student', 'course', 'post', 'shelf'].includes(name) ? `${name}_id` : name;
}

export const INSTANTS: ReadonlySet<string> = new Set(['pub_date', 'enrolled_at', 'published_at']);

/** The values of a row; instants in the text that TypeORM stores on SQLite, and that MariaDB understands. */
export function valuesOf(row: Row): (string | number | null)[] {
  return Object.entries(row).map(([column, value]) => {
    if (typeof value === 'object' && value !== null) return JSON.stringify(value);
    return typeof value === 'string' && INSTANTS.has(column)
      ? value.replace('T', ' ').replace('Z', '')
      : value;
  });
}

/** Replaces `@table` and `@type` in a statement. */
export function inDatabase(
  sql: string,
  {
    types,
    table,
  }: { readonly types: Readonly<Record<string, string>>; readonly table: (name: string) => string },
): string {
  return sql.replace(/@(\w+)/g, (_, word: string) => types[word] ?? table(word));
}
