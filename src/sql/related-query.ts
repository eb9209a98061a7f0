import type { Json } from '../core/errors/rest-exception.js';
import { conjunction, equals, disjunction } from '../core/query/condition.js';
import type { Condition } from '../core/query/condition.js';
import type { RelatedPlan } from '../core/query/plan.js';
import type { Column } from '../core/schema/column.js';
import type { DataKind } from '../core/schema/data-type.js';
import type { ColumnPair } from '../core/schema/relation.js';
import { compileCondition, compileWhere } from './compile-where.js';
import { compileOrder } from './compile-order.js';
import { readColumns, selectList } from './query-scope.js';
import type { Scope } from './query-scope.js';
import type { Statement } from './statement.js';

/**
 * A statement for the related rows of several parents: their `expressions`, followed by the identity of the parent. The
 * database joins them, so that its own equality applies, unless a foreign key is the whole identity and an integer, which is equal to the same
 * alone; `most` limits the rows per parent by `row_number()`.
 */
export function relatedStatement(plan: RelatedPlan, scope: Scope, expressions: readonly string[]): Statement {
  const { where, order, most, limit } = plan;
  const { parents, from, ofParents } = parentsOf(plan, scope);
  const { scope: source, columns } = parents;
  const read = [...expressions, ...readColumns(columns, source)];
  const ofParent = columns.map((column) => source.own(column)).join(', ');
  const place =
    most === undefined
      ? undefined
      : `row_number() OVER (PARTITION BY ${ofParent} ORDER BY ${compileOrder(order, scope)})`;
  const conditions = [compileCondition(ofParents, source), compileWhere(where, scope)];
  const rows = `${from()} WHERE ${conditions.join(' AND ')}`;
  const sql =
    place === undefined
      ? `SELECT ${selectList(read)} FROM ${rows} LIMIT ${limit}`
      : `SELECT r.* FROM (SELECT ${selectList(read)}, ${place} AS place FROM ${rows}) r WHERE r.place <= ${most ?? 1} ORDER BY r.place LIMIT ${limit}`;
  return { sql, parameters: scope.parameters };
}

/** Where the identity of the parents is read, and the condition that selects them. */
interface Parents {
  readonly parents: { readonly scope: Scope; readonly columns: readonly Column[] };
  /** Called last: conditions and orders may join tables. */
  readonly from: () => string;
  readonly ofParents: Condition;
}

function parentsOf({ parent, on, identities }: RelatedPlan, scope: Scope): Parents {
  const { identity } = parent;
  const [pair, ...more] = on;
  const isKey = pair && more.length === 0 && identity.length === 1 && isSameInteger(pair, identity[0]);
  if (isKey && scope.table.holders(scope.alias, pair.referencedColumn).length === 0)
    return {
      parents: { scope, columns: [pair.referencedColumn] },
      from: () => scope.from(),
      ofParents: identityCondition([pair.referencedColumn], identities),
    };
  const source = scope.within(parent);
  return {
    parents: { scope: source, columns: identity },
    from: () => `${scope.from()} INNER JOIN ${source.from()} ON ${scope.pairs(on, source, scope)}`,
    ofParents: identityCondition(identity, identities),
  };
}

const INTEGERS: ReadonlySet<DataKind> = new Set(['integer', 'bigint']);

function isSameInteger({ localColumn, referencedColumn }: ColumnPair, identity: Column | undefined): boolean {
  const { kind } = referencedColumn.type;
  return localColumn.id === identity?.id && kind === identity.type.kind && INTEGERS.has(kind);
}

/** Alternatives per group: a chain of OR is as deep as it is long, and SQLite limits the depth of an expression. */
const GROUP_SIZE = 50;

/** The condition that selects rows by identity. */
function identityCondition(identity: readonly Column[], identities: readonly (readonly Json[])[]): Condition {
  const [column, ...more] = identity;
  if (column && more.length === 0)
    return {
      kind: 'compare',
      operand: { joinPath: [], column },
      lookup: 'in',
      value: identities.map(([value]) => value ?? null),
    };
  const each = identities.map((values) =>
    conjunction(identity.map((part, index) => equals(part, values[index] ?? null))),
  );
  return disjunction(
    Array.from({ length: Math.ceil(each.length / GROUP_SIZE) }, (_, group) =>
      disjunction(each.slice(group * GROUP_SIZE, (group + 1) * GROUP_SIZE)),
    ),
  );
}
