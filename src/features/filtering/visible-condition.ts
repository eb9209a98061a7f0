import { conjunction, ALWAYS, NEVER, disjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Relation } from '../../core/schema/relation.js';

/**
 * A comparison over to-one relations. Related rows that the caller may not see count as NULL, so that `ne` and `isnull`
 * keep the rows that refer to them (contract 10.3).
 */
export function withinVisible(compared: Condition, visible: Condition): Condition {
  return keepsNull(compared) ? disjunction([compared, notOf(visible)]) : conjunction([compared, visible]);
}

/** Applies `withinVisible` to each comparison in the condition of a custom filter. */
export function eachWithinVisible(
  condition: Condition,
  visible: (hops: readonly Relation[]) => Condition,
): Condition {
  switch (condition.kind) {
    case 'always':
    case 'never':
      return condition;
    case 'and':
    case 'or':
      return {
        ...condition,
        conditions: condition.conditions.map((each) => eachWithinVisible(each, visible)),
      };
    case 'not':
      return { kind: 'not', condition: eachWithinVisible(condition.condition, visible) };
    case 'compare':
    case 'term':
      return withinVisible(condition, visible(condition.operand.hops));
    case 'related':
      // A filter over to-many relations exists only if the caller may see all related rows.
      return conjunction([condition, visible(condition.hops)]);
    default:
      return condition satisfies never;
  }
}

/** True if NULL matches. */
function keepsNull(condition: Condition): boolean {
  if (condition.kind !== 'compare') return false;
  const { lookup, value } = condition;
  if (value === null) return lookup === 'exact';
  return lookup === 'ne' || (lookup === 'isnull' && value === true);
}

function notOf(condition: Condition): Condition {
  if (condition.kind === 'always') return NEVER;
  return condition.kind === 'never' ? ALWAYS : { kind: 'not', condition };
}
