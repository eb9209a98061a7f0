import { conjunction, ALWAYS, NEVER, disjunction, negation } from './condition.js';
import type { Comparison, Condition } from './condition.js';
import type { Relation } from '../schema/relation.js';

/** The unknown parts of a row before it is written. */
export interface UnknownParts {
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
  return condition.kind === 'related' ? (condition.hops[0] ?? condition.relation) : condition.operand.hops[0];
}

function columnsBehind(condition: Comparison): readonly string[] {
  const first = firstStep(condition);
  if (first)
    return (first.kind === 'many-to-many' ? first.through.parent : first.on).map(({ near }) => near.id);
  return condition.kind === 'related' ? [] : [condition.operand.column.id];
}
