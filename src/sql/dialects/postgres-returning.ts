import type { ComparedValue, ReturningSyntax, ValueComparison } from './returning-syntax.js';

export const postgresReturning: ReturningSyntax = {
  plainTable: (_name, path) => ({
    sql: `SELECT (relkind = 'r' AND NOT relhassubclass AND NOT relhasrules AND NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = pg_class.oid AND NOT tgisinternal) AND NOT EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = (SELECT nspname FROM pg_namespace WHERE oid = relnamespace) AND table_name = relname AND is_generated = 'ALWAYS'))::int AS c0 FROM pg_class WHERE oid = to_regclass($1)`,
    parameters: [path],
  }),
  view: (_name, path) => ({
    sql: `SELECT 1 AS c0 FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'v'`,
    parameters: [path],
  }),
  differs,
  failIfRounded: undefined,
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
      return `${column}::text IS DISTINCT FROM ${placeholder}`;
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
