import type { AccessContext, Grant, Hiding, Denial } from '../../core/contracts/permission.js';
import type { CompiledPermission } from '../../core/contracts/compiled-permission.js';
import type { RowFilter } from '../../core/query/row-filter.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { bothRows, decide, negateDecision } from './evaluate-permission.js';

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
  said: readonly VisibleRows[],
): MaybePromise<VisibleRows> {
  const next = permissions[said.length];
  if (!next) return intersectVisible(said);
  const statement = said.some(({ refuses }) => refuses) ? statedBehind(next, asking) : stated(next, asking);
  return mapMaybe(statement, (one) => statedByAll(permissions, asking, [...said, one]));
}

function intersectVisible(said: readonly VisibleRows[]): VisibleRows {
  const refuses = said.some((one) => one.refuses);
  const rows = said
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
  const said = await Promise.all(permissions.map(async (each) => stated(each, asking)));
  const refuses = said.every((one) => one.refuses);
  const rows = said.flatMap((one) => (one.rows === undefined ? [] : [one.rows]));
  if (rows.length === 0) return { refuses, rows: undefined };
  return {
    refuses,
    rows: rows.includes('all') ? 'all' : { kind: 'or', filters: rows.filter((each) => each !== 'all') },
  };
}
