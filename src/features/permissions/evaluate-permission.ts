import { allow, deny, hide } from '../../core/contracts/permission.js';
import type { AccessContext, FieldSet, Grant, Denial } from '../../core/contracts/permission.js';
import type { DecisionWatch, CompiledPermission } from '../../core/contracts/compiled-permission.js';
import type { RowFilter } from '../../core/query/row-filter.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';

type Decision = Grant | Denial;

/** The decision of a permission expression; synchronous if all of its permissions are. */
export function decide(permission: CompiledPermission, question: AccessContext): MaybePromise<Decision> {
  switch (permission.kind) {
    case 'one':
      return decideOne(permission, question);
    case 'all-of': {
      const [only, ...more] = permission.permissions;
      return only && more.length === 0 ? decide(only, question) : decideAll(permission.permissions, question);
    }
    case 'any-of':
      return decideAny(permission.permissions, question);
    case 'not':
      return decideOpposite(permission.permission, question);
    default:
      return permission satisfies never;
  }
}

function decideOne(
  { permission, watch }: Extract<CompiledPermission, { kind: 'one' }>,
  question: AccessContext,
): MaybePromise<Decision> {
  const answer = permission.decide(question);
  return watch ? mapMaybe(answer, (given) => noted(given, watch, question)) : answer;
}

function noted(answer: Decision, watch: DecisionWatch, { method }: AccessContext): Decision {
  watch.note(answer, method);
  return answer;
}

async function decideAny(
  permissions: readonly CompiledPermission[],
  question: AccessContext,
): Promise<Decision> {
  return anyGrant(await Promise.all(permissions.map(async (each) => decide(each, question))));
}

async function decideOpposite(permission: CompiledPermission, question: AccessContext): Promise<Decision> {
  return negateDecision(await decide(permission, question));
}

/** Evaluates in order until the first refusal. */
async function decideAll(
  permissions: readonly CompiledPermission[],
  question: AccessContext,
): Promise<Decision> {
  let all = allow();
  for (const each of permissions) {
    const answer = await decide(each, question);
    if (answer.kind !== 'grant') return answer;
    all = {
      kind: 'grant',
      rows: bothRows(all.rows, answer.rows),
      readable: both(all.readable, answer.readable),
      writable: both(all.writable, answer.writable),
    };
  }
  return all;
}

/** Without a grant, the result is `hidden` only if every member is. */
function anyGrant(answers: readonly (Grant | Denial)[]): Grant | Denial {
  const grants = answers.filter((answer) => answer.kind === 'grant');
  if (grants.length === 0)
    return answers.length > 0 &&
      answers.every((answer) => answer.kind === 'refusal' && answer.reason === 'hidden')
      ? hide()
      : deny();
  const whole = grants.filter(({ rows }) => rows === 'all');
  if (whole.length > 0) {
    // Each of them grants its fields on every row.
    return {
      kind: 'grant',
      rows: 'all',
      readable: whole.map((each) => each.readable).reduce(either),
      writable: whole.map((each) => each.writable).reduce(either),
    };
  }
  const filters = grants.map(({ rows }) => rows as RowFilter);
  return {
    kind: 'grant',
    rows: { kind: 'or', filters },
    readable: grants.map((each) => each.readable).reduce(both),
    writable: grants.map((each) => each.writable).reduce(both),
  };
}

export function negateDecision(answer: Grant | Denial): Grant | Denial {
  if (answer.kind === 'refusal') return allow();
  return answer.rows === 'all' ? deny() : allow({ rows: { kind: 'not', filter: answer.rows } });
}

export function bothRows(a: 'all' | RowFilter, b: 'all' | RowFilter): 'all' | RowFilter {
  if (a === 'all') return b;
  return b === 'all' ? a : { kind: 'and', filters: [a, b] };
}

export function both(a: FieldSet, b: FieldSet): FieldSet {
  if (a === 'all') return b;
  return b === 'all' ? a : new Set([...a].filter((name) => b.has(name)));
}

function either(a: FieldSet, b: FieldSet): FieldSet {
  return a === 'all' || b === 'all' ? 'all' : new Set([...a, ...b]);
}
