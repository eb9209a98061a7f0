import type { Contestant } from './contestants.js';
import type { BenchDatabase } from './databases.js';
import type { Row } from './rows.js';
import type { StyledRequest, Fields, Json } from './styles.js';
import { expectedRows, samplesOf } from './workloads.js';
import type { Order, Workload } from './workloads.js';

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
  if (workload !== 'create' && workload !== 'update') return;
  const samples = samplesOf(workload);
  const keys = samples.map(({ n }) => n).join(', ');
  const sql =
    workload === 'create'
      ? `SELECT question_id AS n, choice_text AS text FROM @choice WHERE id > 10000`
      : `SELECT id AS n, question_text AS text FROM @question WHERE id IN (${keys})`;
  const found = (await database.rows(sql)).map(({ n, text }) => `${String(n)} ${String(text)}`);
  const missing = samples
    .map((order) => `${order.n} ${writtenText(order)}`)
    .filter((row) => !found.includes(row));
  // A sample that a later one overwrites is not checked: only the last version of a key remains.
  const last = missing.filter(
    (row) =>
      !samples.some(
        (order, at) =>
          row.startsWith(`${order.n} `) && samples.findLastIndex(({ n }) => n === order.n) !== at,
      ),
  );
  if (last.length > 0)
    throw new Error(
      `${contestant.name} is not measured: ${workload} answered, but did not write ${last.join(', ')}`,
    );
}

function writtenText(order: Order): string {
  const [row = {}] = expectedRows(order);
  return String(order.workload === 'create' ? row.choice_text : row.question_text);
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
  if (response.status !== STATUS[request.method]) return `answers ${response.status}: ${text.slice(0, 300)}`;
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
  if (name === 'pub_date' || name === 'enrolled_at')
    return typeof given === 'string' && Date.parse(given) === Date.parse(String(expected));
  return given === expected;
}
