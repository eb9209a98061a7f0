import type { DataSource } from 'typeorm';
import { documentStatements } from './documents.js';
import { TENANT } from './entities.js';

export type GrowthDatabase = 'sqlite' | 'postgres' | 'mariadb';

/** The numbers from 1 to `count`, as a table `s` with the column `n`. */
const NUMBERS: Readonly<Record<GrowthDatabase, (count: number) => string>> = {
  postgres: (count) => `generate_series(1::bigint, ${count}) s(n)`,
  mariadb: (count) => `(SELECT seq AS n FROM seq_1_to_${count}) s`,
  sqlite: (count) =>
    `(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${count}) SELECT n FROM c) s`,
};

const TABLES = ['growth_customer', 'growth_order', 'growth_line', 'growth_tag', 'growth_tagging'];

/** How each database is filled without checks, and with its indexes after its rows, which is faster. */
const WITHOUT_CHECKS: Readonly<Record<GrowthDatabase, readonly string[]>> = {
  postgres: ['SET session_replication_role = replica', 'SET synchronous_commit = off'],
  mariadb: ['SET foreign_key_checks = 0', 'SET unique_checks = 0'],
  sqlite: ['PRAGMA foreign_keys = OFF', 'PRAGMA synchronous = OFF', 'PRAGMA journal_mode = OFF'],
};

/** The order with one of twenty lines. */
export const LARGE_ORDER = 2000;

/** A number from 2 to `count`, the same in every run; the rows with one number are far from each other. */
function scattered(count: number, seed: number): string {
  return `2 + (n * 7919 + ${seed}) % ${count - 1}`;
}

/**
 * Fills the tables of `entities.ts` with `orders` orders, twice as many lines, and a tenth and a fifth as many customers and tags. One of five
 * orders, lines and pairs has customer, product or tag 1; each other number has about ten. The last ten customers are those of the small
 * tenant. `dataSource` has one connection, which is good for nothing else afterwards.
 */
export async function fillTables(
  dataSource: DataSource,
  name: GrowthDatabase,
  orders: number,
): Promise<void> {
  const numbers = NUMBERS[name];
  const [customers, others] = [orders / 10, orders / 5];
  const often = (rest: string): string => `CASE WHEN n % 5 = 0 THEN 1 ELSE ${rest} END`;
  const text = name === 'mariadb' ? `CONCAT('c', n)` : `'c' || n`;
  for (const sql of WITHOUT_CHECKS[name]) await dataSource.query(sql);
  const indexes = name === 'postgres' ? await prepareTables(dataSource) : [];
  for (const sql of [
    // The customer with most orders is the last one by name.
    `INSERT INTO growth_customer (id, tenant, name) SELECT n, CASE WHEN n > ${customers - 10} THEN ${TENANT.small} ELSE ${TENANT.large} END, CASE WHEN n = 1 THEN 'z1' ELSE ${text} END FROM ${numbers(customers)}`,
    `INSERT INTO growth_order (id, number, state, meta, customer_id) SELECT n, ${scattered(orders, 5)}, n % 5, '{"note":"${'x'.repeat(300)}"}', ${often(scattered(customers, 7))} FROM ${numbers(orders)}`,
    `INSERT INTO growth_line (id, order_id, product) SELECT n, CASE WHEN n % 20 = 0 THEN ${LARGE_ORDER} ELSE 1 + n % ${orders} END, ${often(scattered(others, 11))} FROM ${numbers(2 * orders)}`,
    `INSERT INTO growth_tag (id) SELECT n FROM ${numbers(others)}`,
    `INSERT INTO growth_tagging (order_id, tag_id) SELECT n, ${often(scattered(others, 13))} FROM ${numbers(orders)}`,
    ...indexes,
    ...TABLES.map((table) => `ANALYZE ${name === 'mariadb' ? 'TABLE ' : ''}${table}`),
    ...documentStatements(name, {
      numbers: numbers(orders),
      scattered: (seed) => scattered(orders / 10, seed),
    }),
    // What this connection has read is published now, and not while the first read is counted.
    ...(name === 'postgres' ? [`VACUUM ${TABLES.join(', ')}`, 'SELECT pg_stat_force_next_flush()'] : []),
  ])
    await dataSource.query(sql);
}

/** Keeps autovacuum away, whose pages would be counted too. Drops the indexes that are not unique, and returns the statements that create them again. */
async function prepareTables(dataSource: DataSource): Promise<readonly string[]> {
  for (const table of [...TABLES, 'growth_document'])
    await dataSource.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
  const indexes = await dataSource.query<{ name: string; definition: string }[]>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid::regclass::text IN (${TABLES.map((table) => `'${table}'`).join(', ')}) AND NOT indisunique`,
  );
  for (const { name } of indexes) await dataSource.query(`DROP INDEX ${name}`);
  return indexes.map(({ definition }) => definition);
}
