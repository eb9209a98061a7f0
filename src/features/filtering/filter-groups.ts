import { disjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { FilterContext } from '../../core/contracts/filter-backend.js';
import type { FieldTerm, FilterTerm } from '../../core/schema/resource-schema.js';
import { invalid, valid } from '../../core/values/parse-result.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { GroupError, parseFilterGroup } from './filter-group-parser.js';
import type { Expression } from './filter-group-parser.js';
import { parseTerm } from './parse-filter.js';
import { groupByRelation } from './join-conditions.js';
import type { PlacedCondition } from './join-conditions.js';

type Term = Extract<Expression, { kind: 'term' }>;

/**
 * Filters of the model combined by `and`, `or` and `not`. An unknown name must not be ignored here, because that could
 * show more rows: it is an error, the same for a hidden and a missing field.
 */
export function parseGroups(text: string, context: FilterContext): Outcome<readonly PlacedCondition[]> {
  try {
    const expression = parseFilterGroup(text, context.resource.queryLimits);
    assertFewSteps(expression, context);
    return valid(placedOf(expression, context));
  } catch (error) {
    if (error instanceof GroupError) return invalid(error.message);
    throw error;
  }
}

/** Limits steps over to-many relations, which cost more than comparisons do. */
function assertFewSteps(expression: Expression, { resource }: FilterContext): void {
  const limit = resource.queryLimits.groupRelated;
  let steps = 0;
  for (const { name, place } of termsOf(expression)) {
    for (const { some } of termPaths(resource.filterTerms.get(name))) steps += some.length;
    if (steps > limit) throw new GroupError(`Ensure there are no more than ${limit} steps over many.`, place);
  }
}

function termPaths(term: FilterTerm | undefined): readonly Pick<FieldTerm, 'some'>[] {
  if (!term) return [];
  return term.kind === 'custom' ? term.reads : [term];
}

function termsOf(expression: Expression): readonly Term[] {
  switch (expression.kind) {
    case 'and':
    case 'or':
      return expression.parts.flatMap(termsOf);
    case 'not':
      return termsOf(expression.part);
    case 'term':
      return [expression];
    default:
      return expression satisfies never;
  }
}

/**
 * AND-ed conditions on a to-many relation refer to the same related row; each part of an `or`, and a negated expression,
 * are independent.
 */
function placedOf(expression: Expression, context: FilterContext): readonly PlacedCondition[] {
  switch (expression.kind) {
    case 'and':
      return expression.parts.flatMap((part) => placedOf(part, context));
    case 'or':
      return [
        { some: [], condition: disjunction(expression.parts.map((part) => groupCondition(part, context))) },
      ];
    case 'not':
      return [{ some: [], condition: { kind: 'not', condition: groupCondition(expression.part, context) } }];
    case 'term':
      return [placedTerm(expression, context)];
    default:
      return expression satisfies never;
  }
}

function groupCondition(expression: Expression, context: FilterContext): Condition {
  return groupByRelation(placedOf(expression, context));
}

function placedTerm({ name, text, place }: Term, context: FilterContext): PlacedCondition {
  const term = context.resource.filterTerms.get(name);
  if (!term) throw new GroupError(`"${name}" is no filter.`, place);
  const outcome = parseTerm(text, term, context);
  if (outcome.errors) throw new GroupError(`${name}: ${outcome.errors.join(' ')}`, place);
  return outcome.value;
}
