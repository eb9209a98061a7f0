import { DATABASE } from './raw-database.js';
import type { OpenStatement, Row } from './raw-database.js';

type Run = (values: readonly unknown[]) => Promise<readonly Row[]>;

/** What a path below the URL of a table does; undefined where a body is not valid, or there is no row. */
export type RawWrite = (method: string, url: string, body: unknown) => Promise<object | undefined>;

interface Table {
  /** One row, and a JSON array of rows. */
  readonly insert: Run;
  readonly insertAll: Run;
  readonly update: Run;
  readonly capitals: boolean;
  readonly ruled: boolean;
}

/** The rows of a JSON array as a table, in the functions of each database. */
function rowsOf(columns: Readonly<Record<string, string>>): string {
  const names = Object.keys(columns);
  const typed = Object.entries(columns);
  return {
    postgres: `SELECT * FROM json_to_recordset($1) AS r (${typed.map(([name, type]) => `${name} ${type}`).join(', ')})`,
    sqlite: `SELECT ${names.map((name) => `value ->> '${name}'`).join(', ')} FROM json_each($1) WHERE true`,
    mariadb: `SELECT r.* FROM JSON_TABLE($1, '$[*]' COLUMNS (${typed.map(([name, type]) => `${name} ${type} PATH '$.${name}'`).join(', ')})) AS r`,
  }[DATABASE];
}

function openTable(open: OpenStatement, name: string): Table {
  const returning = 'RETURNING id, label, weight';
  return {
    insert: open(`${name}-insert`, `INSERT INTO ${name} (label, weight) VALUES ($1, $2) ${returning}`),
    insertAll: open(
      `${name}-insert-all`,
      `INSERT INTO ${name} (label, weight) ${rowsOf({ label: 'varchar(100)', weight: 'integer' })} ${returning}`,
    ),
    update: open(`${name}-update`, `UPDATE ${name} SET label = $1 WHERE id = $2 ${returning}`),
    capitals: name === 'hooked' || name === 'listened',
    ruled: name === 'ruled',
  };
}

const NEW = DATABASE === 'mariadb' ? 'VALUE(stock)' : 'excluded.stock';
const CONFLICT = DATABASE === 'mariadb' ? 'ON DUPLICATE KEY UPDATE' : 'ON CONFLICT (code) DO UPDATE SET';

export function openRawWrites(open: OpenStatement): RawWrite {
  const tables = new Map(
    ['parcel', 'hooked', 'listened', 'ruled'].map((name) => [`${name}s`, openTable(open, name)]),
  );
  const upsert = open(
    'upsert',
    `INSERT INTO ware (code, stock) ${rowsOf({ code: 'varchar(20)', stock: 'integer' })} ${CONFLICT} stock = ${NEW} RETURNING id, code, stock`,
  );
  return async (method, url, body) => {
    const [, path = '', rest = ''] = url.split('/');
    if (path === 'wares')
      return rest === 'upsert' && areWares(body) ? upsert([JSON.stringify(body)]) : undefined;
    const table = tables.get(path);
    if (!table) return undefined;
    if (method === 'PATCH') return change(table, Number(rest), body);
    return rest === 'bulk' ? createAll(table, body) : create(table, body);
  };
}

async function create(table: Table, body: unknown): Promise<object | undefined> {
  if (!isLabelled(body, table)) return undefined;
  return (await table.insert([labelOf(table, body.label), body.weight]))[0];
}

async function createAll(table: Table, body: unknown): Promise<object | undefined> {
  if (!Array.isArray(body) || !body.every((each) => isLabelled(each, table))) return undefined;
  const rows = table.capitals
    ? body.map(({ label, weight }) => ({ label: labelOf(table, label), weight }))
    : body;
  return table.insertAll([JSON.stringify(rows)]);
}

async function change(table: Table, id: number, body: unknown): Promise<object | undefined> {
  const { label } = body as { readonly label?: unknown };
  if (!Number.isSafeInteger(id) || !isLabel(label, table)) return undefined;
  return (await table.update([labelOf(table, label), id]))[0];
}

function labelOf({ capitals }: Table, label: string): string {
  return capitals ? label.toUpperCase() : label;
}

function isLabel(label: unknown, { ruled }: Table): label is string {
  return typeof label === 'string' && label.length <= 100 && (!ruled || label.length >= 3);
}

function isLabelled(
  body: unknown,
  table: Table,
): body is { readonly label: string; readonly weight: number } {
  const { label, weight } = body as Row;
  return (
    isLabel(label, table) &&
    Number.isSafeInteger(weight) &&
    (!table.ruled || (Number(weight) >= 0 && Number(weight) <= 1000))
  );
}

function areWares(body: unknown): body is readonly Row[] {
  return (
    Array.isArray(body) &&
    (body as readonly Row[]).every(
      ({ code, stock }) => typeof code === 'string' && code.length <= 20 && Number.isSafeInteger(stock),
    )
  );
}
