import type { Column } from '../core/schema/column.js';
import type { Condition } from '../core/query/condition.js';
import type { Resource } from '../core/schema/resource.js';
import type { Dialect } from './dialects/dialect.js';
import { compileCondition } from './compile-where.js';
import { Scope } from './query-scope.js';
import type { Statement } from './statement.js';
import type { TableRegistry } from './table-names.js';

/** What a column of a row that is not written would hold. */
export type CandidateValue =
  /** As the driver takes it. */
  | { readonly kind: 'value'; readonly raw: unknown }
  /** The default that the entity declares. */
  | { readonly kind: 'default'; readonly sql: string }
  /** A number that no row has. */
  | { readonly kind: 'next' }
  /** What the row holds that is changed. */
  | { readonly kind: 'stored' }
  /** One more than that. */
  | { readonly kind: 'counted' };

/** A row that is not written. */
export interface CandidateRow {
  readonly resource: Resource;
  /** Of every column that the condition looks at. */
  readonly held: ReadonlyMap<Column, CandidateValue>;
  /** Names the row that is changed. */
  readonly stored?: Condition;
}

/** One record where the condition holds for the row. It stands below a SELECT of no row, so that its values have the types and collations of the columns. */
export function candidateStatement(
  { resource, held, stored }: CandidateRow,
  where: Condition,
  { dialect, tables }: { readonly dialect: Dialect; readonly tables: TableRegistry },
): Statement {
  const scope = Scope.over(dialect, tables, resource, (outer) => {
    const row = outer.within(resource);
    const names = [...held.keys()].map((column) => outer.table.name(column));
    const values = [...held].map(([column, value]) => candidateSql(value, column, row));
    const from = stored ? ` FROM ${row.from()} WHERE ${compileCondition(stored, row)}` : '';
    return `SELECT ${names.join(', ')} FROM ${outer.table.path} WHERE 1 = 0 UNION ALL SELECT ${values.join(', ')}${from}`;
  });
  const condition = compileCondition(where, scope);
  return {
    sql: `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${condition} LIMIT 1`,
    parameters: scope.parameters,
  };
}

function candidateSql(held: CandidateValue, column: Column, row: Scope): string {
  switch (held.kind) {
    case 'value':
      return row.dialect.stored(row.bindRaw(held.raw), column.type);
    case 'default':
      return row.dialect.stored(held.sql, column.type);
    case 'next':
      return `(SELECT COALESCE(MAX(${row.table.name(column)}), 0) + 1 FROM ${row.table.path})`;
    case 'stored':
      return row.own(column);
    case 'counted':
      return `${row.own(column)} + 1`;
    default:
      return held satisfies never;
  }
}
