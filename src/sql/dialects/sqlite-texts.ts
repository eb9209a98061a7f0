import { sqliteFullText } from './full-text-syntax.js';
import type { Json } from '../../core/errors/rest-exception.js';
import type { TypeOf } from '../../core/schema/data-type.js';
import { likePattern } from './text-syntax.js';
import type { Bind, Comparison, TextSyntax } from './text-syntax.js';

type TextComparison = Comparison & { readonly type: TypeOf<'string'> };

/**
 * Undefined for comparisons that are standard SQL. A list compiles to one IN: alternatives nest, and SQLite limits the depth of
 * an expression.
 */
export function compareTexts(
  { column, lookup, value, type, asKey }: TextComparison,
  bind: Bind,
): string | undefined {
  const collation = asKey ? type.collation : 'BINARY';
  if (collation === undefined) return undefined;
  const collate = ` COLLATE ${collation}`;
  switch (lookup) {
    case 'exact':
      return `${column} = ${bind(value, type)}${collate}`;
    case 'ne':
      return `(${column} <> ${bind(value, type)}${collate} OR ${column} IS NULL)`;
    case 'in':
      return `${column}${collate} IN (${(value as readonly Json[]).map((each) => bind(each, type)).join(', ')})`;
    default:
      return undefined;
  }
}

export const sqliteTexts: TextSyntax = {
  /**
   * LIKE ignores the case of ASCII letters; `instr` and `substr` compare exactly. If the pattern is a bare parameter, SQLite
   * re-prepares the statement at each execution, to search for a prefix that an index can serve. A unary plus, which has no
   * other effect, prevents this for patterns that begin with a wildcard and so have no prefix.
   */
  matchText: ({ column }, part, bindText) => {
    if (part.insensitive) {
      const hasPrefix = part.where === 'whole' || part.where === 'start';
      return `${column} LIKE ${hasPrefix ? '' : '+'}${bindText(likePattern(part))} ESCAPE '!'`;
    }
    switch (part.where) {
      case 'whole':
        return `${column} = ${bindText(part.text)} COLLATE BINARY`;
      case 'anywhere':
        return `instr(${column}, ${bindText(part.text)}) > 0`;
      case 'start':
        return `substr(${column}, 1, length(${bindText(part.text)})) = ${bindText(part.text)} COLLATE BINARY`;
      case 'end':
        return part.text === ''
          ? `${column} IS NOT NULL`
          : `substr(${column}, -length(${bindText(part.text)})) = ${bindText(part.text)} COLLATE BINARY`;
      default:
        return part.where satisfies never;
    }
  },
  matchSpecial: () => {
    throw new Error('Search by regular expression or full text is not supported on SQLite.');
  },
  fullText: sqliteFullText,
  regexOperator: undefined,
  // Of two columns with different collations, the left one would decide, whichever refers to the other.
  joined: (column, type) =>
    type.kind === 'string' && type.collation !== undefined ? `${column} COLLATE ${type.collation}` : column,
  equalTexts: ({ type: { collation } }, texts) =>
    collation === undefined
      ? undefined
      : {
          sql: `SELECT place AS c0, first AS c1 FROM (SELECT key AS place, MIN(key) OVER (PARTITION BY value COLLATE ${collation}) AS first FROM json_each(?)) WHERE first < place`,
          parameters: [JSON.stringify(texts)],
        },
  textColumns: () => ({ sql: TEXT_COLUMNS, parameters: [] }),
};

/**
 * The columns of unique indexes that do not compare bytes. The collation of a column is known from its indexes alone, and
 * SQLite requires a unique index with that collation for a column to which a foreign key refers.
 */
const TEXT_COLUMNS = `SELECT NULL AS c0, m.name AS c1, c.name AS c2, '"' || replace(c.coll, '"', '""') || '"' AS c3, NULL AS c4
FROM sqlite_master m, pragma_index_list(m.name) i, pragma_index_xinfo(i.name) c
WHERE m.type = 'table' AND i."unique" AND c.key AND c.name IS NOT NULL AND upper(c.coll) <> 'BINARY'`;
