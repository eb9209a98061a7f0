import type { Statement } from '../statement.js';
import type { NamedTable } from '../table-names.js';

/**
 * As `Dialect.changesAlike`, with the foreign keys of the table's own database. A user without the right to see triggers sees
 * none: they run for each row in any case.
 */
export function changesAlike({ name, database }: NamedTable, change: 'delete' | 'update'): Statement {
  const place = database ?? null;
  return { sql: CHANGES_ALIKE, parameters: [place, name, place, change, name] };
}

const CHANGES_ALIKE = `WITH RECURSIVE foreign_keys AS (SELECT table_name AS child, referenced_table_name AS parent, delete_rule FROM information_schema.referential_constraints WHERE constraint_schema = COALESCE(?, DATABASE())), deleted AS (SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_name = ? AND table_schema = COALESCE(?, DATABASE()) UNION SELECT table_schema, child, table_type FROM deleted JOIN foreign_keys ON parent = table_name WHERE delete_rule = 'CASCADE') SELECT table_type = 'BASE TABLE' AND NOT EXISTS (SELECT 1 FROM information_schema.triggers WHERE event_object_schema = t.table_schema AND event_object_table = t.table_name AND event_manipulation = ?) AND NOT EXISTS (SELECT 1 FROM foreign_keys k JOIN deleted c ON c.table_name = child JOIN deleted p ON p.table_name = parent WHERE delete_rule <> 'CASCADE' OR child = t.table_name) AS c0 FROM deleted t WHERE t.table_name = ?`;
