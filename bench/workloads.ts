import {
  CHOICES,
  DEVICES,
  MEASUREMENTS,
  PAGE_SIZE,
  POSTS,
  QUESTIONS,
  STUDENTS,
  choiceRow,
  choicesOf,
  choicesWithVotes,
  deviceRow,
  enrolmentsOf,
  measurementsFrom,
  postRow,
  questionRow,
  studentRow,
  upTo,
} from './rows.js';
import type { Row } from './rows.js';
import { WRITES, hasVersions, rangeOfWrite, writtenRows } from './writes.js';
import type { WriteWorkload } from './writes.js';

export const WORKLOADS = [
  'constant',
  'retrieve',
  'list-100',
  'list-10000',
  'filter',
  'range',
  'nested',
  'through',
  'page',
  'page-json',
  'expanded',
  'aggregate',
  ...WRITES,
] as const;
export type Workload = (typeof WORKLOADS)[number];

/** One request of a workload, independent of the API of a contestant. */
export interface Order {
  readonly workload: Workload;
  /** The key of the question (retrieve, nested, update, create) or student (through); the votes (filter); the number of a range or page. */
  readonly n: number;
  /** Makes the text of a write differ from the previous one, because an ORM that compares values skips unchanged ones. */
  readonly version: number;
}

/** The number of different requests of a workload. */
const RANGE: Readonly<Record<Exclude<Workload, WriteWorkload>, number>> = {
  constant: 1,
  retrieve: QUESTIONS,
  'list-100': 1,
  'list-10000': 1,
  filter: 100,
  range: MEASUREMENTS / 2,
  nested: QUESTIONS,
  through: STUDENTS,
  page: POSTS / PAGE_SIZE,
  'page-json': DEVICES / PAGE_SIZE,
  expanded: QUESTIONS / PAGE_SIZE,
  aggregate: 1,
};

/** The part of a number of requests that a workload gets, where each of them takes many times as long as others. */
const SHARE: Readonly<Partial<Record<Workload, number>>> = {
  'list-10000': 0.01,
  bulk: 0.05,
  upsert: 0.05,
  'hook-bulk': 0.05,
  'listener-bulk': 0.05,
  'rule-bulk': 0.05,
};

export function amountOf(workload: Workload, requests: number): number {
  return Math.ceil(requests * (SHARE[workload] ?? 1));
}

/** Whether the database is changed, and must be restored afterwards. */
export function writes(workload: Workload): workload is WriteWorkload {
  return (WRITES as readonly Workload[]).includes(workload);
}

/**
 * The requests that one of `connections` connections repeats. Each connection has its own keys, so that no two write the same
 * row concurrently; updates use each key twice with different texts, so that each of them changes its row.
 */
export function ordersOf(workload: Workload, connection: number, connections: number): Order[] {
  const range = writes(workload) ? rangeOfWrite(workload) : RANGE[workload];
  const first = range === 1 || range < connections ? 0 : connection;
  const step = range === 1 || range < connections ? 1 : connections;
  const orders: Order[] = [];
  for (const version of writes(workload) && hasVersions(workload) ? [1, 2] : [1]) {
    for (let at = first; at < range; at += step)
      orders.push({ workload, n: at + (workload === 'filter' || workload === 'range' ? 0 : 1), version });
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
  if (writes(workload)) return writtenRows({ workload, n, version });
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
    case 'range':
      return measurementsFrom(lowestOf(n));
    case 'nested':
      return choicesOf(n);
    case 'through':
      return enrolmentsOf(n);
    case 'page':
      return pageOf(n).map((id) => ({ ...postRow(id), ...linksOf(id), of: POSTS }));
    case 'page-json':
      return pageOf(n).map((id) => ({ ...deviceRow(id), of: DEVICES }));
    case 'expanded':
      return pageOf(n).map((id) => ({ ...questionRow(id), choices: mostVoted(id), of: QUESTIONS }));
    case 'aggregate':
      return upTo(100).map((at) => ({ votes: at - 1, count: choicesWithVotes(at - 1).length }));
    default:
      workload satisfies never;
      return [];
  }
}

/** How many choices of a question `expanded` asks for. */
export const EXPANDED_CHOICES = 3;

/** The keys of the choices of a question with the most votes, in this order. */
function mostVoted(question: number): string {
  return choicesOf(question)
    .sort((one, other) => Number(other.votes) - Number(one.votes))
    .slice(0, EXPANDED_CHOICES)
    .map(({ id }) => id)
    .join(' ');
}

/** The lower end of the range of a request: one of 10,000 different values, most of them small. */
export function lowestOf(n: number): number {
  return Math.floor((n * 2) ** 2 / 1000);
}

/** The keys of a page, which is counted from 1. */
function pageOf(page: number): number[] {
  return upTo(PAGE_SIZE).map((n) => (page - 1) * PAGE_SIZE + n);
}

/** Those of a post, in each contestant. */
function linksOf(id: number): Row {
  const path = `/rest/v1/blog/post/${id}`;
  return { comments: `${path}/comments/`, revisions: `${path}/revisions/` };
}
