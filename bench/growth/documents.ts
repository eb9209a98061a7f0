import { LimitOffsetPagination, restify } from 'nestjs-restify';
import { EntitySchema } from 'typeorm';
import { PAGE } from './entities.js';
import type { GrowthDatabase } from './fill-tables.js';

const COLOR = 'string' as const;
const TABLE = 'growth_document';

/** The value of `color` in `meta`, by the expression of the index. */
const COLOR_SQL: Readonly<Record<GrowthDatabase, string>> = {
  postgres: `(CASE WHEN jsonb_typeof(meta -> 'color') = 'string' THEN meta -> 'color' #>> '{}' END) COLLATE "C"`,
  mariadb: 'meta_color',
  sqlite: `CASE WHEN json_valid(meta) THEN CASE json_type(meta, '$."color"') WHEN 'text' THEN json_extract(meta, '$."color"') END END`,
};

/** The same column by the same expression as filters have. */
const MARIADB_COLOR = `CASE WHEN JSON_VALID(meta) THEN CASE JSON_TYPE(JSON_EXTRACT(meta, '$."color"')) WHEN 'STRING' THEN CONVERT(JSON_UNQUOTE(JSON_EXTRACT(meta, '$."color"')) USING utf8mb4) COLLATE utf8mb4_nopad_bin END END`;

interface GrowthDocument {
  id: number;
  title: string;
  meta: { color: string };
  meta_color?: string;
}

/** Documents with a value in JSON, and a text with a full-text index. */
export function documentsOf(database: GrowthDatabase): EntitySchema<GrowthDocument> {
  const documents = new EntitySchema<GrowthDocument>({
    name: 'GrowthDocument',
    tableName: TABLE,
    columns: {
      id: { type: Number, primary: true },
      title: { type: 'varchar', length: 60 },
      meta: { type: database === 'postgres' ? 'jsonb' : 'simple-json' },
      ...(database === 'mariadb' && {
        meta_color: {
          ...{ type: 'varchar', length: 20, nullable: true, charset: 'utf8mb4' },
          ...{ collation: 'utf8mb4_nopad_bin', asExpression: MARIADB_COLOR, generatedType: 'VIRTUAL' },
        },
      }),
    },
  });
  restify(documents, {
    ...{ app: 'growth', name: 'document', fields: ['id', 'title', 'meta'] },
    filterFields: {
      'meta.color': {
        ...{ type: COLOR, lookups: ['exact'] },
        ...(database === 'mariadb' && { column: 'meta_color' }),
      },
    },
    searchFields: ['@title'],
    fullText: { configuration: 'simple', table: `${TABLE}_text` },
    pagination: new LimitOffsetPagination({ pageSize: PAGE, count: false }),
  });
  return documents;
}

/**
 * Fills the table with as many documents as there are orders: about ten have the same color, and about ten the same word in the title. Then
 * the indexes. `numbers`: the numbers from 1 on, as a table `s` with the column `n`.
 */
export function documentStatements(
  database: GrowthDatabase,
  { numbers, scattered }: { readonly numbers: string; readonly scattered: (seed: number) => string },
): readonly string[] {
  const join = (...parts: readonly string[]): string =>
    database === 'mariadb' ? `CONCAT(${parts.join(', ')})` : parts.join(' || ');
  const meta = join(`'{"color":"c'`, `(${scattered(17)})`, `'"}'`);
  const title = join(`'common word'`, `(${scattered(19)})`);
  return [
    `INSERT INTO ${TABLE} (id, title, meta) SELECT n, ${title}, ${database === 'postgres' ? `(${meta})::jsonb` : meta} FROM ${numbers}`,
    `CREATE INDEX ${TABLE}_color ON ${TABLE} (${database === 'mariadb' ? COLOR_SQL.mariadb : `(${COLOR_SQL[database]})`})`,
    ...{
      postgres: [`CREATE INDEX ${TABLE}_words ON ${TABLE} USING gin (to_tsvector('simple', title))`],
      mariadb: [`CREATE FULLTEXT INDEX ${TABLE}_words ON ${TABLE} (title)`],
      sqlite: [
        `CREATE VIRTUAL TABLE ${TABLE}_text USING fts5(title, content='${TABLE}', content_rowid='id')`,
        `INSERT INTO ${TABLE}_text (${TABLE}_text) VALUES ('rebuild')`,
      ],
    }[database],
    `ANALYZE ${database === 'mariadb' ? 'TABLE ' : ''}${TABLE}`,
    ...(database === 'postgres' ? [`VACUUM ${TABLE}`] : []),
  ];
}

const DOCUMENTS = `SELECT d.id, d.title, d.meta FROM ${TABLE} d`;
const FIRST = `LIMIT ${PAGE + 1}`;

/** The statements by hand. */
export const documentSql = {
  ofColor: (database: GrowthDatabase): string =>
    `${DOCUMENTS} WHERE ${COLOR_SQL[database].replaceAll('meta', 'd.meta')} = 'c77' ORDER BY d.id ${FIRST}`,
  ofWord: (database: GrowthDatabase): string =>
    ({
      postgres: `${DOCUMENTS} WHERE to_tsvector('simple', d.title) @@ websearch_to_tsquery('simple', '"word77"') ORDER BY ts_rank(to_tsvector('simple', d.title), websearch_to_tsquery('simple', '"word77"')) DESC, d.id DESC ${FIRST}`,
      mariadb: `${DOCUMENTS} WHERE MATCH (d.title) AGAINST ('+"word77"' IN BOOLEAN MODE) ORDER BY MATCH (d.title) AGAINST ('+"word77"' IN BOOLEAN MODE) DESC, d.id DESC ${FIRST}`,
      sqlite: `${DOCUMENTS} JOIN ${TABLE}_text t ON t.rowid = d.id WHERE t.${TABLE}_text MATCH '"word77"' ORDER BY t.rank, d.id DESC ${FIRST}`,
    })[database],
};
