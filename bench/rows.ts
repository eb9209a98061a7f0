/** A row by the names of the schema, with dates as ISO text. */
export type Row = Readonly<Record<string, Value>>;
/** Objects are the values of JSON columns. */
export type Value = string | number | null | Settings | readonly Row[];

export interface Settings {
  readonly on: boolean;
  readonly tags: readonly string[];
  readonly limits: { readonly low: number; readonly high: number };
}

export const QUESTIONS = 1000;
export const CHOICES = 10_000;
export const STUDENTS = 100;
export const COURSES = 20;
export const COURSES_OF_A_STUDENT = 5;
export const MEASUREMENTS = 20_000;
export const POSTS = 2000;
export const DEVICES = 1000;
export const PARCELS = 500;
export const WARES = 10_000;
export const SHELVES = 100;
export const ITEMS_OF_A_SHELF = 10;
/** Of lists with pagination, and of bulk writes. */
export const PAGE_SIZE = 100;

const START = Date.UTC(2022, 9, 2, 9, 23, 28, 297);

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

export function questionRow(n: number): Row {
  return { id: n, question_text: `What is the answer to question ${four(n)}?`, pub_date: instantText(n) };
}

/** Zero-padded, so that the order is the same in every collation. */
export function choiceRow(n: number): Row {
  const question = Math.ceil(n / 10);
  return {
    id: n,
    choice_text: `Choice ${four(n)} of question ${four(question)}`,
    votes: (n * 7) % 100,
    note: n % 3 === 0 ? null : `Note "${n}"`,
    question,
  };
}

export function studentRow(n: number): Row {
  return {
    id: n,
    name: `Student ${four(n)}`,
    email: `student${n}@example.org`,
    credits: n % 30,
    enrolled_at: instantText(n * 11),
  };
}

export function courseRow(n: number): Row {
  return { id: n, title: `Course ${four(n)}` };
}

export function enrolmentRow(n: number): Row {
  const student = Math.ceil(n / COURSES_OF_A_STUDENT);
  return { id: n, grade: 'ABCDE'.charAt(n % 5), student, course: (n % COURSES) + 1 };
}

export function choicesOf(question: number): Row[] {
  return upTo(10).map((n) => choiceRow((question - 1) * 10 + n));
}

export function choicesWithVotes(votes: number): Row[] {
  return upTo(CHOICES)
    .map(choiceRow)
    .filter((row) => row.votes === votes)
    .reverse();
}

export function enrolmentsOf(student: number): Row[] {
  return upTo(COURSES_OF_A_STUDENT).map((n) => enrolmentRow((student - 1) * COURSES_OF_A_STUDENT + n));
}

/** Small values are frequent, large ones are rare; the order of the keys is not that of the values. */
export function measurementRow(n: number): Row {
  const rank = (n * 7919) % MEASUREMENTS;
  return { id: n, label: `Measurement ${four(n)}`, value: Math.floor(rank ** 2 / 1000) };
}

/** Those from `lowest` (inclusive) to `lowest` + `RANGE_WIDTH` (exclusive), in descending order. */
export const RANGE_WIDTH = 400;
export function measurementsFrom(lowest: number): Row[] {
  const value = (row: Row): number => Number(row.value);
  return upTo(MEASUREMENTS)
    .map(measurementRow)
    .filter((row) => value(row) >= lowest && value(row) < lowest + RANGE_WIDTH)
    .sort((one, other) => value(other) - value(one) || Number(other.id) - Number(one.id));
}

export function postRow(n: number): Row {
  return { id: n, title: `Post ${four(n)}`, published_at: instantText(n * 13) };
}

/** Of a comment or a revision of a post. */
export function remarkRow(n: number): Row {
  return { id: n, text: `Remark ${four(n)}`, post: n * 7 };
}

/** The names in `settings` are in the order in which PostgreSQL's jsonb keeps them. */
export function deviceRow(n: number): Row {
  return {
    id: n,
    name: `Device ${four(n)}`,
    settings: {
      on: n % 2 === 0,
      tags: upTo(n % 4).map((tag) => `Tag "${tag}"`),
      limits: { low: n, high: n * 2 },
    },
  };
}

export function parcelRow(n: number): Row {
  return { id: n, label: `Parcel ${four(n)}`, weight: n % 500 };
}

export function wareRow(n: number): Row {
  return { id: n, code: `code-${four(n)}`, stock: n % 50 };
}

export function shelfRow(n: number): Row {
  return { id: n, label: `Shelf ${four(n)}`, places: n % 50 };
}

export function itemRow(n: number): Row {
  const shelf = Math.ceil(n / ITEMS_OF_A_SHELF);
  return { id: n, label: `Item ${four(n)} of shelf ${four(shelf)}`, weight: n % 500, shelf };
}

function instantText(n: number): string {
  return new Date(START + n * 60_007).toISOString();
}

function four(n: number): string {
  return String(n).padStart(5, '0');
}
