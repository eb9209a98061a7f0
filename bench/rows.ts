/** A row by the names of the schema, with dates as ISO text. */
export type Row = Readonly<Record<string, string | number | null>>;

export const QUESTIONS = 1000;
export const CHOICES = 10_000;
export const STUDENTS = 100;
export const COURSES = 20;
export const COURSES_OF_A_STUDENT = 5;

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

function instantText(n: number): string {
  return new Date(START + n * 60_007).toISOString();
}

function four(n: number): string {
  return String(n).padStart(5, '0');
}
