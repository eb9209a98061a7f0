import type { ComparedValue, ReturningSyntax, ValueComparison } from './dialect.js';

export const postgresReturning: ReturningSyntax = {
  plainTable: ({ path }) => ({
    sql: `SELECT (relkind = 'r' AND NOT relhassubclass AND NOT relhasrules AND NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = pg_class.oid AND NOT tgisinternal) AND NOT EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = (SELECT nspname FROM pg_namespace WHERE oid = relnamespace) AND table_name = relname AND is_generated = 'ALWAYS'))::int AS c0 FROM pg_class WHERE oid = to_regclass($1)`,
    parameters: [path],
  }),
  view: (_name, path) => ({
    sql: `SELECT 1 AS c0 FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'v'`,
    parameters: [path],
  }),
  differs,
  showsTriggers: true,
  generatesUuids: true,
  noColumns: ' DEFAULT VALUES',
  selectsRows: true,
  value: (placeholder) => placeholder,
  generating: {
    // Of an identity column that takes no other values there is none. A default may have another type than its column.
    defaultOf: (path, column) => ({
      sql: `SELECT CASE attidentity WHEN 'd' THEN format('nextval(%L::regclass)', pg_get_serial_sequence($1, $2)) WHEN '' THEN 'CAST(' || pg_get_expr(adbin, adrelid) || ' AS ' || format_type(atttypid, NULL) || ')' END AS c0 FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid = to_regclass($1) AND attname = $2`,
      parameters: [path, column],
    }),
    rows: (count) => `generate_series(1, ${count})`,
  },
  failIfRounded: undefined,
  generatesForZero: false,
  rowVersion: {
    read: (alias) => `${alias}.xmin::text`,
    equals: (alias, placeholder) => `${alias}.xmin = ${placeholder}::xid`,
    isOwn: (alias) => `${alias}.xmin::text::bigint = txid_current() & 4294967295`,
  },
};

function differs(comparison: ValueComparison, { column, placeholder, type }: ComparedValue): string {
  switch (comparison) {
    case 'value':
    case 'json-text':
      return `${column} IS DISTINCT FROM ${placeholder}`;
    case 'text':
      return `${column}::text IS DISTINCT FROM ${placeholder}::text`;
    case 'instant': {
      const zoned = type.kind === 'datetime' && type.zoned;
      const milliseconds = (value: string): string => `date_trunc('milliseconds', ${value})`;
      return `${milliseconds(column)} IS DISTINCT FROM ${milliseconds(`${placeholder}::${zoned ? 'timestamptz' : 'timestamp'}`)}`;
    }
    case 'json':
      return jsonDiffers(`${column}::text`, `${placeholder}::text`);
    case 'jsonb':
      return `${column}::text IS DISTINCT FROM ${placeholder}::text::jsonb::text`;
    default:
      return comparison satisfies never;
  }
}

/** A number with an exponent, or 0 with a sign: `jsonb` has neither. */
const OTHER_NUMBERS = `(^|[[:space:]:,\\[])(-0(\\.0*)?([^0-9.]|$)|-?[0-9][0-9.]*[eE])`;

/** Compares as `jsonb`, which has one order of keys, and keeps the decimal places of numbers. */
function jsonDiffers(stored: string, given: string): string {
  return `(${stored}::jsonb::text IS DISTINCT FROM ${given}::jsonb::text OR (concat(${stored}, ' ', ${given}) ~ '${OTHER_NUMBERS}' AND ${stored} IS DISTINCT FROM ${given}))`;
}
