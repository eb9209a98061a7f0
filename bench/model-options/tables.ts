import type { BenchDatabase } from '../databases.js';
import type { Json } from '../styles.js';
import { CATEGORIES } from './rows.js';
import type { Item } from './rows.js';
import { READERS, USERS } from './users.js';
import { PLAIN_EXTRA } from './variants.js';
import type { MeasuredDatabase, Variant } from './variants.js';

const ROWS_PER_STATEMENT = 500;

/** The tables to which items refer. */
export async function createParents(database: BenchDatabase<MeasuredDatabase>): Promise<void> {
  await database.run('CREATE TABLE @category (id integer PRIMARY KEY, name varchar(100) NOT NULL)');
  await database.run(
    'CREATE TABLE @owner (id integer PRIMARY KEY, name varchar(100) NOT NULL, email varchar(100) NOT NULL, active boolean NOT NULL)',
  );
  const categories = Array.from({ length: CATEGORIES }, (_, at) => `(${at + 1}, 'Category ${at + 1}')`);
  await database.run(`INSERT INTO @category (id, name) VALUES ${categories.join(', ')}`);
  const owners = USERS.map(({ id, name }) => `(${id}, '${name}', '${name} at example.org', ${id % 2 === 0})`);
  await database.run(`INSERT INTO @owner (id, name, email, active) VALUES ${owners.join(', ')}`);
  if (database.name === 'postgres')
    await database.run("CREATE TYPE @item_state AS ENUM ('draft', 'open', 'closed')");
}

/** Creates the table of one variant with its rows, and with statistics on PostgreSQL, where autovacuum would update them. */
export async function createItems(
  database: BenchDatabase<MeasuredDatabase>,
  {
    variant,
    table,
    items,
  }: { readonly variant: Variant; readonly table: string; readonly items: readonly Item[] },
): Promise<void> {
  const { name } = database;
  const extra = (variant.extra ?? PLAIN_EXTRA).type[name];
  const columns = [
    `id ${keyType(database, variant)}`,
    'title varchar(100) NOT NULL',
    'code varchar(40) NOT NULL',
    'rating integer NOT NULL',
    `extra ${extra}`,
    'category_id integer NOT NULL REFERENCES @category (id)',
    'owner_id integer NOT NULL REFERENCES @owner (id)',
    ...(variant.added ? [variant.added[name]] : []),
  ];
  await database.run(`CREATE TABLE @${table} (${columns.join(', ')})`);
  for (let from = 0; from < items.length; from += ROWS_PER_STATEMENT) {
    const rows = items.slice(from, from + ROWS_PER_STATEMENT).map((item) => {
      const values = [item.id, item.title, item.code, item.rating, item.extra, item.category, item.owner];
      return `(${values.map((value) => literal(database, value)).join(', ')})`;
    });
    await database.run(
      `INSERT INTO @${table} (id, title, code, rating, extra, category_id, owner_id) VALUES ${rows.join(', ')}`,
    );
  }
  await database.run(`CREATE INDEX ${table}_owner ON @${table} (owner_id)`);
  if (name !== 'postgres') return;
  if (!variant.uuidKey)
    await database.run(`ALTER SEQUENCE @${table}_id_seq RESTART WITH ${items.length + 1}`);
  await database.run(`ANALYZE @${table}`);
}

/** Removes what the creating users have inserted. */
export async function removeCreated(database: BenchDatabase<MeasuredDatabase>, table: string): Promise<void> {
  await database.run(`DELETE FROM @${table} WHERE owner_id > ${READERS}`);
  if (database.name === 'postgres') await database.run(`VACUUM ANALYZE @${table}`);
}

function keyType({ name }: BenchDatabase<MeasuredDatabase>, { uuidKey }: Variant): string {
  if (name === 'sqlite')
    return uuidKey ? 'varchar PRIMARY KEY NOT NULL' : 'integer PRIMARY KEY AUTOINCREMENT';
  return uuidKey ? 'uuid PRIMARY KEY DEFAULT gen_random_uuid()' : 'serial PRIMARY KEY';
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** A value as SQL, in the form in which TypeORM stores it. */
function literal({ name }: BenchDatabase<MeasuredDatabase>, value: Json): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return name === 'sqlite' ? String(Number(value)) : String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const stored = name === 'sqlite' && INSTANT.test(text) ? text.replace('T', ' ').replace('Z', '') : text;
  return `'${stored.replaceAll("'", "''")}'`;
}
