import type { DataSource, EntityMetadata } from 'typeorm';
import { distinctUses } from '../../../core/contracts/missing-index.js';
import type { MissingIndex } from '../../../core/contracts/missing-index.js';
import type { CompiledPermission } from '../../../core/contracts/permission.js';
import type { Column } from '../../../core/schema/column.js';
import { resourceOf } from '../../../core/schema/resource.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type {
  ColumnStatisticsRow,
  IndexColumnRow,
  IndexKind,
  TableSizeRow,
} from '../../../sql/dialects/index-catalogue.js';
import type { Statement } from '../../../sql/statement.js';
import type { NamedTable } from '../../../sql/table-names.js';
import type { Table, Tables } from '../table-metadata.js';
import { indexNeeds } from './index-needs.js';
import type { IndexNeed } from './index-needs.js';

export interface IndexTools {
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly dataSource: DataSource;
}

/** Fewer distinct values are so many rows each that a database reads the table anyway. */
const LEAST_DISTINCT = 20;
/** The rows from which the number of distinct values says something. */
const JUDGED_ROWS = 1000;
/** In bytes; longer values may not fit into an index. */
const MOST_WIDTH = 500;

interface Index {
  /** Names in lower case; null for an expression. */
  readonly columns: readonly (string | null)[];
  readonly kind: IndexKind;
  readonly condition: string | undefined;
}

/** What is known of a table. */
interface IndexedTable {
  readonly table: Table;
  readonly named: NamedTable;
  readonly rows: number;
  readonly partitions: string | undefined;
  readonly indexes: readonly Index[];
  /** Columns that nested lists or grants may fix, so that an index may begin with them. */
  readonly mayBeFixed: (column: string | null) => boolean;
}

/**
 * The indexes that filters, orders and foreign keys of models need, on tables with at least so many rows. A column is left out
 * if any index could serve it. Rejects with the error of the database if its catalogue cannot be read.
 */
export async function findMissingIndexes(
  resources: readonly ResourceSchema[],
  least: number,
  tools: IndexTools,
): Promise<readonly MissingIndex[]> {
  const byTable = new Map<string, IndexNeed[]>();
  for (const need of resources.flatMap(indexNeeds)) {
    const { path } = tools.tables.of(need.resource);
    byTable.set(path, [...(byTable.get(path) ?? []), need]);
  }
  const found: MissingIndex[] = [];
  for (const needs of byTable.values()) found.push(...(await missingIn(needs, least, tools)));
  return found;
}

async function missingIn(
  needs: readonly IndexNeed[],
  least: number,
  tools: IndexTools,
): Promise<readonly MissingIndex[]> {
  const indexed = await readTable(needs, least, tools);
  if (!indexed) return [];
  const missing: IndexNeed[] = [];
  for (const need of needs)
    if (
      isIndexable(need, indexed, tools.dialect) &&
      !indexed.indexes.some((index) => serves(index, need, indexed)) &&
      !isPruned(need, indexed) &&
      (await isWorthAnIndex(need, indexed, tools))
    )
      missing.push(need);
  return together(missing).map((group) => missingIndex(group, indexed, tools));
}

/** Undefined for a view, and for a table with fewer rows. */
async function readTable(
  needs: readonly IndexNeed[],
  least: number,
  { tables, dialect: { indexes }, dataSource }: IndexTools,
): Promise<IndexedTable | undefined> {
  const [{ resource } = {}] = needs;
  if (!resource) return undefined;
  const table = tables.of(resource);
  const { metadata, path } = table;
  const { tableName, database } = dataSource.driver.parseTableName(metadata);
  const named = { path, name: tableName, database };
  const [size] = await query<TableSizeRow>(dataSource, indexes.size(named));
  const rows = Number(size?.c0 ?? 0);
  if (!size || rows < least) return undefined;
  const columns = await query<IndexColumnRow>(dataSource, indexes.columns(named));
  const foreign = new Set(
    needs
      .filter((need) => need.serves === 'foreign-key')
      .flatMap((need) => need.columns.map(({ id }) => id.toLowerCase())),
  );
  // A permission may select rows by columns that are not known at start.
  const hasGrants = needs.some(({ resource }) => !grantsAll(resourceOf(resource).permission));
  return {
    table,
    named,
    rows,
    partitions: size.c1?.toLowerCase(),
    indexes: [keyOf(metadata), ...toIndexes(columns)],
    mayBeFixed: (column) => hasGrants || (column !== null && foreign.has(column)),
  };
}

async function query<Row>(dataSource: DataSource, { sql, parameters }: Statement): Promise<readonly Row[]> {
  return dataSource.query<readonly Row[]>(sql, [...parameters]);
}

/** SQLite has none for an integer key. */
function keyOf({ primaryColumns }: EntityMetadata): Index {
  return {
    columns: primaryColumns.map(({ databaseName }) => databaseName.toLowerCase()),
    kind: 'ordered',
    condition: undefined,
  };
}

function toIndexes(rows: readonly IndexColumnRow[]): readonly Index[] {
  const byName = new Map<string, IndexColumnRow[]>();
  for (const row of rows) byName.set(row.c0, [...(byName.get(row.c0) ?? []), row]);
  return [...byName.values()].map((columns) => ({
    columns: columns.map(({ c1 }) => c1?.toLowerCase() ?? null),
    // Of a part of a column, one is enough.
    kind: columns.find(({ c2 }) => c2 !== 'ordered')?.c2 ?? 'ordered',
    condition: columns[0]?.c3 ?? undefined,
  }));
}

function grantsAll(permission: CompiledPermission): boolean {
  return (
    permission.kind === 'anyone' ||
    (permission.kind === 'all-of' && permission.permissions.every((each) => grantsAll(each)))
  );
}

/** Whether the database compares the columns themselves, and can have an index on them. */
function isIndexable({ columns, descending }: IndexNeed, { table }: IndexedTable, dialect: Dialect): boolean {
  const compared = descending ? columns : columns.slice(0, 1);
  return compared.every(
    (column) =>
      table.column('t', column) === `t.${table.name(column)}` &&
      dialect.cursor('c', column.type).compared === 'c' &&
      isIndexableType(column, dialect),
  );
}

function isIndexableType({ type }: Column, { indexes }: Dialect): boolean {
  switch (type.kind) {
    case 'json':
    case 'list':
    case 'binary':
    case 'set':
    case 'interval':
      return false;
    case 'string':
      return (type.maxLength ?? Infinity) <= indexes.maxLength;
    default:
      return true;
  }
}

function serves(index: Index, { columns, serves: needed }: IndexNeed, table: IndexedTable): boolean {
  const [first] = columns;
  if (!first || !isUsable(index, first, { needed, table })) return false;
  if (needed === 'order' && index.kind !== 'ordered' && index.kind !== 'skip') return false;
  const wanted = needed === 'foreign-key' ? columns.map(({ id }) => id) : [first.id];
  return wanted.some((id) => {
    const place = index.columns.indexOf(id.toLowerCase());
    if (place <= 0) return place === 0;
    const isAnywhere = needed !== 'order' && (index.kind === 'skip' || index.kind === 'anywhere');
    return isAnywhere || index.columns.slice(0, place).every((column) => table.mayBeFixed(column));
  });
}

/** Whether each request fulfils the condition of a partial index. */
function isUsable(
  { condition }: Index,
  column: Column,
  { needed, table }: { readonly needed: IndexNeed['serves']; readonly table: IndexedTable },
): boolean {
  if (condition === undefined) return true;
  const { deleteDateColumn, discriminatorColumn } = table.table.metadata;
  const names = [deleteDateColumn, discriminatorColumn].flatMap((each) => each?.databaseName ?? []);
  const text = condition.toLowerCase();
  if (names.some((name) => text.includes(name.toLowerCase()))) return true;
  // A comparison is not fulfilled by NULL.
  return (
    needed !== 'order' &&
    /^\(*["`]?([^"`()]+)["`]? is not null\)*$/.exec(text)?.[1] === column.id.toLowerCase()
  );
}

/** Whether partitions have the values of a filter apart. */
function isPruned({ columns, serves: needed }: IndexNeed, { partitions }: IndexedTable): boolean {
  return needed !== 'order' && columns.some(({ id }) => partitions?.includes(id.toLowerCase()) === true);
}

async function isWorthAnIndex(
  { columns, serves: needed }: IndexNeed,
  { table, named, rows }: IndexedTable,
  { dialect, dataSource }: IndexTools,
): Promise<boolean> {
  const [column] = columns;
  if (!column || rows < JUDGED_ROWS) return true;
  const [found] = await query<ColumnStatisticsRow>(
    dataSource,
    dialect.indexes.statistics(named, { name: column.id, quoted: table.name(column) }),
  );
  if (Number(found?.c1 ?? 0) > MOST_WIDTH) return false;
  return needed === 'order' || Number(found?.c0 ?? 0) >= LEAST_DISTINCT;
}

/** One index serves all that begin with the same columns. */
function together(needs: readonly IndexNeed[]): readonly (readonly IndexNeed[])[] {
  const groups: IndexNeed[][] = [];
  const longestFirst = [...needs].sort((one, other) => other.columns.length - one.columns.length);
  for (const need of longestFirst) {
    const group = groups.find(([longest]) =>
      need.columns.every(({ id }, place) => longest?.columns[place]?.id === id),
    );
    if (group) group.push(need);
    else groups.push([need]);
  }
  return groups;
}

function missingIndex(
  group: readonly IndexNeed[],
  { table, named, rows, partitions }: IndexedTable,
  { dialect, dataSource }: IndexTools,
): MissingIndex {
  const [{ columns, descending = [] } = { columns: [] }] = group;
  const isMixed = new Set(descending).size > 1;
  const names = columns.map(({ id }) => id);
  return {
    table: table.path,
    columns: names,
    rows,
    uses: distinctUses(group.map(({ use }) => use)),
    statement: dialect.indexes.create({
      path: table.path,
      name: dataSource.driver.escape([named.name, ...names].join('_').slice(0, 60)),
      columns: columns.map(
        (column, place) => `${table.name(column)}${isMixed && descending[place] === true ? ' DESC' : ''}`,
      ),
      isPartitioned: partitions !== undefined,
    }),
  };
}
