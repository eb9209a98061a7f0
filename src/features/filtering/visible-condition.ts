import { allOf, ALWAYS, NEVER, oneOf } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Relation } from '../../core/schema/relation.js';

/** A comparison over to-one relations. What the caller may not see counts as empty, so that `ne` and `isnull` keep the rows that lead there (contract 10.3). */
export function withinVisible(compared: Condition, visible: Condition): Condition {
  return keepsNull(compared) ? oneOf([compared, notOf(visible)]) : allOf([compared, visible]);
}

/** The same of each comparison in a condition of a model's own filter. */
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
      // A filter over to-many relations is there only where the caller sees all of what they lead to.
      return allOf([condition, visible(condition.hops)]);
    default:
      return condition satisfies never;
  }
}

/** Whether NULL fits. */
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
