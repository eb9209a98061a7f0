import { conjunction, disjunction, mapComparisons, negation } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Relation } from '../../core/schema/relation.js';

/**
 * A comparison over to-one relations. Related rows that the caller may not see count as NULL, so that `ne` and `isnull`
 * keep the rows that refer to them (contract 10.3).
 */
export function withinVisible(compared: Condition, visible: Condition): Condition {
  return keepsNull(compared) ? disjunction([compared, negation(visible)]) : conjunction([compared, visible]);
}

/** Applies `withinVisible` to each comparison in the condition of a custom filter. */
export function eachWithinVisible(
  condition: Condition,
  visible: (hops: readonly Relation[]) => Condition,
): Condition {
  return mapComparisons(condition, (each) =>
    each.kind === 'related'
      ? // A filter over to-many relations exists only if the caller may see all related rows.
        conjunction([each, visible(each.hops)])
      : withinVisible(each, visible(each.operand.hops)),
  );
}

/** True if NULL matches. */
function keepsNull(condition: Condition): boolean {
  if (condition.kind !== 'compare') return false;
  const { lookup, value } = condition;
  if (value === null) return lookup === 'exact';
  return lookup === 'ne' || (lookup === 'isnull' && value === true);
}
