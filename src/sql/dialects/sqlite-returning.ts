import type { ComparedValue, ReturningSyntax, ValueComparison } from './returning-syntax.js';

export const sqliteReturning: ReturningSyntax = {
  plainTable: (name) => ({
    sql: `SELECT count(*) = 1 AND NOT EXISTS (SELECT 1 FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master) WHERE type = 'trigger' AND lower(tbl_name) = lower(?)) AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden <> 0) AS c0 FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)`,
    parameters: [name, name, name],
  }),
  view: (name) => ({
    sql: `SELECT 1 AS c0 FROM sqlite_master WHERE type = 'view' AND lower(name) = lower(?)`,
    parameters: [name],
  }),
  differs,
  // Only the overflow fails.
  failIfRounded: (column) =>
    `abs(CASE WHEN ${column} > ${Number.MAX_SAFE_INTEGER} THEN -9223372036854775807 - 1 ELSE 0 END)`,
  rowVersion: undefined,
};

/** Exactly, whatever the collation of the column. */
function differs(comparison: ValueComparison, { column, placeholder }: ComparedValue): string {
  switch (comparison) {
    case 'value':
    case 'text':
      return `${column} IS NOT ${placeholder} COLLATE BINARY`;
    case 'instant':
      // Tables contain several text forms of an instant: TypeORM writes milliseconds, `datetime('now')` does not.
      return `strftime('%Y-%m-%d %H:%M:%f', ${column}) IS NOT ${placeholder}`;
    case 'json':
    case 'jsonb':
    case 'json-text':
      return `CASE WHEN json_valid(${column}) THEN json(${column}) ELSE ${column} END IS NOT ${placeholder} COLLATE BINARY`;
    default:
      return comparison satisfies never;
  }
}
