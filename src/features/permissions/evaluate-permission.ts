import { allow, deny, hide } from '../../core/contracts/permission.js';
import type {
  AccessContext,
  FieldSet,
  Grant,
  Denial,
  Hiding,
  CompiledPermission,
} from '../../core/contracts/permission.js';
import { withSource } from '../../core/query/row-filter.js';
import type { RowFilter } from '../../core/query/row-filter.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';

type Decision = Grant | Denial;

/** The decision of a permission expression; synchronous if it is a single permission that is. */
export function decide(permission: CompiledPermission, context: AccessContext): MaybePromise<Decision> {
  switch (permission.kind) {
    case 'anyone':
      return allow();
    case 'one':
      return decideOne(permission, context);
    case 'all-of':
      return decideAll(permission.permissions, context);
    case 'any-of':
      return Promise.all(permission.permissions.map(async (each) => decide(each, context))).then(anyGrant);
    case 'not':
      return mapMaybe(decide(permission.permission, context), negateDecision);
    default:
      return permission satisfies never;
  }
}

function decideOne(
  { permission, watch, source }: Extract<CompiledPermission, { kind: 'one' }>,
  context: AccessContext,
): MaybePromise<Decision> {
  const decision = permission.decide(context);
  if (source === undefined) return decision;
  return mapMaybe(decision, (made) => {
    watch?.record(made, context.method);
    return attributeRows(made, source);
  });
}

/** Adds the class to the row filter of a grant. What code without types returns in its place is left as it is. */
function attributeRows(decision: Decision, source: string): Decision {
  if (decision.kind !== 'grant') return decision;
  const { kind, rows, readable, writable } = decision;
  if (rows === 'all' || typeof (rows as RowFilter | undefined) !== 'object') return decision;
  return { kind, rows: withSource(rows, source), readable, writable };
}

/** Evaluates in order until the first denial. */
async function decideAll(
  permissions: readonly CompiledPermission[],
  context: AccessContext,
): Promise<Decision> {
  let all = allow();
  for (const each of permissions) {
    const decision = await decide(each, context);
    if (decision.kind !== 'grant') return decision;
    all = {
      kind: 'grant',
      rows: bothRows(all.rows, decision.rows),
      readable: both(all.readable, decision.readable),
      writable: both(all.writable, decision.writable),
    };
  }
  return all;
}

/** Without a grant, the result is `hidden` only if every member is. */
function anyGrant(decisions: readonly (Grant | Denial)[]): Grant | Denial {
  const grants = decisions.filter((decision) => decision.kind === 'grant');
  if (grants.length === 0)
    return decisions.length > 0 &&
      decisions.every((decision) => decision.kind === 'denial' && decision.reason === 'hidden')
      ? hide()
      : deny();
  const unrestricted = grants.filter(({ rows }) => rows === 'all');
  if (unrestricted.length > 0) {
    // Each of them grants its fields on every row.
    return {
      kind: 'grant',
      rows: 'all',
      readable: unrestricted.map((each) => each.readable).reduce(either),
      writable: unrestricted.map((each) => each.writable).reduce(either),
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

function negateDecision(decision: Grant | Denial): Grant | Denial {
  if (decision.kind === 'denial') return allow();
  return decision.rows === 'all' ? deny() : allow({ rows: { kind: 'not', filter: decision.rows } });
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

/** How denials hide rows, for all permissions of a prefix. */
export interface RefusalRules {
  /** The default for denials that do not declare what they hide. */
  readonly refusalsHide: Hiding;
  /** Reports the error of a permission that was evaluated after a denial. */
  readonly failed: (error: unknown, context: AccessContext) => void;
}

interface EvaluationContext {
  readonly context: AccessContext;
  readonly rules: RefusalRules;
}

/** The row conditions of a permission expression. */
interface VisibleRows {
  readonly denies: boolean;
  /** Undefined if it denies and hides nothing: an `anyOf` ignores it. */
  readonly rows: 'all' | RowFilter | undefined;
}

const NO_ROWS: RowFilter = { kind: 'or', filters: [] };
const HIDES_ALL: VisibleRows = { denies: true, rows: NO_ROWS };

/**
 * The rows of a model that the caller may refer to: as a parent in a URL, or as a key in a body. Every row condition
 * hides rows, even beside a denial, and a denial hides what it declares (contract 8.6).
 */
export function visibleRows(
  permission: CompiledPermission,
  context: AccessContext,
  rules: RefusalRules,
): MaybePromise<'all' | RowFilter> {
  return mapMaybe(evaluateVisibleRows(permission, { context, rules }), ({ rows }) =>
    rows === undefined ? 'all' : rows,
  );
}

function evaluateVisibleRows(
  permission: CompiledPermission,
  evaluation: EvaluationContext,
): MaybePromise<VisibleRows> {
  const { context, rules } = evaluation;
  switch (permission.kind) {
    case 'anyone':
      return { denies: false, rows: 'all' };
    case 'one':
      return mapMaybe(decide(permission, context), (decision) => toVisibleRows(decision, rules));
    case 'all-of':
      return visibleToAllOf(permission.permissions, evaluation, []);
    case 'any-of':
      return visibleToAnyOf(permission.permissions, evaluation);
    case 'not':
      return mapMaybe(decide(permission.permission, context), (decision) =>
        toVisibleRows(negateDecision(decision), rules),
      );
    default:
      return permission satisfies never;
  }
}

function toVisibleRows(decision: Grant | Denial, { refusalsHide }: RefusalRules): VisibleRows {
  switch (decision.kind) {
    case 'grant':
      return (decision.rows as unknown) === undefined ? HIDES_ALL : { denies: false, rows: decision.rows };
    case 'denial':
      return decision.reason === 'hidden' || (decision.hides ?? refusalsHide) !== 'nothing'
        ? HIDES_ALL
        : { denies: true, rows: undefined };
    default:
      // An invalid value from untyped code of the application.
      return HIDES_ALL;
  }
}

/** Evaluates in order. After the first denial, only row conditions count. */
function visibleToAllOf(
  permissions: readonly CompiledPermission[],
  evaluation: EvaluationContext,
  evaluated: readonly VisibleRows[],
): MaybePromise<VisibleRows> {
  const next = permissions[evaluated.length];
  if (!next) return intersectVisible(evaluated);
  const visible = evaluated.some(({ denies }) => denies)
    ? visibleAfterDenial(next, evaluation)
    : evaluateVisibleRows(next, evaluation);
  return mapMaybe(visible, (each) => visibleToAllOf(permissions, evaluation, [...evaluated, each]));
}

function intersectVisible(evaluated: readonly VisibleRows[]): VisibleRows {
  let denies = false;
  let rows: 'all' | RowFilter = 'all';
  for (const each of evaluated) {
    denies ||= each.denies;
    if (each.rows !== undefined) rows = bothRows(rows, each.rows);
  }
  return { denies, rows: denies && rows === 'all' ? undefined : rows };
}

/** A permission after a denial may rely on what the denying one has checked: if it throws, no row is visible. */
async function visibleAfterDenial(
  permission: CompiledPermission,
  evaluation: EvaluationContext,
): Promise<VisibleRows> {
  try {
    return await evaluateVisibleRows(permission, evaluation);
  } catch (error) {
    evaluation.rules.failed(error, evaluation.context);
    return HIDES_ALL;
  }
}

/**
 * The rows hidden by all members that hide any: `anyOf(IsAdmin, OwnRows)` hides from other callers what they do not own.
 */
async function visibleToAnyOf(
  permissions: readonly CompiledPermission[],
  evaluation: EvaluationContext,
): Promise<VisibleRows> {
  const evaluated = await Promise.all(permissions.map(async (each) => evaluateVisibleRows(each, evaluation)));
  const denies = evaluated.every((each) => each.denies);
  const rows = evaluated.flatMap((each) => (each.rows === undefined ? [] : [each.rows]));
  if (rows.length === 0) return { denies, rows: undefined };
  return {
    denies,
    rows: rows.includes('all') ? 'all' : { kind: 'or', filters: rows.filter((each) => each !== 'all') },
  };
}
