import { allow, deny, hide } from '../../core/contracts/permission.js';
import type { AccessContext, FieldSet, Grant, Denial, Hiding } from '../../core/contracts/permission.js';
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

/** How refusals hide rows, for all permissions of a prefix. */
export interface RefusalRules {
  /** The default for refusals that do not declare what they hide. */
  readonly refusalsHide: Hiding;
  /** Reports the error of a permission that was evaluated after a refusal. */
  readonly failed: (error: unknown, question: AccessContext) => void;
}

interface PermissionQuestion {
  readonly question: AccessContext;
  readonly rules: RefusalRules;
}

/** The row conditions of a permission expression. */
interface VisibleRows {
  readonly refuses: boolean;
  /** Undefined if it refuses and hides nothing: an `anyOf` ignores it. */
  readonly rows: 'all' | RowFilter | undefined;
}

const NO_ROWS: RowFilter = { kind: 'or', filters: [] };
const HIDES_ALL: VisibleRows = { refuses: true, rows: NO_ROWS };

/**
 * The rows of a model that the caller may refer to: as a parent in a URL, or as a key in a body. Every row condition
 * hides rows, even beside a refusal, and a refusal hides what it declares (contract 8.6).
 */
export function visibleRows(
  permission: CompiledPermission,
  question: AccessContext,
  rules: RefusalRules,
): MaybePromise<'all' | RowFilter> {
  return mapMaybe(stated(permission, { question, rules }), ({ rows }) => (rows === undefined ? 'all' : rows));
}

function stated(permission: CompiledPermission, asking: PermissionQuestion): MaybePromise<VisibleRows> {
  const { question, rules } = asking;
  switch (permission.kind) {
    case 'one':
      return mapMaybe(decide(permission, question), (answer) => statementOf(answer, rules));
    case 'all-of':
      return statedByAll(permission.permissions, asking, []);
    case 'any-of':
      return statedByAny(permission.permissions, asking);
    case 'not':
      return mapMaybe(decide(permission.permission, question), (answer) =>
        statementOf(negateDecision(answer), rules),
      );
    default:
      return permission satisfies never;
  }
}

function statementOf(answer: Grant | Denial, { refusalsHide }: RefusalRules): VisibleRows {
  switch (answer.kind) {
    case 'grant':
      return (answer.rows as unknown) === undefined ? HIDES_ALL : { refuses: false, rows: answer.rows };
    case 'refusal':
      return answer.reason === 'hidden' || (answer.hides ?? refusalsHide) !== 'nothing'
        ? HIDES_ALL
        : { refuses: true, rows: undefined };
    default:
      // An invalid value from untyped code of the application.
      return HIDES_ALL;
  }
}

/** Evaluates in order. After the first refusal only row conditions count. */
function statedByAll(
  permissions: readonly CompiledPermission[],
  asking: PermissionQuestion,
  evaluated: readonly VisibleRows[],
): MaybePromise<VisibleRows> {
  const next = permissions[evaluated.length];
  if (!next) return intersectVisible(evaluated);
  const statement = evaluated.some(({ refuses }) => refuses)
    ? statedBehind(next, asking)
    : stated(next, asking);
  return mapMaybe(statement, (one) => statedByAll(permissions, asking, [...evaluated, one]));
}

function intersectVisible(evaluated: readonly VisibleRows[]): VisibleRows {
  const refuses = evaluated.some((one) => one.refuses);
  const rows = evaluated
    .flatMap((one) => (one.rows === undefined ? [] : [one.rows]))
    .reduce<'all' | RowFilter>(bothRows, 'all');
  return { refuses, rows: refuses && rows === 'all' ? undefined : rows };
}

/** It may depend on what the refusing permission found missing: if it throws, no row is visible. */
async function statedBehind(
  permission: CompiledPermission,
  asking: PermissionQuestion,
): Promise<VisibleRows> {
  try {
    return await stated(permission, asking);
  } catch (error) {
    asking.rules.failed(error, asking.question);
    return HIDES_ALL;
  }
}

/**
 * The rows hidden by all members that hide any: `anyOf(IsAdmin, OwnRows)` hides from other callers what they do not own.
 */
async function statedByAny(
  permissions: readonly CompiledPermission[],
  asking: PermissionQuestion,
): Promise<VisibleRows> {
  const evaluated = await Promise.all(permissions.map(async (each) => stated(each, asking)));
  const refuses = evaluated.every((one) => one.refuses);
  const rows = evaluated.flatMap((one) => (one.rows === undefined ? [] : [one.rows]));
  if (rows.length === 0) return { refuses, rows: undefined };
  return {
    refuses,
    rows: rows.includes('all') ? 'all' : { kind: 'or', filters: rows.filter((each) => each !== 'all') },
  };
}
