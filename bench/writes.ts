import {
  CHOICES,
  ITEMS_OF_A_SHELF,
  PAGE_SIZE,
  PARCELS,
  QUESTIONS,
  SHELVES,
  WARES,
  parcelRow,
  questionRow,
  upTo,
  wareRow,
} from './rows.js';
import type { Row } from './rows.js';

export const WRITES = [
  'create',
  'update',
  'bulk',
  'upsert',
  'parent',
  'children',
  'hook-create',
  'hook-update',
  'hook-bulk',
  'listener-create',
  'listener-update',
  'listener-bulk',
  'rule-create',
  'rule-update',
  'rule-bulk',
] as const;
export type WriteWorkload = (typeof WRITES)[number];

export type Action = 'create' | 'update' | 'bulk' | 'upsert';

/** One table, in which one column shows what a write has done. */
interface Target {
  readonly action: Action;
  readonly table: string;
  readonly column: string;
  /** Whether the application writes the label in capital letters. */
  readonly capitals: boolean;
}

const TABLES: Readonly<Record<string, string>> = { hook: 'hooked', listener: 'listened', rule: 'ruled' };

export function targetOf(workload: WriteWorkload): Target {
  if (workload === 'create')
    return { action: 'create', table: 'choice', column: 'choice_text', capitals: false };
  if (workload === 'update')
    return { action: 'update', table: 'question', column: 'question_text', capitals: false };
  if (workload === 'upsert') return { action: 'upsert', table: 'ware', column: 'stock', capitals: false };
  if (workload === 'parent' || workload === 'children')
    return { action: 'create', table: 'shelf', column: 'label', capitals: false };
  const [kind = '', action = 'bulk'] = workload.split('-');
  return {
    action: action as Action,
    table: TABLES[kind] ?? 'parcel',
    column: 'label',
    capitals: kind === 'hook' || kind === 'listener',
  };
}

/** The number of different requests. */
export function rangeOfWrite(workload: WriteWorkload): number {
  const { action, table } = targetOf(workload);
  if (action === 'upsert') return WARES / PAGE_SIZE;
  return action === 'update' && table !== 'question' ? PARCELS : QUESTIONS;
}

/** Whether each key is used by two requests with different values: an ORM that compares values skips unchanged ones. */
export function hasVersions(workload: WriteWorkload): boolean {
  return ['update', 'upsert'].includes(targetOf(workload).action);
}

export interface WriteOrder {
  readonly workload: WriteWorkload;
  readonly n: number;
  readonly version: number;
}

/** What a request sends: an object, or a list. */
export function bodyOf({ workload, n, version }: WriteOrder): Row | readonly Row[] {
  const { action, table } = targetOf(workload);
  const text = changedText(n, version);
  switch (action) {
    case 'create':
      if (table === 'shelf')
        return workload === 'parent' ? newShelf(n) : { ...newShelf(n), items: newItems(n) };
      return table === 'choice' ? newChoice(n) : newParcel(n);
    case 'update':
      return table === 'question' ? { question_text: text } : { label: text };
    case 'bulk':
      return upTo(PAGE_SIZE).map((at) => newParcel(n * PAGE_SIZE + at));
    case 'upsert':
      return upTo(PAGE_SIZE).map((at) => {
        const ware = (n - 1) * PAGE_SIZE + at;
        return { code: wareRow(ware).code ?? null, stock: ware + version * 1000 };
      });
    default:
      return action satisfies never;
  }
}

/** The rows that are written, and answered. A created row has no `id` here. */
export function writtenRows(order: WriteOrder): readonly Row[] {
  const { workload } = order;
  const { action, table, column, capitals } = targetOf(workload);
  const body = bodyOf(order);
  const rows = (Array.isArray(body) ? body : [body]) as readonly Row[];
  return rows.map((row, at) => {
    const written = capitals ? { ...row, [column]: String(row[column]).toUpperCase() } : row;
    if (action === 'upsert') return { id: (order.n - 1) * PAGE_SIZE + at + 1, ...written };
    if (workload === 'children') return newShelf(order.n);
    if (action !== 'update') return written;
    return { ...(table === 'question' ? questionRow(order.n) : parcelRow(order.n)), ...written };
  });
}

/** The number of rows that a table has before any write. */
export function seededIn(table: string): number {
  return ({ choice: CHOICES, shelf: SHELVES } as Readonly<Record<string, number>>)[table] ?? PARCELS;
}

export function newChoice(n: number): Row {
  return { choice_text: 'A new choice', votes: 5, note: null, question: n };
}

function newParcel(n: number): Row {
  return { label: `Parcel ${n} of a request`, weight: n % 500 };
}

function newShelf(n: number): Row {
  return { label: `Shelf ${n} of a request`, places: n % 50 };
}

export function newItems(n: number): readonly Row[] {
  return upTo(ITEMS_OF_A_SHELF).map((at) => ({ label: `Item ${at} of shelf ${n}`, weight: (n + at) % 500 }));
}

export function changedText(n: number, version: number): string {
  return `Number ${n}, in version ${version}`;
}
