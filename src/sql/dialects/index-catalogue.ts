import type { Statement } from '../statement.js';
import type { NamedTable } from '../table-names.js';

/** The first number of this name in the JSON output of EXPLAIN (text or parsed), searched breadth-first. */
export function numberIn(result: unknown, name: string): number | undefined {
  const level: unknown[] = [typeof result === 'string' ? JSON.parse(result) : result];
  for (let each = level.shift(); each !== undefined; each = level.shift()) {
    if (typeof each !== 'object' || each === null) continue;
    const found = (each as Record<string, unknown>)[name];
    if (found !== undefined && Number.isFinite(Number(found))) return Math.max(0, Math.round(Number(found)));
    level.push(
      ...(Object.values(each) as readonly unknown[]).filter(
        (inner) => typeof inner === 'object' && inner !== null,
      ),
    );
  }
  return undefined;
}

/**
 * How an index serves queries. `ordered`: filters and orders by its first columns; `prefix`: filters by its first columns; `skip`: as
 * `ordered`, and filters by any column; `anywhere`: filters by any column.
 */
export type IndexKind = 'ordered' | 'prefix' | 'skip' | 'anywhere';

/** A column of an index. */
export interface IndexColumnRow {
  /** Identifies the index. */
  readonly c0: string;
  /** Null for an expression. */
  readonly c1: string | null;
  readonly c2: IndexKind;
  /** The condition of a partial index. */
  readonly c3: string | null;
}

/** A table whose indexes can be read. */
export interface TableSizeRow {
  /** The number of rows; null if it is unknown. */
  readonly c0: number | string | null;
  /** The definition of its partitions, with the names of columns; null without partitions. */
  readonly c1: string | null;
}

export interface ColumnStatisticsRow {
  /** The number of distinct values, or of those of a sample. */
  readonly c0: number | string | null;
  /** The average size of a value in bytes, if it is known. */
  readonly c1: number | string | null;
}

export interface IndexToCreate {
  /** Quoted, as the columns, which may be followed by a direction. */
  readonly path: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly isPartitioned: boolean;
}

/** The catalogue of a database, as far as it says which indexes tables have. */
export interface IndexCatalogue {
  /** Whether it knows the number of rows without counting them. */
  readonly hasStatistics: boolean;
  /** The most characters of a text column that an index can have. */
  readonly maxLength: number;
  /** A `TableSizeRow`; no row for a view. */
  size(table: NamedTable): Statement;
  /** An `IndexColumnRow` for each column of each index that is in use, in order. */
  columns(table: NamedTable): Statement;
  /** A `ColumnStatisticsRow`; no row without statistics. `quoted`: the name of the column. */
  statistics(table: NamedTable, column: { readonly name: string; readonly quoted: string }): Statement;
  create(index: IndexToCreate): string;
  /** The columns of unique indexes and exclusion constraints, as `c0`: NULL where an expression or a condition decides. */
  unique(table: NamedTable): Statement;
}

function createNamed({ path, name, columns }: IndexToCreate): string {
  return `CREATE INDEX ${name} ON ${path} (${columns.join(', ')})`;
}

/** Of all rows, an index serves few distinct values badly: the distinct values of the first rows are a lower bound. */
function sampleStatistics({ path }: NamedTable, { quoted }: { readonly quoted: string }): Statement {
  return {
    sql: `SELECT COUNT(DISTINCT v) AS c0, NULL AS c1 FROM (SELECT ${quoted} AS v FROM ${path} LIMIT 1000) s`,
    parameters: [],
  };
}

const PARTS = 'SELECT to_regclass($1)::oid UNION SELECT relid FROM pg_partition_tree(to_regclass($1))';

/** Partitions may have indexes of their own. From version 18 on, a B-tree is searched for each value of its first columns, if they are few. */
export const postgresIndexes: IndexCatalogue = {
  hasStatistics: true,
  maxLength: Infinity,
  size: ({ path }) => ({
    sql: `SELECT (SELECT sum(greatest(m.reltuples, 0))::float8 FROM pg_class m WHERE m.oid IN (${PARTS}) AND m.relkind <> 'p') AS c0, CASE WHEN c.relkind = 'p' THEN (SELECT string_agg(pg_get_partkeydef(m.oid), ' ') FROM pg_class m WHERE m.oid IN (${PARTS}) AND m.relkind = 'p') END AS c1 FROM pg_class c WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'p')`,
    parameters: [path],
  }),
  columns: ({ path }) => ({
    sql: `SELECT i.indexrelid::text AS c0, a.attname::text AS c1, CASE WHEN am.amname IN ('gin', 'gist', 'spgist', 'brin', 'bloom') THEN 'anywhere' WHEN am.amname = 'hash' THEN 'prefix' WHEN current_setting('server_version_num')::int >= 180000 THEN 'skip' ELSE 'ordered' END AS c2, pg_get_expr(i.indpred, i.indrelid) AS c3
FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am am ON am.oid = x.relam CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY k(number, place) LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number AND k.number > 0
WHERE i.indrelid IN (${PARTS}) AND i.indisvalid AND k.place <= i.indnkeyatts ORDER BY i.indexrelid, k.place`,
    parameters: [path],
  }),
  statistics: ({ path }, { name }) => ({
    sql: `SELECT max(CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * greatest(c.reltuples, 0) ELSE s.n_distinct END)::float8 AS c0, max(s.avg_width) AS c1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname WHERE c.oid IN (${PARTS}) AND s.attname = $2`,
    parameters: [path, name],
  }),
  create: ({ path, columns, isPartitioned }) =>
    `CREATE INDEX ${isPartitioned ? '' : 'CONCURRENTLY '}ON ${path} (${columns.join(', ')})`,
  unique: ({ path }) => ({
    sql: `SELECT a.attname::text AS c0 FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) k(number) LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number AND k.number > 0 AND i.indpred IS NULL WHERE i.indrelid = to_regclass($1) AND (i.indisunique OR i.indisexclusion)`,
    parameters: [path],
  }),
};

const MYSQL_TABLE = 'table_schema = COALESCE(?, DATABASE()) AND table_name = ?';

export const mysqlIndexes: IndexCatalogue = {
  hasStatistics: true,
  // 3072 bytes of utf8mb4.
  maxLength: 768,
  size: ({ name, database }) => ({
    sql: `SELECT table_rows AS c0, (SELECT GROUP_CONCAT(DISTINCT CONCAT_WS(' ', partition_expression, subpartition_expression)) FROM information_schema.partitions WHERE ${MYSQL_TABLE} AND partition_name IS NOT NULL) AS c1 FROM information_schema.tables WHERE ${MYSQL_TABLE} AND table_type = 'BASE TABLE'`,
    parameters: [database ?? null, name, database ?? null, name],
  }),
  columns: ({ name, database }) => ({
    sql: `SELECT index_name AS c0, column_name AS c1, CASE WHEN index_type = 'BTREE' AND sub_part IS NULL THEN 'ordered' ELSE 'prefix' END AS c2, NULL AS c3 FROM information_schema.statistics WHERE ${MYSQL_TABLE} AND index_type IN ('BTREE', 'HASH') ORDER BY index_name, seq_in_index`,
    parameters: [database ?? null, name],
  }),
  statistics: sampleStatistics,
  create: createNamed,
  unique: ({ name, database }) => ({
    sql: `SELECT column_name AS c0 FROM information_schema.statistics WHERE ${MYSQL_TABLE} AND non_unique = 0`,
    parameters: [database ?? null, name],
  }),
};

export const sqliteIndexes: IndexCatalogue = {
  hasStatistics: false,
  maxLength: Infinity,
  size: ({ path, name }) => ({
    sql: `SELECT (SELECT count(*) FROM (SELECT 1 FROM ${path} LIMIT 1000000)) AS c0, NULL AS c1 FROM sqlite_master WHERE type = 'table' AND name = ?`,
    parameters: [name],
  }),
  columns: ({ name }) => ({
    sql: `SELECT l.name AS c0, x.name AS c1, 'ordered' AS c2, CASE l.partial WHEN 1 THEN (SELECT substr(sql, instr(upper(sql), ' WHERE ') + 7) FROM sqlite_master m WHERE m.name = l.name) END AS c3 FROM pragma_index_list(?) l JOIN pragma_index_xinfo(l.name) x WHERE x.key = 1 ORDER BY l.name, x.seqno`,
    parameters: [name],
  }),
  statistics: sampleStatistics,
  create: createNamed,
  unique: ({ name }) => ({
    sql: `SELECT CASE l.partial WHEN 0 THEN x.name END AS c0 FROM pragma_index_list(?) l JOIN pragma_index_xinfo(l.name) x WHERE x.key = 1 AND l."unique" = 1`,
    parameters: [name],
  }),
};
