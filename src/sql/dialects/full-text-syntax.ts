import type { SearchedDocument } from '../../core/contracts/full-text.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { Statement } from '../statement.js';
import type { NamedTable } from '../table-names.js';

/** A document as SQL. */
export interface DocumentSql {
  readonly document: SearchedDocument;
  /** The alias of the table. */
  readonly alias: string;
  /** The columns that are searched, and the key. */
  readonly columns: readonly string[];
  readonly key: string;
  /** The alias of the joined index; undefined if it is not joined. */
  readonly joined: string | undefined;
}

/** A query at start, and what its rows, as `c0`, say against the option `fullText` or a part of it. */
export interface FullTextCheck {
  readonly part: string;
  readonly statement: Statement;
  readonly flaw: (found: readonly string[]) => Pick<DeclarationProblem, 'what' | 'repair'> | undefined;
}

/**
 * The SQL of full-text searches of documents. `terms` are texts in double quotes, which contain neither quotes nor control characters:
 * nothing in them is an operator. `bindText` is called once at most.
 */
export interface FullTextSyntax {
  /** The condition of the rows that have all terms. */
  matches(document: DocumentSql, terms: string, bindText: (text: string) => string): string;
  /** How well a row that has them fits: a whole number, so that pages can begin behind it. */
  rank(document: DocumentSql, terms: string, bindText: (text: string) => string): string;
  /** The table, with this alias, and condition that are joined for the rank; undefined if it needs none. */
  join(document: SearchedDocument, alias: string, key: string): string | undefined;
  /** What the database must have. */
  checks(document: SearchedDocument, table: NamedTable): readonly FullTextCheck[];
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function namesOf({ columns }: SearchedDocument): readonly string[] {
  return columns.map(({ id }) => id);
}

function hasSame(names: readonly string[], others: readonly string[]): boolean {
  const sorted = (each: readonly string[]): string =>
    JSON.stringify([...each].map((name) => name.toLowerCase()).sort());
  return sorted(names) === sorted(others);
}

/** `configuration` has been verified: letters, digits, underscores and dots. */
function vectorOf({ document, alias, columns }: DocumentSql): string {
  const { column, configuration, unaccent } = document;
  if (column !== undefined) return `${alias}.${quoteName(column)}`;
  const text = columns
    .map((each, index) => (document.columns[index]?.nullable === true ? `coalesce(${each}, '')` : each))
    .join(" || ' ' || ");
  return `to_tsvector('${configuration}', ${unaccent ? `unaccent(${text})` : text})`;
}

/** Of words in quotes, `websearch_to_tsquery` makes phrases, and it raises no errors. */
function tsquery({ configuration, unaccent }: SearchedDocument, placeholder: string): string {
  return `websearch_to_tsquery('${configuration}', ${unaccent ? `unaccent(${placeholder})` : placeholder})`;
}

/** The columns that a generated column reads. */
const GENERATED_FROM = `SELECT DISTINCT a.attname AS c0 FROM pg_attrdef d JOIN pg_attribute v ON v.attrelid = d.adrelid AND v.attnum = d.adnum AND v.attname = $2
JOIN pg_depend p ON ((p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid) OR (p.classid = 'pg_class'::regclass AND p.objid = d.adrelid AND p.objsubid = d.adnum)) AND p.refclassid = 'pg_class'::regclass AND p.refobjid = d.adrelid AND p.refobjsubid > 0 AND p.refobjsubid <> d.adnum
JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = p.refobjsubid WHERE d.adrelid = to_regclass($1)`;

export const postgresFullText: FullTextSyntax = {
  matches: (document, terms, bindText) =>
    `${vectorOf(document)} @@ ${tsquery(document.document, bindText(terms))}`,
  rank: (document, terms, bindText) =>
    `(ts_rank(${vectorOf(document)}, ${tsquery(document.document, bindText(terms))}) * 1e8)::int`,
  join: () => undefined,
  checks: (document, { path }) => {
    const { configuration, column, unaccent } = document;
    const checks: FullTextCheck[] = [
      {
        part: 'configuration',
        statement: {
          sql: "SELECT cfgname AS c0 FROM pg_ts_config c JOIN pg_namespace n ON n.oid = cfgnamespace WHERE nspname || '.' || cfgname = $1 OR (cfgname = $1 AND pg_ts_config_is_visible(c.oid))",
          parameters: [configuration],
        },
        flaw: ({ length }) =>
          length > 0
            ? undefined
            : {
                what: `the database has no text search configuration "${configuration}"`,
                repair: 'SELECT cfgname FROM pg_ts_config lists those that it has.',
              },
      },
    ];
    if (unaccent)
      checks.push({
        part: 'unaccent',
        statement: { sql: "SELECT to_regprocedure('unaccent(text)')::text AS c0", parameters: [] },
        flaw: ([name]) =>
          typeof name === 'string'
            ? undefined
            : {
                what: 'the database has no function unaccent(text) in its search path',
                repair: 'CREATE EXTENSION unaccent, or leave the option out.',
              },
      });
    if (column !== undefined)
      checks.push(
        {
          part: 'column',
          statement: {
            sql: "SELECT attname AS c0 FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2 AND atttypid = 'tsvector'::regtype AND NOT attisdropped",
            parameters: [path, column],
          },
          flaw: ({ length }) =>
            length > 0
              ? undefined
              : {
                  what: `the table has no column "${column}" of the type tsvector`,
                  repair: 'Add the column to the table, or leave the option out.',
                },
        },
        {
          part: 'column',
          statement: { sql: GENERATED_FROM, parameters: [path, column] },
          flaw: (read) => {
            const others = read.filter((name) => !namesOf(document).includes(name));
            return others.length === 0
              ? undefined
              : {
                  what: `the column "${column}" is also made of ${others.map((name) => `"${name}"`).join(', ')}, which the search would disclose`,
                  repair:
                    'Add what it is made of to searchFields, with "@", or generate it from the search fields alone.',
                };
          },
        },
      );
    return checks;
  },
};

/** Each phrase is required. */
function booleanTerms(terms: string): string {
  return terms.replace(/"[^"]*"/g, '+$&');
}

function match({ document, columns }: DocumentSql, placeholder: string): string {
  const [{ type }] = document.columns;
  const charset = type.kind === 'string' ? type.charset : undefined;
  const text = charset === undefined ? placeholder : `CONVERT(${placeholder} USING ${charset})`;
  return `MATCH (${columns.join(', ')}) AGAINST (${text} IN BOOLEAN MODE)`;
}

export const mysqlFullText: FullTextSyntax = {
  matches: (document, terms, bindText) => match(document, bindText(booleanTerms(terms))),
  rank: (document, terms, bindText) =>
    `CAST(${match(document, bindText(booleanTerms(terms)))} * 1000000000 AS SIGNED)`,
  join: () => undefined,
  checks: (document, { name, path, database }) => [
    {
      part: '',
      statement: {
        sql: "SELECT GROUP_CONCAT(column_name SEPARATOR '\\n') AS c0 FROM information_schema.statistics WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND index_type = 'FULLTEXT' GROUP BY index_name",
        parameters: [database ?? null, name],
      },
      flaw: (indexes) =>
        indexes.some((columns) => hasSame(columns.split('\n'), namesOf(document)))
          ? undefined
          : {
              what: `the table has no full-text index of exactly the search fields`,
              repair: `CREATE FULLTEXT INDEX ${name}_text ON ${path} (${namesOf(document)
                .map((each) => `\`${each}\``)
                .join(', ')}), or @Index([…], { fulltext: true }) on the entity.`,
            },
    },
  ],
};

export const sqliteFullText: FullTextSyntax = {
  matches: ({ document: { table = '' }, key, joined }, terms, bindText) =>
    joined === undefined
      ? `${key} IN (SELECT rowid FROM ${quoteName(table)} WHERE ${quoteName(table)} MATCH ${bindText(terms)})`
      : `${joined}.${quoteName(table)} MATCH ${bindText(terms)}`,
  // The better a row fits, the less is the rank of FTS5. A word in most rows counts for about 1e-6.
  rank: ({ joined = '' }) => `CAST(-1e12 * ${joined}.rank AS INTEGER)`,
  join: ({ table = '' }, alias, key) => `${quoteName(table)} ${alias} ON ${alias}.rowid = ${key}`,
  checks: (document) => {
    const { table = '' } = document;
    return [
      {
        part: 'table',
        statement: {
          sql: "SELECT c.name AS c0 FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name = ? COLLATE NOCASE AND m.sql LIKE 'CREATE VIRTUAL TABLE%USING%FTS5%'",
          parameters: [table],
        },
        flaw: (columns) => {
          if (hasSame(columns, namesOf(document))) return undefined;
          const listed = namesOf(document).join(', ');
          return {
            what:
              columns.length === 0
                ? `the database has no FTS5 table "${table}"`
                : `the FTS5 table "${table}" has the columns ${columns.join(', ')}, and the search fields are ${listed}`,
            repair: `CREATE VIRTUAL TABLE "${table}" USING fts5(${listed}, content='…', content_rowid='${document.key.id}'), with triggers that keep it up to date.`,
          };
        },
      },
    ];
  },
};
