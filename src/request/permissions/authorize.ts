import { NotAuthenticated, NotFound, PermissionDenied } from '../../errors/request-errors.js';
import { allOf, ALWAYS } from '../../model/condition.js';
import type { Condition } from '../../model/condition.js';
import type { AccessQuestion, Grant, Refusal } from '../../model/permission.js';
import type { Resource } from '../../model/resource.js';
import type { RowFilter } from '../../model/row-filter.js';

/** What the permissions of a model leave a caller: all must say yes, and their rows are AND-ed (contract 8). */
export interface Access {
  readonly rows: Condition;
}

export const FULL_ACCESS: Access = { rows: ALWAYS };

/** Makes a condition of an author's rows; given from outside, because planning is another step. */
export type ResolveRows = (rows: 'all' | RowFilter, resource: Resource) => Condition;

/** Throws 401, 403 or 404 at the first refusal. */
export async function authorize(question: AccessQuestion, resolveRows: ResolveRows): Promise<Access> {
  const conditions: Condition[] = [];
  for (const permission of question.resource.permissions) {
    const answer = await permission.decide(question);
    conditions.push(resolveRows(granted(answer).rows, question.resource));
  }
  return conditions.length === 0 ? FULL_ACCESS : { rows: allOf(conditions) };
}

function granted(answer: Grant | Refusal): Grant {
  if (answer.kind === 'grant') return answer;
  switch (answer.reason) {
    case 'unauthenticated':
      throw new NotAuthenticated(undefined);
    case 'forbidden':
      throw new PermissionDenied();
    case 'hidden':
      throw new NotFound();
    default:
      return answer.reason satisfies never;
  }
}
