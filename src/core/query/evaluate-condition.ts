import type { Json } from '../errors/rest-exception.js';
import type { Condition } from './condition.js';

/**
 * Evaluates a condition for a row with these canonical values: undefined if the result depends on other rows, on a text
 * comparison of the database, or on an unknown value.
 */
export function evaluateCondition(
  condition: Condition,
  valueOf: (columnId: string) => Json | undefined,
): boolean | undefined {
  switch (condition.kind) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'and':
      return every(condition.conditions.map((each) => evaluateCondition(each, valueOf)));
    case 'or':
      return negate(every(condition.conditions.map((each) => negate(evaluateCondition(each, valueOf)))));
    case 'not':
      return negate(evaluateCondition(condition.condition, valueOf));
    case 'compare':
      // The stored value of a column with a transformer is only known to the database.
      return condition.operand.hops.length > 0 || condition.operand.column.transform !== undefined
        ? undefined
        : evaluateComparison(condition, valueOf(condition.operand.column.id));
    case 'term':
    case 'related':
      return undefined;
    default:
      return condition satisfies never;
  }
}

/** Three-valued conjunction: a false operand decides, even if others are unknown. */
function every(answers: readonly (boolean | undefined)[]): boolean | undefined {
  if (answers.includes(false)) return false;
  return answers.includes(undefined) ? undefined : true;
}

function isSameText(own: string, value: Json): boolean {
  return Array.isArray(value) ? (value as readonly Json[]).includes(own) : value === own || value === null;
}

function negate(answer: boolean | undefined): boolean | undefined {
  return answer === undefined ? undefined : !answer;
}

function evaluateComparison(
  { lookup, value, asKey }: Extract<Condition, { kind: 'compare' }>,
  own: Json | undefined,
): boolean | undefined {
  if (own === undefined) return undefined;
  // The database may take different texts for the same key.
  if (asKey && typeof own === 'string' && !isSameText(own, value)) return undefined;
  switch (lookup) {
    case 'exact':
      return own === value;
    case 'ne':
      return own !== value;
    case 'in':
      return Array.isArray(value) ? (value as readonly Json[]).includes(own) : undefined;
    case 'isnull':
      return (own === null) === value;
    default:
      return undefined;
  }
}
