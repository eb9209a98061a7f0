import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ColumnValue } from '../../../core/query/plan.js';
import type { Resource } from '../../../core/schema/resource.js';
import { Scope } from '../../../sql/query-scope.js';
import type { WriterTools } from './row-writer.js';

/** Updates the columns whose exact values TypeORM does not write, after its own statement. */
export async function writePreciseValues(
  resource: Resource,
  { identity, values }: { readonly identity: readonly Json[]; readonly values: readonly ColumnValue[] },
  { runner, tools }: { readonly runner: QueryRunner; readonly tools: WriterTools },
): Promise<void> {
  if (values.length === 0) return;
  const scope = Scope.begin(tools.dialect, tools.tables, resource);
  const changes = values.map(
    ({ column, value }) => `${scope.table.name(column)} = ${scope.bind(value, column.type)}`,
  );
  const named = resource.identity.map(
    (column, index) => `${scope.table.name(column)} = ${scope.bind(identity[index] ?? null, column.type)}`,
  );
  await runner.query(`UPDATE ${scope.table.path} SET ${changes.join(', ')} WHERE ${named.join(' AND ')}`, [
    ...scope.parameters,
  ]);
}
