import type { Statement } from '../statement.js';
import type { NamedTable } from './dialect.js';

/** As `Dialect.changesAlike`. A user without the right to see triggers sees none: they run for each row in any case. */
export function changesAlike({ name, database }: NamedTable, change: 'delete' | 'update'): Statement {
  const place = database ?? null;
  return {
    sql: `SELECT table_type = 'BASE TABLE' AND NOT EXISTS (SELECT 1 FROM information_schema.triggers WHERE event_object_schema = t.table_schema AND event_object_table = t.table_name AND event_manipulation = ?) AND NOT EXISTS (SELECT 1 FROM information_schema.referential_constraints r WHERE r.constraint_schema = t.table_schema AND r.table_name = t.table_name AND r.referenced_table_name = t.table_name) AS c0 FROM information_schema.tables t WHERE t.table_schema = COALESCE(?, DATABASE()) AND t.table_name = ?`,
    parameters: [change, place, name],
  };
}
