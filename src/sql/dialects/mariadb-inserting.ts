import type { InsertSyntax } from './dialect.js';

/** MariaDB from 10.5 on; MySQL returns no rows. */
export const mariadbInserting: InsertSyntax = {
  // Only InnoDB undoes a statement that fails. A table with system versioning has another type. Without autocommit, one statement alone stores nothing.
  plainTable: ({ name, database }) => ({
    sql: "SELECT COUNT(*) = 1 AND @@SESSION.autocommit AND MAX(engine) = 'InnoDB' AND NOT EXISTS (SELECT 1 FROM information_schema.triggers WHERE event_object_schema = COALESCE(?, DATABASE()) AND event_object_table = ?) AND NOT EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND generation_expression IS NOT NULL AND generation_expression <> '') AS c0 FROM information_schema.tables WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND table_type = 'BASE TABLE'",
    parameters: [database ?? null, name, database ?? null, name, database ?? null, name],
  }),
  // Those are seen with the right to create some.
  showsTriggers: false,
  generatesUuids: false,
  noColumns: ' () VALUES ()',
  // InnoDB would lock the counter of the table, and fail where that is a deadlock.
  selectsRows: false,
  // A cast would cut off what a column refuses.
  value: (placeholder) => placeholder,
  generating: undefined,
  failIfRounded: (column) =>
    `CASE WHEN ${column} > ${Number.MAX_SAFE_INTEGER} THEN (SELECT 1 UNION SELECT 2) END`,
  generatesForZero: true,
};
