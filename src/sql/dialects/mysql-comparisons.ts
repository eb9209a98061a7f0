import { mysqlFullText } from './full-text-syntax.js';
import type { Json } from '../../core/errors/rest-exception.js';
import type { Lookup } from '../../core/query/lookups.js';
import type { DataType, TypeOf } from '../../core/schema/data-type.js';
import { wallClockOf } from './local-time.js';
import type { WallZone } from './local-time.js';
import { likePattern } from './text-syntax.js';
import type { Bind, Comparison, TextSyntax } from './text-syntax.js';

/**
 * The zero date, `0000-00-00`, which MariaDB and MySQL can store in place of NULL, also in NOT NULL columns. It is null to
 * clients. As a number it is 0, which is less than every other date, and admitted by every SQL mode.
 */
export function mayHoldZero({ kind }: DataType): boolean {
  return kind === 'date' || kind === 'datetime';
}

export function isZero(text: string): boolean {
  return text.startsWith('0000-00-00') && !/[1-9]/.test(text);
}

/** A date without the zero date; undefined for other values. */
export function nullable(column: string, type: DataType): string | undefined {
  return mayHoldZero(type) ? `NULLIF(${column}, 0)` : undefined;
}

/** Both conditions can use an index, which `NULLIF(column, 0)` cannot. */
export function testZeroOrNull(column: string, isNull: boolean): string {
  return isNull ? `(${column} IS NULL OR ${column} = 0)` : `${column} > 0`;
}

/** Undefined for comparisons that are standard SQL, because the zero date does not match. */
export function compareDates(
  comparison: Comparison,
  { bind, zone }: { readonly bind: Bind; readonly zone: WallZone },
): string | undefined {
  const { column, lookup, value, type } = comparison;
  const beyond = compareBeyond(comparison, zone);
  if (beyond !== undefined || (lookup !== 'lt' && lookup !== 'lte')) return beyond;
  return `(${column} > 0 AND ${column} ${lookup === 'lt' ? '<' : '<='} ${bind(value, type)})`;
}

/** Compares with an instant that lies behind the last year of MariaDB in the zone of its columns: each stored one is less. */
function compareBeyond({ column, lookup, value, type }: Comparison, zone: WallZone): string | undefined {
  if (type.kind !== 'datetime' || typeof value !== 'string' || !(lookup in BEYOND)) return undefined;
  return /^\d{5}/.test(wallClockOf(value, zone)) ? BEYOND[lookup]?.(column) : undefined;
}

const BEYOND: Readonly<Partial<Record<Lookup, (column: string) => string>>> = {
  exact: () => '1 = 0',
  gt: () => '1 = 0',
  gte: () => '1 = 0',
  ne: () => '1 = 1',
  lt: (column) => testZeroOrNull(column, false),
  lte: (column) => testZeroOrNull(column, false),
};

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
  if (lookup !== 'in') return exact(value);
  const values = value as readonly Json[];
  return values.length > LONG_LIST
    ? `(${column} IN (${values.map((each) => bind(each, type)).join(', ')}) AND ${asBytes(column)} IN (${values.map((each) => asBytes(bind(each, type))).join(', ')}))`
    : `(${values.map(exact).join(' OR ')})`;
}

/** Longer lists are compared by IN, which MariaDB searches by halves: alternatives are tried one after the other for each row. */
const LONG_LIST = 500;

/** The column; converted where it cannot be compared with a value, because its character set lacks one of the characters. */
function comparedColumn(column: string, { charset }: TypeOf<'string'>, values: readonly Json[]): string {
  const characters = charset === undefined ? undefined : (CHARACTERS[charset] ?? ASCII);
  return !characters || values.every((each) => characters.test(String(each))) ? column : asUtf8(column);
}

/** The characters that character sets have at least. An index on the column serves comparisons with these. */
const CHARACTERS: Readonly<Record<string, RegExp>> = {
  utf8mb3: /^[\0-\uffff]*$/u,
  utf8: /^[\0-\uffff]*$/u,
  ucs2: /^[\0-\uffff]*$/u,
  // Escaped: a single character beyond Latin-1 would double the memory that the text of the whole package takes.
  latin1:
    /^[\0-\x7f\xa0-\xff\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]*$/u,
};
const ASCII = /^[\0-\x7f]*$/;

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
  fullText: mysqlFullText,
  regexOperator: REGEX,
  // Of two collations neither has precedence, unless one is named.
  joined: (column, type, other) => {
    if (type.kind !== 'string' || other.kind !== 'string' || type.collation === other.collation)
      return column;
    const collation = other.collation ?? type.collation ?? '';
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
