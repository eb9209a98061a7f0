import type { Contestant } from './contestants.js';
import type { BenchDatabase } from './databases.js';
import type { Row } from './rows.js';
import { INSTANTS } from './seeds.js';
import type { StyledRequest, Fields, Json } from './styles.js';
import { expectedRows, samplesOf, writes } from './workloads.js';
import type { Order, Workload } from './workloads.js';
import { newItems, seededIn, targetOf } from './writes.js';

const STATUS = { GET: 200, POST: 201, PATCH: 200 } as const;

/** Throws at the first difference between the responses of a contestant and the seeded rows: status, number of rows, and each value. */
export async function checkAnswers(contestant: Contestant, port: number, workload: Workload): Promise<void> {
  for (const order of samplesOf(workload)) {
    const request = contestant.style.requestFor(order);
    if (!request) return;
    const problem = await differenceOf(contestant, port, { order, request });
    if (problem !== undefined)
      throw new Error(`${contestant.name} is not measured: ${request.method} ${request.path} ${problem}`);
  }
}

/** Checks that a successful write has changed the database. */
export async function checkWritten(
  database: BenchDatabase,
  contestant: Contestant,
  workload: Workload,
): Promise<void> {
  if (!writes(workload)) return;
  const { table, column, action } = targetOf(workload);
  const created = action === 'create' || action === 'bulk';
  const rows = created ? `id > ${seededIn(table)}` : `id > 0`;
  const found = await database.rows(`SELECT id, ${column} AS value FROM @${table} WHERE ${rows}`);
  const written = new Set(
    found.map(({ id, value }) => (created ? String(value) : `${String(id)} ${String(value)}`)),
  );
  // Of a key, only the last version remains.
  const last = samplesOf(workload).filter(
    ({ n }, at, samples) => samples.findLastIndex((order) => order.n === n) === at,
  );
  const missing = last
    .flatMap((order) => expectedRows(order))
    .map((row) => (created ? String(row[column]) : `${String(row.id)} ${String(row[column])}`))
    .find((row) => !written.has(row));
  if (workload === 'children') await checkChildren(database, contestant);
  if (missing !== undefined)
    throw new Error(`${contestant.name} is not measured: ${workload} answered, but did not write ${missing}`);
}

/** Checks that each new shelf has the items of its request. */
async function checkChildren(database: BenchDatabase, { name }: Contestant): Promise<void> {
  const items = await database.rows(
    `SELECT @item.label AS label FROM @item, @shelf WHERE @shelf.id = shelf_id AND @shelf.id > ${seededIn('shelf')} AND @shelf.label LIKE '% of a request'`,
  );
  const written = items.map(({ label }) => String(label)).sort();
  const expected = samplesOf('children')
    .flatMap(({ n }) => newItems(n))
    .map(({ label }) => String(label))
    .sort();
  if (JSON.stringify(written) !== JSON.stringify(expected))
    throw new Error(`${name} is not measured: it answered, but wrote the items ${written.join(', ')}`);
}

async function differenceOf(
  { style }: Contestant,
  port: number,
  { order, request }: { readonly order: Order; readonly request: StyledRequest },
): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}${request.path}`, {
    method: request.method,
    ...(request.body === undefined ? {} : { body: request.body }),
    ...(request.headers ? { headers: request.headers } : {}),
  });
  const text = await response.text();
  if (response.status !== (order.workload === 'upsert' ? 200 : STATUS[request.method]))
    return `answers ${response.status}: ${text.slice(0, 300)}`;
  const given = style.rows(JSON.parse(text) as Json, order.workload);
  const expected = expectedRows(order);
  if (given.length !== expected.length)
    return `answers ${given.length} rows, not ${expected.length}: ${text.slice(0, 300)}`;
  for (const [at, row] of expected.entries()) {
    const name = differentField(row, given[at] ?? {});
    if (name !== undefined)
      return `answers ${name} ${JSON.stringify(given[at]?.[name])} in row ${at}, not ${JSON.stringify(row[name])}`;
  }
  return undefined;
}

function differentField(expected: Row, given: Fields): string | undefined {
  return Object.keys(expected).find((name) => !same(expected[name], given[name], name));
}

/** Compares instants independently of their format. */
function same(expected: Row[string] | undefined, given: Json | undefined, name: string): boolean {
  if (INSTANTS.has(name))
    return typeof given === 'string' && Date.parse(given) === Date.parse(String(expected));
  return JSON.stringify(given) === JSON.stringify(expected);
}
