import type { Column } from '../schema/column.js';

/** How the search fields with `@` are searched as one text, and ranked. Each database reads the parts that concern it. */
export interface FullTextOptions {
  /** PostgreSQL: the text search configuration, a part of the statement, so that an expression index serves it. Default: `simple`. */
  readonly configuration?: string;
  /** PostgreSQL: a column of the type `tsvector`, by its name in the table, made of the search fields alone. Default: none, the vector is computed. */
  readonly column?: string;
  /** PostgreSQL: whether words are searched without accents, by the extension `unaccent`. Default: false. */
  readonly unaccent?: boolean;
  /** SQLite: the FTS5 table, whose columns are those of the search fields and whose `rowid` is the key. */
  readonly table?: string;
  /** The name of the order by rank; `false`: none. Default: `rank`. */
  readonly rank?: string | false;
}

/** The columns of a row that a full-text search reads as one text. */
export interface SearchedDocument extends Pick<FullTextOptions, 'column' | 'table'> {
  readonly columns: readonly [Column, ...Column[]];
  readonly key: Column;
  readonly configuration: string;
  readonly unaccent: boolean;
}

const DEFAULT_RANK = 'rank';
const DEFAULT_CONFIGURATION = 'simple';

export function fullTextOptions(given: boolean | FullTextOptions | undefined): FullTextOptions | undefined {
  if (given === undefined || given === false) return undefined;
  return given === true ? {} : given;
}

/** The name of the order by rank; undefined without. */
export function rankName({ rank = DEFAULT_RANK }: FullTextOptions): string | undefined {
  return rank === false ? undefined : rank;
}

export function documentOf(
  columns: SearchedDocument['columns'],
  key: Column,
  { configuration = DEFAULT_CONFIGURATION, column, unaccent = false, table }: FullTextOptions,
): SearchedDocument {
  return {
    columns,
    key,
    configuration,
    unaccent,
    ...(column !== undefined && { column }),
    ...(table !== undefined && { table }),
  };
}
