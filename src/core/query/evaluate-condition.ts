import type { Json } from '../errors/rest-exception.js';
import type { Relation } from '../schema/relation.js';
import { conjunction, ALWAYS, NEVER, disjunction, negation } from './condition.js';
import type { Condition, Comparison, Operand } from './condition.js';

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
      return isOfDatabase(condition.operand)
        ? undefined
        : evaluateComparison(condition, valueOf(condition.operand.column.id));
    case 'term':
    case 'related':
      return undefined;
    default:
      return condition satisfies never;
  }
}

/** Whether only the database knows the value: of another row, as stored by a transformer, or in a document. */
function isOfDatabase({ joinPath, column }: Operand): boolean {
  return joinPath.length > 0 || column.transform !== undefined || column.json !== undefined;
}

/** Three-valued conjunction: a false operand decides, even if others are unknown. */
function every(answers: readonly (boolean | undefined)[]): boolean | undefined {
  if (answers.includes(false)) return false;
  return answers.includes(undefined) ? undefined : true;
}

function isSameText(own: string, value: Json): boolean {
  return Array.isArray(value) ? (value as readonly Json[]).includes(own) : value === own || value === null;
}

function negate(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
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

/** The unknown parts of a row before it is written. */
interface UnknownParts {
  /** Ids of columns. */
  readonly columns: ReadonlySet<string>;
  /** True if the rows that refer to it are unknown. */
  readonly referring: boolean;
}

/** A weaker condition without the unknown parts: true for every row for which the whole condition may be true. */
export function mayMatch(condition: Condition, unknown: UnknownParts, negated = false): Condition {
  switch (condition.kind) {
    case 'always':
    case 'never':
      return condition;
    case 'and':
      return conjunction(condition.conditions.map((each) => mayMatch(each, unknown, negated)));
    case 'or':
      return disjunction(condition.conditions.map((each) => mayMatch(each, unknown, negated)));
    case 'not':
      return negation(mayMatch(condition.condition, unknown, !negated));
    case 'compare':
    case 'term':
    case 'related':
      if (isDecidable(condition, unknown)) return condition;
      return negated ? NEVER : ALWAYS;
    default:
      return condition satisfies never;
  }
}

function isDecidable(condition: Comparison, { columns, referring }: UnknownParts): boolean {
  const first = firstStep(condition);
  return (
    !(referring && first !== undefined && first.kind !== 'to-one') &&
    !columnsBehind(condition).some((id) => columns.has(id))
  );
}

/** The columns of the row itself that a condition refers to, including those that join other rows to it. */
export function ownColumns(condition: Condition): readonly string[] {
  switch (condition.kind) {
    case 'always':
    case 'never':
      return [];
    case 'and':
    case 'or':
      return condition.conditions.flatMap(ownColumns);
    case 'not':
      return ownColumns(condition.condition);
    case 'compare':
    case 'term':
    case 'related':
      return columnsBehind(condition);
    default:
      return condition satisfies never;
  }
}

function firstStep(condition: Comparison): Relation | undefined {
  return condition.kind === 'related'
    ? (condition.joinPath[0] ?? condition.relation)
    : condition.operand.joinPath[0];
}

function columnsBehind(condition: Comparison): readonly string[] {
  const first = firstStep(condition);
  if (first)
    return (first.kind === 'many-to-many' ? first.through.parent : first.on).map(
      ({ localColumn }) => localColumn.id,
    );
  return condition.kind === 'related' ? [] : [condition.operand.column.id];
}
