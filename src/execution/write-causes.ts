/**
 * How rows are written:
 * - `direct`: one statement writes a row and returns it, or deletes it; of a bulk POST, and of new objects in the body of a new one, one
 *   inserts up to 100 rows; of an upsert and a bulk PATCH, one changes up to 100 locked rows;
 * - `locked`: statements in a transaction lock a row, check and write it;
 * - `loaded`: statements in a transaction lock a row and load its entity, if it is not new, and write what the entity has then;
 * - `bulk-deletion`: one statement deletes up to 500 rows;
 * - `pairs`: statements in a transaction write the rows of a join table without an entity;
 * - `entities`: the ORM writes an entity in a transaction.
 *
 * Objects in the body of another one have a choice of their own.
 */
export type WriteLane = 'direct' | 'locked' | 'loaded' | 'bulk-deletion' | 'pairs' | 'entities';

export interface WriteChoice {
  readonly lane: WriteLane;
  /** A sentence that names what is responsible. */
  readonly reason: string;
}

type Affected =
  | 'creates'
  | 'changes'
  | 'creates and changes'
  | 'deletions'
  | 'bulk deletions'
  | 'all deletions'
  | 'all but bulk deletions'
  | 'all';

/** Why another lane than the fastest one is chosen. */
interface Cause {
  /** `entities` unless set. */
  readonly lane?: WriteLane;
  /** The writes that it affects, unless they are those of its list; and what it is: for the table of docs/reference/performance.md. */
  readonly of?: Affected;
  readonly what: string;
  /** The sentence, with `%` in the place of a name. */
  readonly because: string;
}

type Causes = Readonly<Record<string, Cause>>;

/** Facts of the table and of the view that is returned. The first one that applies decides. */
export const TABLE_CAUSES = {
  'join-table': {
    lane: 'pairs',
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
    what: 'a field in the response that is no column of the row: computed, a one-to-one without `@JoinColumn`, related keys of a many-to-many, another related key than the foreign key',
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

export const CREATE_CAUSES = {
  initializers: {
    lane: 'loaded',
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

export const UPDATE_CAUSES = {
  'update-returning': {
    lane: 'locked',
    what: 'MariaDB',
    because: 'No statement returns the row that it has changed on %.',
  },
  'update-listener': {
    what: '`@BeforeUpdate`, `@AfterUpdate`',
    because: 'The listener % runs at each UPDATE.',
  },
  'update-date': {
    what: 'an `@UpdateDateColumn` that is no date-time',
    because: 'The column % of the last update is no date-time.',
  },
} as const satisfies Causes;

export const DELETE_CAUSES = {
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

/** The same for the deletion of one row, asked after those. */
export const ROW_DELETION_CAUSES = {
  'no-returning': {
    what: 'MySQL, MariaDB before 10.5',
    because: 'No statement returns the row that it has deleted on %.',
  },
  'soft-deletion': {
    lane: 'locked',
    what: 'on MariaDB, an entity with `@DeleteDateColumn`',
    because: 'No statement returns the row that it has changed on %.',
  },
  'other-key': {
    lane: 'locked',
    what: 'on MariaDB, URLs with another key than the primary key',
    because: 'The URLs of % have another key than the primary key.',
  },
} as const satisfies Causes;

const HOOKS = {
  what: '`beforeWrite` or `afterWrite` of a [controller class](overriding.md), or of `hooks` of `forRoot`',
  because: 'A hook runs inside of the transaction.',
};

const EXPECTATION = {
  lane: 'locked',
  what: 'an `If-Match` with an [`ETag`](conditional-requests.md#how-the-etag-is-computed) that is computed from the content',
  because: 'The expected content is compared with the locked row.',
} as const;

/** What is known once the application runs, and asked for each write. This list is closed, with `VALUE_CHOICES`. */
export const LIVE_CAUSES = {
  completed: {
    lane: 'loaded',
    what: 'a `serializer` of your own, a readable computed field, `expand` in the query, an `Idempotency-Key`',
    because: 'The response is made inside of the transaction.',
  },
  hook: { ...HOOKS, lane: 'loaded' },
  expectation: { ...EXPECTATION, of: 'changes' },
  stored: {
    lane: 'loaded',
    of: 'changes',
    what: "in a model with [`strict: 'writes'`](declaring.md#strict), a body with a field that the caller may not write",
    because: 'Values of the body are compared with the locked row.',
  },
  merge: {
    lane: 'loaded',
    of: 'changes',
    what: 'an [`application/merge-patch+json`](declaring.md#mergepatch) body',
    because: 'Its JSON is merged into that of the locked row.',
  },
  'hooked-deletion': { ...HOOKS, of: 'all deletions' },
  children: {
    lane: 'loaded',
    what: '[objects in the body](nested-writes.md) that are written with it, unless all of them are new and nothing but statements sees them',
    because: 'Its children are written in the same transaction.',
  },
  'expected-deletion': { ...EXPECTATION, of: 'all deletions' },
  subscriber: {
    what: 'a subscriber that listens to the entity, or has methods for statements or transactions, while it is added',
    because: 'The subscriber % sees the writes of the entity.',
  },
  'row-subscriber': {
    of: 'deletions',
    what: 'a subscriber to loads or deletions of the entity, or with methods for statements or transactions, while it is added',
    because: 'The subscriber % sees the deletion.',
  },
  'delete-subscriber': {
    of: 'bulk deletions',
    what: 'a subscriber to loads or deletions of the entity, while it is added',
    because: 'The subscriber % sees each row that is deleted.',
  },
  errors: {
    lane: 'loaded',
    what: 'a body with invalid values: nothing is written',
    because: 'The body is invalid.',
  },
  trigger: {
    of: 'all but bulk deletions',
    what: 'a table with triggers or rules',
    because: 'The table % has triggers or rules, or each session is set up before its writes.',
  },
  restricting: {
    lane: 'locked',
    of: 'bulk deletions',
    what: 'a table of which one deletion may restrict another one; with triggers or rules, in the lane `entities`',
    because: 'In the table %, triggers, rules or foreign keys make the order of deletions matter.',
  },
  'one-key': {
    lane: 'locked',
    of: 'bulk deletions',
    what: 'a list of one key',
    because: 'The request deletes no list of keys.',
  },
} as const satisfies Causes;

/** What depends on the values of a body, or of the condition that selects the row. */
export const VALUE_CAUSES = {
  'hidden-key': {
    lane: 'loaded',
    what: 'a body with a part of a key of several columns and tables',
    because: 'The stored row completes a key of the body.',
  },
  values: {
    lane: 'loaded',
    what: 'a value that TypeORM writes in another form, such as one of an enum of numbers or of `jsonb` on SQLite; a body that writes a column twice',
    because: 'Only the entity determines what is written into a column.',
  },
  nothing: { lane: 'loaded', of: 'changes', what: 'a change of no column', because: 'No column changes.' },
  'shared-column': {
    of: 'changes',
    what: 'a relation that shares a column with another one',
    because: 'The stored row decides which relations change.',
  },
  grants: {
    lane: 'loaded',
    what: 'row permissions over other rows, or over values that the database makes or the body changes',
    because: 'Whether the caller may have the row is known once it is stored.',
  },
  'checked-key': {
    lane: 'loaded',
    of: 'creates',
    what: 'on MariaDB, a body with a related key that is no number, text, date or UUID, or whose text is stored otherwise; any related key beside class-validator rules',
    because: 'Only the database knows the related key as it is stored.',
  },
  'unseen-trigger': {
    lane: 'loaded',
    of: 'creates',
    what: 'on MariaDB, row permissions',
    because: 'A trigger that the user of the database does not see may change what the permission reads.',
  },
  'validated-change': {
    lane: 'loaded',
    of: 'changes',
    what: 'class-validator rules on MariaDB, or beside such an `If-Match`',
    because: 'The validators see the locked row.',
  },
  'counted-change': {
    lane: 'loaded',
    of: 'changes',
    what: 'on MariaDB, an entity with `@UpdateDateColumn` or `@VersionColumn`, a `json` column, another key of the object, and a related key whose permission reads other rows',
    because: 'Only the stored row tells what changes.',
  },
  'other-rows': {
    lane: 'locked',
    of: 'deletions',
    what: 'row permissions over other rows, nested URLs',
    because: 'Other rows are read once the row is locked.',
  },
  'kept-row': {
    lane: 'locked',
    of: 'deletions',
    what: 'a statement that has deleted no row although it exists, because the database rejects the deletion. It is repeated, to say why',
    because: 'The statement has deleted no row.',
  },
  comparison: {
    of: 'changes',
    what: 'a time, an interval, an array, a `real`, a `char(n)`, a text with a collation, or a `bigint` property of type `number`, of an entity with `@UpdateDateColumn` or `@VersionColumn`; on SQLite, a `json` or `jsonb` column',
    because: 'The database cannot compare a value as TypeORM does.',
  },
  'no-row': {
    lane: 'loaded',
    what: 'a statement that has written no row: the object or a related one does not exist, or the database rejects a value. The write is repeated, to say why',
    because: 'The statement has written no row.',
  },
} as const satisfies Causes;

export function choiceOf({ lane = 'entities', because }: Cause, name = ''): WriteChoice {
  return { lane, reason: because.replace('%', () => name) };
}

export function choicesOf<Name extends string>(
  causes: Readonly<Record<Name, Cause>>,
): Readonly<Record<Name, WriteChoice>> {
  const choices = Object.entries<Cause>(causes).map(([name, cause]) => [name, choiceOf(cause)]);
  return Object.fromEntries(choices) as Record<Name, WriteChoice>;
}

/** A row of the table of docs/reference/performance.md. */
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
  ...documented(DELETE_CAUSES, 'all deletions'),
  ...documented(ROW_DELETION_CAUSES, 'deletions'),
  ...documented(LIVE_CAUSES, 'creates and changes'),
  ...documented(VALUE_CAUSES, 'creates and changes'),
];

function documented(causes: Causes, most: Affected): readonly DocumentedCause[] {
  return Object.values(causes).map((cause) => ({
    of: cause.of ?? most,
    what: cause.what,
    lane: cause.lane ?? 'entities',
  }));
}
