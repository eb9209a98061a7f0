import type { Json } from '../core/errors/rest-exception.js';
import { conjunction, equals, disjunction } from '../core/query/condition.js';
import type { Condition } from '../core/query/condition.js';
import type { RelatedPlan } from '../core/query/plan.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import { compileCondition, compileWhere } from './compile-where.js';
import { compileOrder } from './compile-order.js';
import { readColumns, selectList } from './query-scope.js';
import type { Scope } from './query-scope.js';
import type { Statement } from './statement.js';

/**
 * A statement for the related rows of several parents: their `expressions`, followed by the identity of the parent. The
 * database joins them, so that its own equality applies; `most` limits the rows per parent by `row_number()`.
 */
export function relatedStatement(plan: RelatedPlan, scope: Scope, expressions: readonly string[]): Statement {
  const { parent, on, where, order, identities, most, limit } = plan;
  const source = scope.within(parent);
  const read = [...expressions, ...readColumns(parent.identity, source)];
  const ofParent = parent.identity.map((column) => source.own(column)).join(', ');
  const place =
    most === undefined
      ? undefined
      : `row_number() OVER (PARTITION BY ${ofParent} ORDER BY ${compileOrder(order, scope)})`;
  const conditions = [
    compileCondition(identityCondition(parent, identities), source),
    compileWhere(where, scope),
  ];
  const rows = `${scope.from()} INNER JOIN ${source.from()} ON ${scope.pairs(on, source, scope)} WHERE ${conditions.join(' AND ')}`;
  const sql =
    place === undefined
      ? `SELECT ${selectList(read)} FROM ${rows} LIMIT ${limit}`
      : `SELECT r.* FROM (SELECT ${selectList(read)}, ${place} AS place FROM ${rows}) r WHERE r.place <= ${most ?? 1} ORDER BY r.place LIMIT ${limit}`;
  return { sql, parameters: scope.parameters };
}

/** Alternatives per group: a chain of OR is as deep as it is long, and SQLite limits the depth of an expression. */
const GROUP_SIZE = 50;

/** The condition that selects rows by identity. */
function identityCondition(
  { identity }: ResourceSchema,
  identities: readonly (readonly Json[])[],
): Condition {
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
