import type { FieldErrors } from '../core/errors/rest-exception.js';
import {
  choiceOf,
  choicesOf,
  CREATE_CAUSES,
  DELETE_CAUSES,
  LIVE_CAUSES,
  ROW_DELETION_CAUSES,
  TABLE_CAUSES,
  UPDATE_CAUSES,
  VALUE_CAUSES,
} from './write-causes.js';
import type { WriteChoice } from './write-causes.js';

const DIRECT: WriteChoice = { lane: 'direct', reason: 'One statement writes the row and returns it.' };
const DELETED: WriteChoice = { lane: 'direct', reason: 'One statement deletes the row.' };
const BULK_DELETED: WriteChoice = {
  lane: 'bulk-deletion',
  reason: 'Nothing runs for each row that is deleted.',
};

const LIVE_CHOICES = choicesOf(LIVE_CAUSES);

/** What the statements of a direct write return if the values of the body, or the condition, need another lane. */
export const VALUE_CHOICES = choicesOf(VALUE_CAUSES);

/** A cause that a table, an entity or a view has, with the name of what is responsible. */
export interface FoundCause<Name extends string> {
  readonly kind: Name;
  readonly name: string;
}

/** What is known of a table and a view before rows are written. */
export interface WriteFacts {
  readonly tableName: string;
  readonly table: FoundCause<keyof typeof TABLE_CAUSES> | undefined;
  readonly create: FoundCause<keyof typeof CREATE_CAUSES> | undefined;
  readonly update: FoundCause<keyof typeof UPDATE_CAUSES> | undefined;
}

/** The static part of the choices for a view. */
export interface ViewWrites {
  readonly create: WriteChoice;
  readonly update: WriteChoice;
  /** In the place of `direct`, if the table has triggers. */
  readonly triggered: WriteChoice;
}

/** Evaluated once for a resource, at start, and for each view of it, at its first use. */
export function chooseViewWrites({ tableName, table, create, update }: WriteFacts): ViewWrites {
  const triggered = choiceOf(LIVE_CAUSES.trigger, tableName);
  if (table?.kind === 'join-table') {
    const pairs = choiceOf(TABLE_CAUSES['join-table'], table.name);
    return { create: pairs, update: pairs, triggered };
  }
  const shared = table && choiceOf(TABLE_CAUSES[table.kind], table.name);
  return {
    create: shared ?? (create ? choiceOf(CREATE_CAUSES[create.kind], create.name) : DIRECT),
    update: shared ?? (update ? choiceOf(UPDATE_CAUSES[update.kind], update.name) : DIRECT),
    triggered,
  };
}

/** The parts of a plan on which the lane depends. */
export interface LiveWrite {
  readonly kind: 'create' | 'update';
  readonly completed?: unknown;
  readonly hooks: LiveDeletion['hooks'];
  /** Set if the content of the row is compared with an entity tag; a version is part of the condition of the statement instead. */
  readonly expected?: unknown;
  readonly errorsOfStored?: unknown;
  readonly children?: unknown;
  readonly merges?: boolean | undefined;
  readonly errors: FieldErrors;
}

export interface LiveDeletion {
  readonly hooks: { readonly before?: unknown; readonly after?: unknown };
  readonly expected?: unknown;
}

/**
 * Evaluated for each row, also of a bulk write. `LIVE_CAUSES` has the lanes of the causes that are asked here. If the lane is `direct` or `locked`, `chooseByTriggers` is asked next, and the statement last, which returns one of
 * `VALUE_CHOICES` if it does not suit the values.
 * @param subscriber the name of a subscriber that sees the write.
 */
export function chooseWrite(
  writes: ViewWrites,
  plan: LiveWrite,
  subscriber: string | undefined,
): WriteChoice {
  const choice = writes[plan.kind];
  if (!isBySql(choice)) return choice;
  if (subscriber !== undefined) return choiceOf(LIVE_CAUSES.subscriber, subscriber);
  if (plan.completed) return LIVE_CHOICES.completed;
  if (plan.hooks.before || plan.hooks.after) return LIVE_CHOICES.hook;
  if (plan.children) return LIVE_CHOICES.children;
  if (plan.errorsOfStored) return LIVE_CHOICES.stored;
  if (plan.merges) return LIVE_CHOICES.merge;
  for (const _ in plan.errors) return LIVE_CHOICES.errors;
  return plan.expected ? LIVE_CHOICES.expectation : choice;
}

/** Whether statements of this package write one row. */
export function isBySql({ lane }: WriteChoice): boolean {
  return lane === 'direct' || lane === 'locked' || lane === 'loaded';
}

/** Whether a lane was found in the place of what the fastest one writes. */
export function isChoice(given: object): given is WriteChoice {
  return 'lane' in given;
}

/** @param isPlain whether the table has no triggers; asked at the first write that could be direct. */
export function chooseByTriggers(
  writes: Pick<ViewWrites, 'triggered'>,
  choice: WriteChoice,
  isPlain: boolean,
): WriteChoice {
  return isPlain ? choice : writes.triggered;
}

/** What is known of an entity, its table and a view before rows are deleted. */
export interface DeletionFacts {
  readonly tableName: string;
  readonly entity: FoundCause<keyof typeof DELETE_CAUSES> | undefined;
  readonly row: FoundCause<keyof typeof ROW_DELETION_CAUSES> | undefined;
}

/** The static part of the choices for deletions. */
export interface ViewDeletions {
  readonly one: WriteChoice;
  readonly many: WriteChoice;
  /** In the place of `one`, if the table has triggers. */
  readonly triggered: WriteChoice;
  /** In the place of `many`, if the order of deletions matters. */
  readonly restricting: WriteChoice;
}

/** Evaluated once for a view, at its first deletion, or at start if the model serves it. */
export function chooseViewDeletions({ tableName, entity, row }: DeletionFacts): ViewDeletions {
  const shared = entity && choiceOf(DELETE_CAUSES[entity.kind], entity.name);
  return {
    one: shared ?? (row ? choiceOf(ROW_DELETION_CAUSES[row.kind], row.name) : DELETED),
    many: shared ?? BULK_DELETED,
    triggered: choiceOf(LIVE_CAUSES.trigger, tableName),
    restricting: choiceOf(LIVE_CAUSES.restricting, tableName),
  };
}

/**
 * Evaluated for the deletion of one row. If the lane is `direct` or `locked`, `chooseByTriggers` is asked next, and for a `direct` one
 * the condition last: one over other rows is `locked`.
 */
export function chooseDeletion(
  { one }: ViewDeletions,
  { hooks, expected }: LiveDeletion,
  subscriber: string | undefined,
): WriteChoice {
  if (one.lane === 'entities') return one;
  if (hooks.before || hooks.after) return LIVE_CHOICES['hooked-deletion'];
  if (subscriber !== undefined) return choiceOf(LIVE_CAUSES['row-subscriber'], subscriber);
  return expected ? LIVE_CHOICES['expected-deletion'] : one;
}

/**
 * Evaluated for each bulk deletion.
 * @param plans undefined if they are not a list of keys.
 */
export function chooseDeletions(
  choice: WriteChoice,
  plans: readonly LiveDeletion[] | undefined,
  subscriber: string | undefined,
): WriteChoice {
  if (!plans) return LIVE_CHOICES['one-key'];
  if (choice.lane !== 'bulk-deletion') return choice;
  if (plans.some(({ hooks }) => hooks.before || hooks.after)) return LIVE_CHOICES['hooked-deletion'];
  if (plans.some(({ expected }) => expected)) return LIVE_CHOICES['expected-deletion'];
  return subscriber === undefined ? choice : choiceOf(LIVE_CAUSES['delete-subscriber'], subscriber);
}
