import {
  CHOICES,
  QUESTIONS,
  STUDENTS,
  choiceRow,
  choicesOf,
  choicesWithVotes,
  enrolmentsOf,
  questionRow,
  studentRow,
  upTo,
} from './rows.js';
import type { Row } from './rows.js';

export const WORKLOADS = [
  'constant',
  'retrieve',
  'list-100',
  'list-10000',
  'filter',
  'nested',
  'through',
  'create',
  'update',
] as const;
export type Workload = (typeof WORKLOADS)[number];

/** One request of a workload, independent of the API of a contestant. */
export interface Order {
  readonly workload: Workload;
  /** The key of the question (retrieve, nested, update, create) or student (through); the votes (filter). */
  readonly n: number;
  /** Makes the text of a write differ from the previous one, because an ORM that compares values skips unchanged ones. */
  readonly version: number;
}

/** The number of different requests of a workload. */
const RANGE: Readonly<Record<Workload, number>> = {
  constant: 1,
  retrieve: QUESTIONS,
  'list-100': 1,
  'list-10000': 1,
  filter: 100,
  nested: QUESTIONS,
  through: STUDENTS,
  create: QUESTIONS,
  update: QUESTIONS,
};

/**
 * The requests that one of `connections` connections repeats. Each connection has its own keys, so that no two write the same
 * row concurrently; updates use each key twice with different texts, so that each of them changes its row.
 */
export function ordersOf(workload: Workload, connection: number, connections: number): Order[] {
  const range = RANGE[workload];
  const first = range === 1 || range < connections ? 0 : connection;
  const step = range === 1 || range < connections ? 1 : connections;
  const orders: Order[] = [];
  for (const version of workload === 'update' ? [1, 2] : [1]) {
    for (let at = first; at < range; at += step)
      orders.push({ workload, n: at + (workload === 'filter' ? 0 : 1), version });
  }
  return orders;
}

/** Requests whose responses are compared with the seeded rows before the measurements. */
export function samplesOf(workload: Workload): Order[] {
  const orders = ordersOf(workload, 0, 1);
  const last = orders[orders.length - 1];
  return orders.slice(0, 3).concat(last ? [last] : []);
}

/** The expected rows of a response in order, as they were seeded. A created row has no `id` here. */
export function expectedRows({ workload, n, version }: Order): readonly Row[] {
  switch (workload) {
    case 'constant':
      return [{ id: 1, question_text: 'constant' }];
    case 'retrieve':
      return [questionRow(n)];
    case 'list-100':
      return upTo(STUDENTS).map(studentRow);
    case 'list-10000':
      return upTo(CHOICES).map(choiceRow);
    case 'filter':
      return choicesWithVotes(n);
    case 'nested':
      return choicesOf(n);
    case 'through':
      return enrolmentsOf(n);
    case 'create':
      return [newChoice(n)];
    case 'update':
      return [{ ...questionRow(n), question_text: changedText(n, version) }];
    default:
      workload satisfies never;
      return [];
  }
}

/** The row that a create request sends. */
export function newChoice(n: number): Row {
  return { choice_text: 'A new choice', votes: 5, note: null, question: n };
}

export function changedText(n: number, version: number): string {
  return `Question ${n}, in version ${version}`;
}
