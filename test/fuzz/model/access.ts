import type {
  ActorSpec,
  AnswerSpec,
  EntitySpec,
  NamedOperation,
  PermissionSpec,
  RowsSpec,
  TrashOperationName,
} from '../schema.js';
import { fitsRows } from './conditions.js';
import type { Placed, State } from './state.js';

/** `all`, or the names of the fields. */
export type Names = 'all' | ReadonlySet<string>;

export interface Access {
  readonly kind: 'grant';
  /** Undefined for all rows. */
  readonly rows: RowsSpec | undefined;
  readonly readable: Names;
  readonly writable: Names;
}

export interface Refused {
  readonly kind: 'refusal';
  readonly reason: 'forbidden' | 'hidden';
  readonly hides: boolean;
}

export type Actor = ActorSpec | null;

/** The caller, and the method that requires the permission. */
export interface Question {
  readonly entity: EntitySpec;
  readonly actor: Actor;
  readonly method: string;
  /** What is done with deleted objects; `method` is then GET, PATCH or DELETE (contract 23.4). Of aggregates it is GET (contract 26.11). */
  readonly operation?: NamedOperation | undefined;
}

const FULL: Access = { kind: 'grant', rows: undefined, readable: 'all', writable: 'all' };
const BARE: Refused = { kind: 'refusal', reason: 'forbidden', hides: false };
const SAFE = ['GET', 'HEAD', 'OPTIONS'];

export function decideAll(
  permissions: readonly PermissionSpec[] | undefined,
  question: Question,
): Access | Refused {
  return decide({ kind: 'all-of', of: permissions ?? [] }, question);
}

export function decide(permission: PermissionSpec, question: Question): Access | Refused {
  switch (permission.kind) {
    case 'built-in':
      return holdsBuiltIn(permission.name, question) ? FULL : BARE;
    case 'own':
      return ownAnswer(permission, question);
    case 'all-of':
      return allOf(permission.of.map((each) => decide(each, question)));
    case 'any-of':
      return anyOf(permission.of.map((each) => decide(each, question)));
    case 'not':
      return inverse(decide(permission.of, question));
    default:
      return permission satisfies never;
  }
}

function holdsBuiltIn(name: string, question: Question): boolean {
  const { actor } = question;
  const isSafe = SAFE.includes(question.method) && !isOfTrash(question.operation);
  switch (name) {
    case 'AllowAny':
      return true;
    case 'IsAuthenticated':
      return actor !== null;
    case 'IsAuthenticatedOrReadOnly':
      return actor !== null || isSafe;
    case 'IsAdmin':
      return actor?.isAdmin === true;
    case 'ModelPermissions':
      return actor !== null && holdsRight(question, actor);
    default:
      return actor === null ? isSafe : holdsRight(question, actor);
  }
}

function isOfTrash(operation: NamedOperation | undefined): operation is TrashOperationName {
  return operation !== undefined && operation !== 'aggregate';
}

const RIGHTS: Readonly<Record<string, string>> = {
  GET: 'view',
  HEAD: 'view',
  POST: 'add',
  PUT: 'change',
  PATCH: 'change',
  DELETE: 'delete',
};

const TRASH_RIGHTS: Readonly<Record<TrashOperationName, string>> = {
  listDeleted: 'view_deleted',
  restore: 'restore',
  purge: 'purge',
};

function holdsRight({ entity, method, operation }: Question, actor: ActorSpec): boolean {
  if (method === 'OPTIONS') return true;
  const right = isOfTrash(operation) ? TRASH_RIGHTS[operation] : RIGHTS[method];
  return right !== undefined && actor.permissions.includes(`${entity.app}.${right}_${entity.model}`);
}

function ownAnswer(
  { answers }: Extract<PermissionSpec, { kind: 'own' }>,
  { actor, method, operation }: Question,
): Access | Refused {
  const own = answers[actor?.name ?? 'anonymous'] ?? answers['*'];
  if (own === undefined) return BARE;
  if (isOfTrash(operation) && own.trash) return answerOf(own.trash);
  if (operation === 'aggregate' && own.aggregate) return answerOf(own.aggregate);
  if (method === 'DELETE' && own.remove) return answerOf(own.remove);
  return answerOf(SAFE.includes(method) ? own.read : own.write);
}

/** What two grants permit together. */
export function bothGrants(one: Access, other: Access): Access {
  return {
    kind: 'grant',
    rows: bothRows([one.rows, other.rows]),
    readable: bothNames(one.readable, other.readable),
    writable: bothNames(one.writable, other.writable),
  };
}

function answerOf(answer: AnswerSpec): Access | Refused {
  switch (answer.kind) {
    case 'allow':
      return {
        kind: 'grant',
        rows: answer.rows,
        readable: answer.readable ? new Set(answer.readable) : 'all',
        writable: answer.writable ? new Set(answer.writable) : 'all',
      };
    case 'deny':
      return { ...BARE, hides: answer.hides === 'rows' };
    case 'hide':
      return { kind: 'refusal', reason: 'hidden', hides: true };
    default:
      return answer satisfies never;
  }
}

function isGrant(answer: Access | Refused): answer is Access {
  return answer.kind === 'grant';
}

function isRefusal(answer: Access | Refused): answer is Refused {
  return answer.kind === 'refusal';
}

function allOf(answers: readonly (Access | Refused)[]): Access | Refused {
  const refusal = answers.find(isRefusal);
  if (refusal) return { ...refusal, hides: answers.some((each) => isRefusal(each) && each.hides) };
  const grants = answers.filter(isGrant);
  return {
    kind: 'grant',
    rows: bothRows(grants.map(({ rows }) => rows)),
    readable: grants.map((grant) => grant.readable).reduce(bothNames, 'all'),
    writable: grants.map((grant) => grant.writable).reduce(bothNames, 'all'),
  };
}

function anyOf(answers: readonly (Access | Refused)[]): Access | Refused {
  const grants = answers.filter(isGrant);
  if (grants.length === 0) return answers.find(isRefusal) ?? BARE;
  const unlimited = grants.filter(({ rows }) => rows === undefined);
  const deciding = unlimited.length > 0 ? unlimited : grants;
  const combine = unlimited.length > 0 ? eitherNames : bothNames;
  const [first = FULL, ...others] = deciding;
  return {
    kind: 'grant',
    rows: unlimited.length > 0 ? undefined : eitherRows(grants.map(({ rows }) => rows)),
    readable: others.map((grant) => grant.readable).reduce(combine, first.readable),
    writable: others.map((grant) => grant.writable).reduce(combine, first.writable),
  };
}

function inverse(answer: Access | Refused): Access | Refused {
  if (answer.kind === 'refusal') return FULL;
  return answer.rows ? { ...FULL, rows: { kind: 'not', filter: answer.rows } } : BARE;
}

function bothRows(rows: readonly (RowsSpec | undefined)[]): RowsSpec | undefined {
  const filters = rows.filter((each) => each !== undefined);
  return filters.length > 0 ? { kind: 'and', filters } : undefined;
}

function eitherRows(rows: readonly (RowsSpec | undefined)[]): RowsSpec | undefined {
  const filters = rows.filter((each) => each !== undefined);
  return filters.length < rows.length ? undefined : { kind: 'or', filters };
}

export function bothNames(one: Names, other: Names): Names {
  if (one === 'all') return other;
  return other === 'all' ? one : new Set([...one].filter((name) => other.has(name)));
}

function eitherNames(one: Names, other: Names): Names {
  return one === 'all' || other === 'all' ? 'all' : new Set([...one, ...other]);
}

/** The rows to which other rows may refer: undefined for all, `none` for none (contract 8). */
export type Visible = RowsSpec | undefined | 'none';

export function visibleRows(permissions: readonly PermissionSpec[] | undefined, question: Question): Visible {
  return visibleOf({ kind: 'all-of', of: permissions ?? [] }, question);
}

function visibleOf(permission: PermissionSpec, question: Question): Visible {
  switch (permission.kind) {
    case 'all-of': {
      const each = permission.of.map((member) => visibleOf(member, question));
      return each.includes('none') ? 'none' : bothRows(each.filter((rows) => rows !== 'none'));
    }
    case 'any-of':
      return visibleOfAny(permission.of, question);
    default: {
      const answer = decide(permission, question);
      if (answer.kind === 'grant') return answer.rows;
      return answer.hides ? 'none' : undefined;
    }
  }
}

function visibleOfAny(members: readonly PermissionSpec[], question: Question): Visible {
  const telling = members.filter((member) => !refusesBarely(member, question));
  if (telling.length === 0) return undefined;
  const each = telling.map((member) => visibleOf(member, question)).filter((rows) => rows !== 'none');
  return each.length === 0 ? 'none' : eitherRows(each);
}

function refusesBarely(permission: PermissionSpec, question: Question): boolean {
  return decide(permission, question).kind === 'refusal' && visibleOf(permission, question) === undefined;
}

export function mayName(state: State, placed: Placed, visible: Visible): boolean {
  return visible !== 'none' && (visible === undefined || fitsRows(state, placed, visible));
}
