import type { Json } from '../../core/errors/rest-exception.js';
import type { Condition } from '../../core/query/condition.js';
import type { PageRequest, PageWindow } from '../../core/contracts/pagination.js';
import type { CountPlan, ListPlan, PagePlan } from '../../core/query/plan.js';
import type { Route } from '../../core/schema/route.js';

export interface PlanPageOptions {
  /** Whether no grant hides a row of the resource from the caller. */
  readonly open: boolean;
  /** The number of rows unless the client asks for another one: statements with other numbers are not cached. */
  readonly defaultSize: number | undefined;
}

/**
 * Plans one page of the list. Throws a plain error for an invalid request of a custom pagination, which is a mistake in the
 * application.
 */
export function planPage(
  list: ListPlan,
  { window, count }: PageRequest,
  { open, defaultSize }: PlanPageOptions,
): PagePlan {
  const rows = planWindow(window, list.order.length);
  return {
    ...list,
    kind: 'page',
    ...rows,
    oneOff: list.oneOff === true || rows.limit !== defaultSize,
    count: count && countPlan(list, count, open),
  };
}

function planWindow(
  window: PageWindow,
  terms: number,
): Pick<PagePlan, 'limit' | 'offset' | 'from' | 'edges'> {
  const offset = window.kind === 'offset' ? window.offset : 0;
  // These numbers become part of the text of the statement.
  if (!Number.isSafeInteger(window.limit) || window.limit < 1 || !Number.isSafeInteger(offset) || offset < 0)
    throw new Error(
      `A pagination asks for ${JSON.stringify(window.limit)} rows behind ${JSON.stringify(offset)} others.`,
    );
  if (window.kind === 'cursor' && window.position && window.position.values.length !== terms)
    throw new Error(
      `A pagination names a position by ${window.position.values.length} values, in an order of ${terms}.`,
    );
  switch (window.kind) {
    case 'offset':
      return { limit: window.limit, offset, from: undefined, edges: false };
    case 'last':
      return { limit: window.limit, offset: 0, from: undefined, edges: false };
    case 'cursor':
      return { limit: window.limit, offset: 0, from: window.position, edges: true };
    default:
      return window satisfies never;
  }
}

/** The planner's statistics include all rows of all tables: an estimate is limited to callers who may see them. */
function countPlan({ where, parent }: ListPlan, count: 'exact' | 'estimated', open: boolean): CountPlan {
  if (count === 'exact') return count;
  return open && !parent && dependsOnOwnRows(where) ? count : 'bounded';
}

/** True if the condition does not depend on rows of other models. */
function dependsOnOwnRows(condition: Condition): boolean {
  switch (condition.kind) {
    case 'always':
    case 'never':
      return true;
    case 'and':
    case 'or':
      return condition.conditions.every(dependsOnOwnRows);
    case 'not':
      return dependsOnOwnRows(condition.condition);
    case 'compare':
    case 'term':
      return condition.operand.hops.length === 0;
    case 'related':
      return false;
    default:
      return condition satisfies never;
  }
}

/** Identifies a list and its order, types included: a cursor is only valid for the same comparison. */
export function listIdentity(
  { resource, order }: ListPlan,
  { parent, relation }: Route,
  key: readonly Json[] | undefined,
): string {
  const terms = order.map(({ operand: { hops, column }, ...said }) => [
    hops.map(({ name }) => name),
    column.id,
    column.type.kind,
    said,
  ]);
  return JSON.stringify([resource.id, parent?.id ?? null, relation?.name ?? null, key ?? null, terms]);
}
