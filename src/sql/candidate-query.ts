import type { Column } from '../core/schema/column.js';
import type { Condition } from '../core/query/condition.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import type { Dialect } from './dialects/dialect.js';
import { compileCondition } from './compile-where.js';
import { Scope } from './query-scope.js';
import type { Statement } from './statement.js';
import type { TableRegistry } from './table-names.js';

/** The value of a column in a candidate row. */
export type CandidateValue =
  /** A bound value in the driver's form. */
  | { readonly kind: 'value'; readonly raw: unknown }
  /** The column default declared by the entity, as SQL. */
  | { readonly kind: 'default'; readonly sql: string }
  /** The next generated key: one more than the greatest. */
  | { readonly kind: 'next' }
  /** The current value of the updated row. */
  | { readonly kind: 'stored' }
  /** The current value plus one, for version columns. */
  | { readonly kind: 'counted' };

/** The state that a row would have after an INSERT or UPDATE, before it is executed. */
export interface CandidateRow {
  readonly resource: ResourceSchema;
  /** The values of every column that the condition refers to. */
  readonly values: ReadonlyMap<Column, CandidateValue>;
  /** Identifies the updated row; undefined for an INSERT. */
  readonly stored?: Condition;
}

/**
 * A statement that returns one record if the candidate row matches the condition. The row is combined with an empty SELECT
 * from the table by UNION ALL, so that its values take the types and collations of the columns.
 */
export function candidateStatement(
  { resource, values, stored }: CandidateRow,
  where: Condition,
  { dialect, tables }: { readonly dialect: Dialect; readonly tables: TableRegistry },
): Statement {
  const scope = Scope.begin(dialect, tables, resource);
  const row = scope.within(resource);
  const names = [...values.keys()].map((column) => scope.table.name(column));
  const expressions = [...values].map(([column, value]) => candidateSql(value, column, row));
  const from = stored ? ` FROM ${row.from()} WHERE ${compileCondition(stored, row)}` : '';
  scope.setDerivedTable(
    `SELECT ${names.join(', ')} FROM ${scope.table.path} WHERE 1 = 0 UNION ALL SELECT ${expressions.join(', ')}${from}`,
  );
  const condition = compileCondition(where, scope);
  return {
    sql: `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${condition} LIMIT 1`,
    parameters: scope.parameters,
  };
}

function candidateSql(value: CandidateValue, column: Column, row: Scope): string {
  switch (value.kind) {
    case 'value':
      return row.dialect.stored(row.bindRaw(value.raw), column.type);
    case 'default':
      return row.dialect.stored(value.sql, column.type);
    case 'next':
      return `(SELECT COALESCE(MAX(${row.table.name(column)}), 0) + 1 FROM ${row.table.path})`;
    case 'stored':
      return row.own(column);
    case 'counted':
      return `${row.own(column)} + 1`;
    default:
      return value satisfies never;
  }
}
