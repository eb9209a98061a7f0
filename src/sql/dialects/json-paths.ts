import type { JsonValue } from '../../core/schema/column.js';

/**
 * The SQL of values in documents. An expression of the same text is what an index is on, so that documents name it: each is written
 * in `docs/reference/filters.md`. Keys become literals of the statement; characters that would need an escape in a path are
 * refused at start.
 */
export interface JsonPathSyntax {
  /**
   * The value in a document: NULL if there is none, or one of another type, or a number beyond ±9007199254740991. With `any`, a text
   * if there is a value, and NULL for null. No document makes it fail.
   */
  value(document: string, json: JsonValue): string;
  /** Whether the value is an array that has this text. */
  contains(document: string, json: JsonValue, text: TextOperand): string;
}

/** A text as a value of its own, and how it is bound. */
interface TextOperand {
  readonly text: string;
  readonly bind: (text: string) => string;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** `'$."size"."width"'` */
function pathOf({ keys }: JsonValue): string {
  return quoted(`$${keys.map((key) => `."${key}"`).join('')}`);
}

const LARGEST = Number.MAX_SAFE_INTEGER;

export const sqliteJsonPaths: JsonPathSyntax = {
  value: (document, json) => {
    const path = pathOf(json);
    const type = `json_type(${document}, ${path})`;
    const value = `json_extract(${document}, ${path})`;
    const ofType = {
      string: `CASE ${type} WHEN 'text' THEN ${value} END`,
      number: `CASE WHEN ${type} IN ('integer', 'real') AND ${value} BETWEEN -${LARGEST} AND ${LARGEST} THEN ${value} END`,
      boolean: `CASE ${type} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END`,
      'string[]': `CASE ${type} WHEN 'array' THEN ${value} END`,
      any: `nullif(${type}, 'null')`,
    }[json.as];
    return `(CASE WHEN ${validInSqlite(document, json)} THEN ${ofType} END)`;
  },
  contains: (document, json, { text, bind }) => {
    const array = sqliteJsonPaths.value(document, json);
    return `EXISTS (SELECT 1 FROM json_each(${array}) e WHERE e.type = 'text' AND e.value = ${bind(text)})`;
  },
};

/** As text in the form of RFC 8259, or as JSONB. */
function validInSqlite(document: string, { source: { type } }: JsonValue): string {
  return type.kind === 'json' && type.packed === true
    ? `json_valid(${document}, 9)`
    : `json_valid(${document})`;
}

export const postgresJsonPaths: JsonPathSyntax = {
  value: (document, json) => {
    const value = jsonbAt(document, json);
    const ofType = (name: string, result: string): string =>
      `(CASE WHEN jsonb_typeof(${value}) = '${name}' THEN ${result} END)`;
    switch (json.as) {
      case 'string':
        return `(${ofType('string', `${value} #>> '{}'`)} COLLATE "C")`;
      case 'number':
        // The cast fails for a number that is too near to 0.
        return ofType(
          'number',
          `CASE WHEN abs((${value})::numeric) < ${LARGEST}.5 THEN trunc((${value})::numeric, 323)::float8 END`,
        );
      case 'boolean':
        return ofType('boolean', `(${value})::boolean`);
      case 'string[]':
        return ofType('array', value);
      case 'any':
        return `nullif(jsonb_typeof(${value}), 'null')`;
      default:
        return json.as satisfies never;
    }
  },
  contains: (document, json, { text, bind }) =>
    `(${jsonbAt(document, json)}) @> ${bind(JSON.stringify([text]))}::jsonb`,
};

function jsonbAt(document: string, { keys }: JsonValue): string {
  return `${document}${keys.map((key) => ` -> ${quoted(key)}`).join('')}`;
}

/** @param collation one of utf8mb4 that compares bytes; the one of MySQL ignores blanks at the end in orders */
export function mysqlJsonPaths(collation: string): JsonPathSyntax {
  const textOf = (value: string): string =>
    `CONVERT(JSON_UNQUOTE(${value}) USING utf8mb4) COLLATE ${collation}`;
  const valueOf = (document: string, json: JsonValue): string => {
    const value = `JSON_EXTRACT(${document}, ${pathOf(json)})`;
    const ofType = {
      string: `CASE JSON_TYPE(${value}) WHEN 'STRING' THEN ${textOf(value)} END`,
      number: `CASE WHEN JSON_TYPE(${value}) IN (${NUMBERS}) THEN CASE WHEN CAST(${value} AS DOUBLE) BETWEEN -${LARGEST} AND ${LARGEST} THEN CAST(${value} AS DOUBLE) END END`,
      boolean: `CASE JSON_TYPE(${value}) WHEN 'BOOLEAN' THEN JSON_UNQUOTE(${value}) = 'true' END`,
      'string[]': `CASE JSON_TYPE(${value}) WHEN 'ARRAY' THEN ${value} END`,
      any: `NULLIF(JSON_TYPE(${value}), 'NULL')`,
    }[json.as];
    return `(CASE WHEN JSON_VALID(${document}) THEN ${ofType} END)`;
  };
  return {
    value: valueOf,
    contains: (document, json, { text, bind }) =>
      `EXISTS (SELECT 1 FROM JSON_TABLE(${valueOf(document, json)}, '$[*]' COLUMNS (v JSON PATH '$')) e WHERE JSON_TYPE(e.v) = 'STRING' AND ${textOf('e.v')} = ${bind(text)})`,
  };
}

const NUMBERS = `'INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'`;
