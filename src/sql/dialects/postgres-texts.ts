import { postgresFullText } from './full-text-syntax.js';
import type { TypeOf } from '../../core/schema/data-type.js';
import { likePattern } from './text-syntax.js';
import type { Bind, Comparison, SearchedColumn, TextSyntax } from './text-syntax.js';

type TextComparison = Comparison & { readonly type: TypeOf<'string'> };

/** Undefined for comparisons that are standard SQL. */
export function compareTexts(
  { column, lookup, value, type, asKey }: TextComparison,
  bind: Bind,
): string | undefined {
  if (asKey) return compareAsKey({ column, lookup, value, type, asKey }, bind);
  if (type.loose !== true) return undefined;
  // `char(n)` ignores trailing blanks, `citext` and some collations ignore case; a cast to text in bytes does neither.
  const text = `${column}::text COLLATE "C"`;
  if (lookup === 'exact') return `(${column} = ${bind(value, type)} AND ${text} = ${bind(value, type)})`;
  return lookup === 'ne' ? `(${text} <> ${bind(value, type)} OR ${column} IS NULL)` : undefined;
}

/** By the collation of the unique index, if it is not that of the column. */
function compareAsKey({ column, lookup, value, type }: TextComparison, bind: Bind): string | undefined {
  if (type.collation === undefined) return undefined;
  const collated = `${column} COLLATE ${type.collation}`;
  if (lookup === 'exact') return `${collated} = ${bind(value, type)}`;
  return lookup === 'ne' ? `(${collated} <> ${bind(value, type)} OR ${column} IS NULL)` : undefined;
}

/** The text for a search by patterns, which not every collation supports. */
function searchedText({ column, type }: SearchedColumn): string {
  return type.kind === 'string' && type.collation !== undefined
    ? `${column}::text COLLATE "default"`
    : `${column}::text`;
}

const REGEX = '~*';

export const postgresTexts: TextSyntax = {
  matchText: (searched, part, bindText) => {
    if (part.where === 'whole' && !part.insensitive)
      return `${searched.column}::text COLLATE "C" = ${bindText(part.text)}`;
    return `${searchedText(searched)} ${part.insensitive ? 'ILIKE' : 'LIKE'} ${bindText(likePattern(part))} ESCAPE '!'`;
  },
  matchSpecial: (searched, match, placeholder) => {
    if (match === 'fulltext') return `to_tsvector(${searched.column}) @@ plainto_tsquery(${placeholder})`;
    const isDeterministic = searched.type.kind !== 'string' || searched.type.collation === undefined;
    return `${isDeterministic ? searched.column : searchedText(searched)} ${REGEX} ${placeholder}`;
  },
  fullText: postgresFullText,
  regexOperator: REGEX,
  joined: (column) => column,
  equalTexts: ({ type }, texts) => {
    if (type.cast === undefined && type.collation === undefined) return undefined;
    const collation = type.collation === undefined ? '' : ` COLLATE ${type.collation}`;
    const value = `CAST(text AS ${type.cast ?? 'text'})${collation}`;
    return {
      sql: `SELECT place AS c0, first AS c1 FROM (SELECT place, MIN(place) OVER (PARTITION BY ${value}) AS first FROM unnest($1::text[]) WITH ORDINALITY AS v(text, number), LATERAL (SELECT (number - 1)::int AS place) n) f WHERE first < place`,
      parameters: [texts],
    };
  },
  textColumns: () => ({ sql: TEXT_COLUMNS, parameters: [] }),
};

/** The columns with a nondeterministic collation, of their own or of a unique index. */
const TEXT_COLUMNS = `SELECT n.nspname AS c0, c.relname AS c1, u.name AS c2, quote_ident(cn.nspname) || '.' || quote_ident(co.collname) AS c3, NULL AS c4
FROM (SELECT attrelid AS relation, attname AS name, attcollation AS coll FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped
UNION ALL SELECT i.indrelid, a.attname, k.coll FROM pg_index i CROSS JOIN unnest(i.indkey::int2[], i.indcollation::oid[]) k(number, coll) JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number WHERE i.indisunique AND k.number > 0) u
JOIN pg_collation co ON co.oid = u.coll JOIN pg_namespace cn ON cn.oid = co.collnamespace
JOIN pg_class c ON c.oid = u.relation JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT co.collisdeterministic AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`;
