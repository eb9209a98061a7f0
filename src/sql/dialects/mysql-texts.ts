import type { Json } from '../../core/errors/rest-exception.js';
import type { Lookup } from '../../core/query/lookups.js';
import type { DataType, TypeOf } from '../../core/schema/data-type.js';
import { likePattern } from './text-syntax.js';
import type { Bind, Comparison, TextSyntax } from './text-syntax.js';

type TextComparison = Comparison & { readonly type: TypeOf<'string'> };

/** Undefined for comparisons that are standard SQL. */
export function compareTexts(comparison: TextComparison, bind: Bind): string | undefined {
  const { column, lookup, value, type, asKey } = comparison;
  const compared = comparedColumn(column, type, lookup === 'in' ? (value as readonly Json[]) : [value]);
  if (!asKey && (lookup === 'exact' || lookup === 'ne' || lookup === 'in'))
    return compareExactly({ ...comparison, column: compared }, bind);
  return compared === column ? undefined : compareConverted({ ...comparison, column: compared }, bind);
}

function compareConverted({ column, lookup, value, type }: TextComparison, bind: Bind): string | undefined {
  if (isSigned(lookup)) return `${column} ${SIGNS[lookup]} ${bind(value, type)}`;
  if (lookup === 'ne') return `(${column} <> ${bind(value, type)} OR ${column} IS NULL)`;
  return lookup === 'in'
    ? `${column} IN (${(value as readonly Json[]).map((each) => bind(each, type)).join(', ')})`
    : undefined;
}

const SIGNS = { exact: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function isSigned(lookup: Lookup): lookup is keyof typeof SIGNS {
  return Object.hasOwn(SIGNS, lookup);
}

function compareExactly({ column, lookup, value, type }: TextComparison, bind: Bind): string {
  // The first comparison uses an index, whatever the column's collation; the second one is exact.
  const exact = (each: Json): string =>
    `(${column} = ${bind(each, type)} AND ${equalBytes(column, bind(each, type))})`;
  if (lookup === 'ne') return `(NOT (${equalBytes(column, bind(value, type))}) OR ${column} IS NULL)`;
  return lookup === 'in' ? `(${(value as readonly Json[]).map(exact).join(' OR ')})` : exact(value);
}

/** The column; converted where it cannot be compared with a value, because its character set lacks one of the characters. */
function comparedColumn(column: string, { charset }: TypeOf<'string'>, values: readonly Json[]): string {
  return charset === undefined || values.every((each) => isIn(charset, String(each)))
    ? column
    : asUtf8(column);
}

/** The characters that character sets have at least. An index on the column serves comparisons with these. */
const CHARACTERS: Readonly<Record<string, RegExp>> = {
  utf8mb3: /^[\0-\uffff]*$/u,
  utf8: /^[\0-\uffff]*$/u,
  ucs2: /^[\0-\uffff]*$/u,
  latin1: /^[\0-\x7f\xa0-\xff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]*$/u,
};
const ASCII = /^[\0-\x7f]*$/;

function isIn(charset: string, text: string): boolean {
  return (CHARACTERS[charset] ?? ASCII).test(text);
}

/** Compares bytes: without collation and without padding. */
function equalBytes(column: string, parameter: string): string {
  return `${asBytes(column)} = ${asBytes(parameter)}`;
}

function asBytes(text: string): string {
  return `CAST(${asUtf8(text)} AS BINARY)`;
}

function asUtf8(text: string): string {
  return `CONVERT(${text} USING utf8mb4)`;
}

const REGEX = 'REGEXP';

export const mysqlTexts: TextSyntax = {
  matchText: ({ column }, part, bindText) => {
    if (part.where === 'whole' && !part.insensitive) return equalBytes(column, bindText(part.text));
    if (part.insensitive)
      return `LOWER(${asUtf8(column)}) LIKE LOWER(${bindText(likePattern(part))}) ESCAPE '!'`;
    return `${asBytes(column)} LIKE ${asBytes(bindText(likePattern(part)))} ESCAPE '!'`;
  },
  matchSpecial: ({ column, type }, match, placeholder) => {
    const charset = charsetOf(type);
    if (match === 'regex')
      return `${charset === undefined ? column : asUtf8(column)} ${REGEX} ${placeholder}`;
    return `MATCH (${column}) AGAINST (${charset === undefined ? placeholder : `CONVERT(${placeholder} USING ${charset})`})`;
  },
  regexOperator: REGEX,
  // Of two collations neither has precedence, unless one is named.
  joined: (column, near, far) => {
    if (near.kind !== 'string' || far.kind !== 'string' || near.collation === far.collation) return column;
    const collation = far.collation ?? near.collation ?? '';
    return `CONVERT(${column} USING ${collation.split('_', 1).join('')}) COLLATE ${collation}`;
  },
  // The first SELECT of the UNION gives the values the type of the column.
  equalTexts: ({ path, name, type }, texts) => {
    const charset = charsetOf(type);
    const value = charset === undefined ? '?' : `CONVERT(? USING ${charset})`;
    const rows = texts.map((_, place) => `UNION ALL SELECT ${place}, ${value}`).join(' ');
    return {
      sql: `SELECT place AS c0, first AS c1 FROM (SELECT place, MIN(place) OVER (PARTITION BY ${name}) AS first FROM (SELECT -1 AS place, ${name} FROM ${path} WHERE 1 = 0 ${rows}) v) f WHERE first < place`,
      parameters: texts,
    };
  },
  textColumns: (schemas) => ({
    sql: `SELECT c.table_schema AS c0, c.table_name AS c1, c.column_name AS c2, NULLIF(c.collation_name, s.default_collation_name) AS c3, NULLIF(c.character_set_name, 'utf8mb4') AS c4 FROM information_schema.columns c JOIN information_schema.schemata s ON s.schema_name = c.table_schema WHERE c.table_schema IN (${schemas.map(() => '?').join(', ')}) AND (c.character_set_name <> 'utf8mb4' OR c.collation_name <> s.default_collation_name)`,
    parameters: schemas,
  }),
};

function charsetOf(type: DataType): string | undefined {
  return type.kind === 'string' ? type.charset : undefined;
}
