import type { Json } from '../errors/rest-exception.js';
import type { Condition } from './condition.js';

/**
 * Whether a row with these canonical values satisfies a condition, as far as its own columns tell: undefined where the
 * answer lies in other rows, in a text comparison that is the database's, or in a value that is not known.
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
      return opposite(every(condition.conditions.map((each) => opposite(evaluateCondition(each, valueOf)))));
    case 'not':
      return opposite(evaluateCondition(condition.condition, valueOf));
    case 'compare':
      // What a transformer makes of a value is the application's: only the database holds what is compared.
      return condition.operand.hops.length > 0 || condition.operand.column.transform !== undefined
        ? undefined
        : compared(condition, valueOf(condition.operand.column.id));
    case 'term':
    case 'related':
      return undefined;
    default:
      return condition satisfies never;
  }
}

/** One that fails decides, whatever is not known of the others. */
function every(answers: readonly (boolean | undefined)[]): boolean | undefined {
  if (answers.includes(false)) return false;
  return answers.includes(undefined) ? undefined : true;
}

function opposite(answer: boolean | undefined): boolean | undefined {
  return answer === undefined ? undefined : !answer;
}

function compared(
  { lookup, value }: Extract<Condition, { kind: 'compare' }>,
  own: Json | undefined,
): boolean | undefined {
  if (own === undefined) return undefined;
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
