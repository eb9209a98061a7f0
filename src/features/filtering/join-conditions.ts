import { conjunction, ALWAYS } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { ExistsStep } from '../../core/schema/resource-schema.js';

/** A condition on a row of a model, or on rows reached over these to-many relations. */
export interface PlacedCondition {
  readonly some: readonly ExistsStep[];
  readonly condition: Condition;
}

/**
 * Joins all conditions by AND. Those on one to-many relation refer to the same related row, as in Django's `filter()`:
 * one choice that has the votes and the text, not two that have one each.
 */
export function groupByRelation(placed: readonly PlacedCondition[], depth = 0): Condition {
  const conditions: Condition[] = [];
  const groups = new Map<string, { readonly step: ExistsStep; readonly placed: PlacedCondition[] }>();
  for (const each of placed) {
    const step = each.some[depth];
    if (!step) {
      conditions.push(each.condition);
      continue;
    }
    const name = JSON.stringify([...step.hops, step.relation].map((relation) => relation.name));
    const group = groups.get(name) ?? { step, placed: [] };
    groups.set(name, group);
    group.placed.push(each);
  }
  return conjunction([
    ...conditions,
    ...[...groups.values()].map(({ step, placed }) =>
      existsCondition(step, groupByRelation(placed, depth + 1)),
    ),
  ]);
}

/** At least one related row that the caller may see matches. */
function existsCondition(
  { hops, relation, near, rows = ALWAYS, through }: ExistsStep,
  condition: Condition,
): Condition {
  const inner = conjunction([rows, condition]);
  if (inner.kind === 'never') return inner;
  const related: Condition = {
    kind: 'related',
    hops,
    relation,
    condition: inner,
    ...(through ? { through } : {}),
  };
  return near ? conjunction([near, related]) : related;
}

/** True if the last relation leads to no row that the caller may see, or (`some`) to at least one. */
export function notExists(steps: readonly ExistsStep[], some: boolean): PlacedCondition {
  const last = steps.at(-1);
  if (!last) return { some: [], condition: ALWAYS };
  const related = existsCondition(last, ALWAYS);
  return { some: steps.slice(0, -1), condition: some ? related : { kind: 'not', condition: related } };
}
