import { isDeepStrictEqual } from 'node:util';
import type { LoadRequest } from '../load.js';
import type { Fields, Json } from '../styles.js';
import type { ItemRequests } from './requests.js';
import type { Item } from './rows.js';

const ROWS = 100;
/** Columns that no request changes. */
const CONSTANT = ['code', 'rating', 'category', 'owner'] as const;

/** Compares a response of each workload with the rows of the database. Throws at the first difference. */
export async function checkAnswers(port: number, requests: ItemRequests): Promise<void> {
  const { variant, items } = requests;
  const send = async (request: LoadRequest, what: string): Promise<Json> => {
    const { method, path, body, headers = {} } = request.setupRequest?.(request) ?? request;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${variant.name}, ${what}: ${response.status} ${text.slice(0, 300)}`);
    return JSON.parse(text) as Json;
  };
  const [first] = items;
  if (!first) throw new Error('There are no rows');
  const wanted = items.filter(({ owner }) => owner === first.owner).slice(0, ROWS);
  const rows = rowsOf(await send(requests.list(first.owner), 'list'));
  if (rows.length !== ROWS) throw new Error(`${variant.name}, list: ${rows.length} rows, and not ${ROWS}`);
  for (const [at, row] of rows.entries()) {
    const item = variant.ordered || variant.uuidKey ? items.find(({ id }) => id === row.id) : wanted[at];
    compare(`${variant.name}, list`, row, item);
  }
  const item = wanted[1] ?? first;
  compare(`${variant.name}, retrieve`, fieldsOf(await send(requests.retrieve(item), 'retrieve')), item);
  const create = requests.create();
  const created = fieldsOf(await send(create, 'create'));
  for (const [name, value] of Object.entries(JSON.parse(create.body ?? '{}') as Fields))
    expectValue(`${variant.name}, create`, { name, value: created[name], wanted: value });
  const change = requests.change(item);
  const changed = fieldsOf(await send(change, 'change'));
  compare(`${variant.name}, change`, changed, item);
  if (changed.title === item.title) throw new Error(`${variant.name}, change: the title is as before`);
}

/** Compares the selected fields only. */
function compare(where: string, row: Fields, item: Item | undefined): void {
  if (!item || row.id !== item.id) throw new Error(`${where}: the row ${String(row.id)} is not expected`);
  for (const name of CONSTANT) {
    if (name in row || !('title' in row)) expectValue(where, { name, value: row[name], wanted: item[name] });
  }
}

function expectValue(
  where: string,
  { name, value, wanted }: { readonly name: string; readonly value: Json | undefined; readonly wanted: Json },
): void {
  if (!isDeepStrictEqual(canonical(value), canonical(wanted)))
    throw new Error(`${where}: ${name} is ${JSON.stringify(value)}, and not ${JSON.stringify(wanted)}`);
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Compares dates independently of the number of fractional digits. */
function canonical(value: Json | undefined): Json | undefined {
  return typeof value === 'string' && INSTANT.test(value) ? new Date(value).toISOString() : value;
}

function rowsOf(answer: Json): readonly Fields[] {
  const rows = Array.isArray(answer) ? (answer as readonly Json[]) : fieldsOf(answer).results;
  return Array.isArray(rows) ? (rows as readonly Fields[]) : [];
}

function fieldsOf(answer: Json): Fields {
  return typeof answer === 'object' && answer !== null && !Array.isArray(answer) ? (answer as Fields) : {};
}
