import type { AccessContext, Grant, Hiding, Denial } from '../../core/contracts/permission.js';
import type { CompiledPermission } from '../../core/contracts/compiled-permission.js';
import type { RowFilter } from '../../core/query/row-filter.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { bothRows, decide, opposite } from './evaluate-permission.js';

/** What holds for all permissions of a prefix. */
export interface RefusalRules {
  /** What a refusal hides that does not say. */
  readonly refusalsHide: Hiding;
  /** Told of what a permission threw behind a refusal. */
  readonly failed: (error: unknown, question: AccessContext) => void;
}

interface Asking {
  readonly question: AccessContext;
  readonly rules: RefusalRules;
}

/** What an expression says of the rows of a model. */
interface Statement {
  readonly refuses: boolean;
  /** Undefined where it refuses and hides nothing: an `anyOf` leaves it out. */
  readonly rows: 'all' | RowFilter | undefined;
}

const NO_ROWS: RowFilter = { kind: 'or', filters: [] };
const HIDES_ALL: Statement = { refuses: true, rows: NO_ROWS };

/**
 * Which rows of a model an expression leaves to be seen from elsewhere: as a parent in a URL, or as a key in a body.
 * Every row condition that is stated hides, also beside a refusal, and a refusal hides what it says (contract 8.6).
 */
export function visibleRows(
  permission: CompiledPermission,
  question: AccessContext,
  rules: RefusalRules,
): MaybePromise<'all' | RowFilter> {
  return mapMaybe(stated(permission, { question, rules }), ({ rows }) => (rows === undefined ? 'all' : rows));
}

function stated(permission: CompiledPermission, asking: Asking): MaybePromise<Statement> {
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
        statementOf(opposite(answer), rules),
      );
    default:
      return permission satisfies never;
  }
}

function statementOf(answer: Grant | Denial, { refusalsHide }: RefusalRules): Statement {
  switch (answer.kind) {
    case 'grant':
      return (answer.rows as unknown) === undefined ? HIDES_ALL : { refuses: false, rows: answer.rows };
    case 'refusal':
      return answer.reason === 'hidden' || (answer.hides ?? refusalsHide) !== 'nothing'
        ? HIDES_ALL
        : { refuses: true, rows: undefined };
    default:
      // Of an author whom no type holds back.
      return HIDES_ALL;
  }
}

/** In order. Those behind the first refusal are asked for their rows alone. */
function statedByAll(
  permissions: readonly CompiledPermission[],
  asking: Asking,
  said: readonly Statement[],
): MaybePromise<Statement> {
  const next = permissions[said.length];
  if (!next) return together(said);
  const statement = said.some(({ refuses }) => refuses) ? statedBehind(next, asking) : stated(next, asking);
  return mapMaybe(statement, (one) => statedByAll(permissions, asking, [...said, one]));
}

function together(said: readonly Statement[]): Statement {
  const refuses = said.some((one) => one.refuses);
  const rows = said
    .flatMap((one) => (one.rows === undefined ? [] : [one.rows]))
    .reduce<'all' | RowFilter>(bothRows, 'all');
  return { refuses, rows: refuses && rows === 'all' ? undefined : rows };
}

/** It may rely on what the refusal has found missing: whatever it throws, no row is named. */
async function statedBehind(permission: CompiledPermission, asking: Asking): Promise<Statement> {
  try {
    return await stated(permission, asking);
  } catch (error) {
    asking.rules.failed(error, asking.question);
    return HIDES_ALL;
  }
}

/** Hidden is what all of them hide that hide anything: `anyOf(IsAdmin, OwnRows)` hides from everybody else what is not theirs. */
async function statedByAny(permissions: readonly CompiledPermission[], asking: Asking): Promise<Statement> {
  const said = await Promise.all(permissions.map(async (each) => stated(each, asking)));
  const refuses = said.every((one) => one.refuses);
  const rows = said.flatMap((one) => (one.rows === undefined ? [] : [one.rows]));
  if (rows.length === 0) return { refuses, rows: undefined };
  return {
    refuses,
    rows: rows.includes('all') ? 'all' : { kind: 'or', filters: rows.filter((each) => each !== 'all') },
  };
}
