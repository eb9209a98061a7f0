import type { FieldErrors } from '../core/errors/rest-exception.js';

/**
 * How rows are written: one statement that returns its row, a few statements that delete many rows, statements for the pairs of a join
 * table without an entity, or entities of the ORM in a transaction.
 */
export type WriteLane = 'direct' | 'together' | 'pairs' | 'entities';

export interface WriteChoice {
  readonly lane: WriteLane;
  /** A sentence that names what is responsible. */
  readonly reason: string;
}

type Affected = 'creates' | 'changes' | 'creates and changes' | 'deletions' | 'bulk deletions' | 'all';

/** Why the lane `entities` is chosen (of the first one: `pairs`). */
interface Cause {
  /** The writes that it affects, unless they are those of its list; and what it is: for the table of docs/performance.md. */
  readonly of?: Affected;
  readonly what: string;
  /** The sentence, with `%` in the place of a name. */
  readonly because: string;
}

type Causes = Readonly<Record<string, Cause>>;

/** Facts of the table and of the view that is returned. The first one that applies decides. */
const TABLE_CAUSES = {
  'join-table': {
    of: 'all',
    what: 'a join table without an entity',
    because: 'The join table % has no entity.',
  },
  database: {
    what: 'MySQL, MariaDB before 10.5',
    because: 'No statement returns the row that it has written on %.',
  },
  'shared-table': {
    what: 'inheritance of tables, trees, views',
    because: 'The table % is a view, a tree, or shared by several entities.',
  },
  'column-code': {
    what: 'a `transformer`, `asExpression` or `@VirtualColumn`',
    because: 'The column % has a transformer or an expression.',
  },
  embedded: {
    what: 'embedded objects',
    because: 'The columns of the embedded object % are written together.',
  },
  'table-name': {
    what: 'a table whose name is `t` and a number',
    because: 'The name of the table % is that of an alias.',
  },
  key: {
    what: 'URLs with another key than the primary key',
    because: 'The URLs of % have another key than the primary key.',
  },
  'other-rows': {
    what: 'a field in the response that is no column of the row: computed, a one-to-one without `@JoinColumn`, another related key than the foreign key',
    because: 'The value of the field % in the response is no column of the row.',
  },
  accessors: {
    what: 'accessors in the entity class, or a constructor that throws without arguments',
    because: 'The class % may change each value that is assigned.',
  },
  'after-load': {
    what: 'an `@AfterLoad` method',
    because: 'The listener % runs after the entity is loaded.',
  },
} as const satisfies Causes;

const CREATE_CAUSES = {
  initializers: {
    what: 'property initializers in the entity class',
    because: 'The class % sets initial values.',
  },
  'insert-listener': {
    what: '`@BeforeInsert`, `@AfterInsert`',
    because: 'The listener % runs at each INSERT.',
  },
  generated: {
    what: 'a generated column that is neither the key nor a UUID',
    because: 'The database generates the column %.',
  },
  default: { what: 'on SQLite, a default without SQL', because: 'The default of the column % has no SQL.' },
} as const satisfies Causes;

const UPDATE_CAUSES = {
  'update-returning': { what: 'MariaDB', because: 'No statement returns the row that it has changed on %.' },
  'update-listener': {
    what: '`@BeforeUpdate`, `@AfterUpdate`',
    because: 'The listener % runs at each UPDATE.',
  },
  'update-date': {
    what: 'an `@UpdateDateColumn` that is no date-time',
    because: 'The column % of the last update is no date-time.',
  },
} as const satisfies Causes;

const DELETE_CAUSES = {
  delete: {
    of: 'deletions',
    what: '`DELETE` of one object',
    because: 'Each deletion of one row loads its entity.',
  },
  'shared-rows': {
    what: 'inheritance of tables, trees, views',
    because: 'The table % is a view, a tree, or shared by several entities.',
  },
  'remove-listener': {
    what: '`@AfterLoad`, `@BeforeRemove`, `@AfterRemove`, `@BeforeSoftRemove`, `@AfterSoftRemove`',
    because: 'The listener % runs for each row that is deleted.',
  },
  'key-transformer': { what: 'a `transformer` on the primary key', because: 'The key % has a transformer.' },
  'undeclared-pairs': {
    what: 'a join table without an entity, from which no foreign key deletes pairs',
    because: 'Pairs of % in a join table are deleted for each row.',
  },
} as const satisfies Causes;

/** What is known once the application runs, and asked for each write. This list is closed, with `VALUE_CHOICES`. */
const LIVE_CAUSES = {
  completed: {
    what: 'a `serializer` of your own, a readable computed field, `expand` in the query, an `Idempotency-Key`',
    because: 'The response is made inside of the transaction.',
  },
  hook: {
    of: 'all',
    what: '`beforeWrite` or `afterWrite` of a [controller class](overriding.md), or of `hooks` of `forRoot`',
    because: 'A hook runs inside of the transaction.',
  },
  expectation: {
    of: 'all',
    what: 'an `If-Match` with an [`ETag`](conditional-requests.md#how-the-etag-is-computed) that is computed from the content',
    because: 'The expected content is compared with the locked row.',
  },
  subscriber: {
    what: 'a subscriber that listens to the entity, or has methods for statements or transactions, while it is added',
    because: 'The subscriber % sees the writes of the entity.',
  },
  'delete-subscriber': {
    of: 'bulk deletions',
    what: 'a subscriber to loads or deletions of the entity, while it is added',
    because: 'The subscriber % sees each row that is deleted.',
  },
  errors: { what: 'a body with invalid values: nothing is written', because: 'The body is invalid.' },
  trigger: {
    what: 'a table with triggers or rules',
    because: 'The table % has triggers or rules, or each session is set up before its writes.',
  },
  'delete-trigger': {
    of: 'bulk deletions',
    what: 'a table with triggers or rules, or of which one deletion may restrict another one',
    because: 'In the table %, triggers, rules or foreign keys make the order of deletions matter.',
  },
  'one-key': {
    of: 'bulk deletions',
    what: 'a list of one key',
    because: 'The request deletes no list of keys.',
  },
} as const satisfies Causes;

/** What depends on the values of a body. */
const VALUE_CAUSES = {
  'hidden-key': {
    what: 'a body with a part of a key of several columns and tables',
    because: 'The stored row completes a key of the body.',
  },
  values: {
    what: 'a value that TypeORM writes in another form, such as one of an enum of numbers or of `jsonb` on SQLite; a body that writes a column twice',
    because: 'Only the entity determines what is written into a column.',
  },
  nothing: { of: 'changes', what: 'a change of no column', because: 'No column changes.' },
  'shared-column': {
    of: 'changes',
    what: 'a relation that shares a column with another one',
    because: 'The stored row decides which relations change.',
  },
  grants: {
    what: 'row permissions over other rows, or over values that the database makes or the body changes',
    because: 'Whether the caller may have the row is known once it is stored.',
  },
  'checked-key': {
    of: 'creates',
    what: 'on MariaDB, a body with a related key',
    because: 'The key is looked up before the row is inserted.',
  },
  'unseen-trigger': {
    of: 'creates',
    what: 'on MariaDB, row permissions',
    because: 'A trigger that the user of the database does not see may change what the permission reads.',
  },
  comparison: {
    of: 'changes',
    what: 'a time, an interval, an array, a `real`, a `char(n)`, a text with a collation, or a `bigint` property of type `number`, of an entity with `@UpdateDateColumn` or `@VersionColumn`; on SQLite, a `json` or `jsonb` column',
    because: 'The database cannot compare a value as TypeORM does.',
  },
  'no-row': {
    what: 'a statement that has written no row: the object or a related one does not exist, or the database rejects a value. The write is repeated, to say why',
    because: 'The statement has written no row.',
  },
} as const satisfies Causes;

/** A row of the table of docs/performance.md. */
interface DocumentedCause {
  readonly of: Affected;
  readonly what: string;
  readonly lane: WriteLane;
}

/** All causes, in the order in which they are asked. */
export const WRITE_CAUSES: readonly DocumentedCause[] = [
  ...documented(TABLE_CAUSES, 'creates and changes'),
  ...documented(CREATE_CAUSES, 'creates'),
  ...documented(UPDATE_CAUSES, 'changes'),
  ...documented(DELETE_CAUSES, 'bulk deletions'),
  ...documented(LIVE_CAUSES, 'creates and changes'),
  ...documented(VALUE_CAUSES, 'creates and changes'),
];

function documented(causes: Causes, most: Affected): readonly DocumentedCause[] {
  return Object.values(causes).map((cause) => ({
    of: cause.of ?? most,
    what: cause.what,
    lane: cause === TABLE_CAUSES['join-table'] ? 'pairs' : 'entities',
  }));
}

const DIRECT: WriteChoice = { lane: 'direct', reason: 'One statement writes the row and returns it.' };
const TOGETHER: WriteChoice = { lane: 'together', reason: 'Nothing runs for each row that is deleted.' };

function choiceOf({ because }: Cause, name = '', lane: WriteLane = 'entities'): WriteChoice {
  return { lane, reason: because.replace('%', () => name) };
}

function choicesOf<Name extends string>(
  causes: Readonly<Record<Name, Cause>>,
): Readonly<Record<Name, WriteChoice>> {
  const choices = Object.entries<Cause>(causes).map(([name, cause]) => [name, choiceOf(cause)]);
  return Object.fromEntries(choices) as Record<Name, WriteChoice>;
}

const LIVE_CHOICES = choicesOf(LIVE_CAUSES);

/** What the statements of a direct write return if the values of the body need the ORM. */
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
  readonly delete: WriteChoice;
  /** In the place of `direct`, if the table has triggers. */
  readonly triggered: WriteChoice;
}

/** Evaluated once for a resource, at start, and for each view of it, at its first use. */
export function chooseViewWrites({ tableName, table, create, update }: WriteFacts): ViewWrites {
  const triggered = choiceOf(LIVE_CAUSES.trigger, tableName);
  if (table?.kind === 'join-table') {
    const pairs = choiceOf(TABLE_CAUSES['join-table'], table.name, 'pairs');
    return { create: pairs, update: pairs, delete: pairs, triggered };
  }
  const shared = table && choiceOf(TABLE_CAUSES[table.kind], table.name);
  return {
    create: shared ?? (create ? choiceOf(CREATE_CAUSES[create.kind], create.name) : DIRECT),
    update: shared ?? (update ? choiceOf(UPDATE_CAUSES[update.kind], update.name) : DIRECT),
    delete: choiceOf(DELETE_CAUSES.delete),
    triggered,
  };
}

/** The parts of a plan on which the lane depends. */
export interface LiveWrite {
  readonly kind: 'create' | 'update' | 'delete';
  readonly completed?: unknown;
  readonly hooks: LiveDeletion['hooks'];
  readonly expected?: unknown;
  readonly errors: FieldErrors;
}

export interface LiveDeletion {
  readonly hooks: { readonly before?: unknown; readonly after?: unknown };
  readonly expected?: unknown;
}

/**
 * Evaluated for each row. If the lane is `direct`, `chooseByTriggers` is asked next, and the statement last, which returns one of
 * `VALUE_CHOICES` if it does not suit the values.
 * @param subscriber the name of a subscriber that sees the write.
 */
export function chooseWrite(
  writes: ViewWrites,
  plan: LiveWrite,
  subscriber: string | undefined,
): WriteChoice {
  const choice = writes[plan.kind];
  if (choice.lane !== 'direct') return choice;
  if (plan.completed) return LIVE_CHOICES.completed;
  if (plan.hooks.before || plan.hooks.after) return LIVE_CHOICES.hook;
  if (plan.expected) return LIVE_CHOICES.expectation;
  if (subscriber !== undefined) return choiceOf(LIVE_CAUSES.subscriber, subscriber);
  for (const _ in plan.errors) return LIVE_CHOICES.errors;
  return choice;
}

/** @param isPlain whether the table has no triggers; asked at the first write that could be direct. */
export function chooseByTriggers(
  writes: Pick<ViewWrites, 'triggered'>,
  choice: WriteChoice,
  isPlain: boolean,
): WriteChoice {
  return isPlain ? choice : writes.triggered;
}

/** What is known of an entity and its table before many rows are deleted. */
export interface DeletionFacts {
  readonly tableName: string;
  readonly entity: FoundCause<Exclude<keyof typeof DELETE_CAUSES, 'delete'>> | undefined;
}

/** Evaluated once for an entity, at its first bulk deletion, or at start if the model serves it. */
export function chooseViewDeletions({
  tableName,
  entity,
}: DeletionFacts): Pick<ViewWrites, 'delete' | 'triggered'> {
  return {
    delete: entity ? choiceOf(DELETE_CAUSES[entity.kind], entity.name) : TOGETHER,
    triggered: choiceOf(LIVE_CAUSES['delete-trigger'], tableName),
  };
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
  if (choice.lane !== 'together') return choice;
  if (plans.some(({ hooks }) => hooks.before || hooks.after)) return LIVE_CHOICES.hook;
  if (plans.some(({ expected }) => expected)) return LIVE_CHOICES.expectation;
  return subscriber === undefined ? choice : choiceOf(LIVE_CAUSES['delete-subscriber'], subscriber);
}
