import type { DataSource, EntityMetadata } from 'typeorm';
import type { CreatePlan, DeletePlan, UpdatePlan } from '../../../core/query/plan.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import {
  chooseByTriggers,
  chooseDeletion,
  chooseDeletions,
  chooseViewDeletions,
  chooseViewWrites,
  chooseWrite,
  isBySql,
} from '../../../execution/choose-write.js';
import type {
  DeletionFacts,
  LiveDeletion,
  LiveWrite,
  ViewDeletions,
  ViewWrites,
} from '../../../execution/choose-write.js';
import type { WriteChoice } from '../../../execution/write-causes.js';
import { classNameOf } from '../../../execution/lane-table.js';
import { listensTo, nameOfListener } from '../metadata/listeners.js';
import { writerFacts } from './direct-writer-rules.js';
import type { DirectWriterRules } from './direct-writer-rules.js';
import { UndeclaredPairs } from './entity-remover.js';
import type { WriteChooser, WriterTools } from './row-writer.js';

/** How the rows of a view are written: gives its facts to the chooser, and keeps the static part of the choices. */
export class WriteChoices implements WriteChooser {
  /** Undefined if no row is written directly. */
  readonly rules: DirectWriterRules | undefined;
  readonly writes: ViewWrites;
  private readonly metadata: EntityMetadata;
  private readonly dataSource: DataSource;
  private deletions: ViewDeletions | undefined;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: TableTools,
  ) {
    const { metadata, dataSource } = tools.tables.of(resource);
    this.metadata = metadata;
    this.dataSource = dataSource;
    const facts = writerFacts(resource, metadata, { dataSource, dialect: tools.dialect });
    this.rules = facts.rules;
    this.writes = chooseViewWrites(facts);
  }

  /** Asks the database for triggers at the first write of the table that could be one by SQL. */
  choose(plan: CreatePlan | UpdatePlan): MaybePromise<WriteChoice> {
    const choice = chooseWrite(this.writes, plan, writeSubscriber(this.metadata, this.dataSource));
    return isBySql(choice) ? this.unlessTriggered(this.writes, choice) : choice;
  }

  /** The same for the deletion of one row. */
  chooseDeletion(plan: LiveDeletion): MaybePromise<WriteChoice> {
    const choice = this.explainDeletion(plan);
    return choice.lane === 'entities' ? choice : this.unlessTriggered(this.ofDeletions(), choice);
  }

  private unlessTriggered(
    writes: Pick<ViewWrites, 'triggered'>,
    choice: WriteChoice,
  ): MaybePromise<WriteChoice> {
    const isPlain = isPlainTable(this.metadata, this.tools);
    return typeof isPlain === 'boolean'
      ? chooseByTriggers(writes, choice, isPlain)
      : mapMaybe(isPlain, (found) => chooseByTriggers(writes, choice, found));
  }

  /** Asks the database for what makes the order of deletions matter, once. */
  async chooseDeletions(plans: readonly DeletePlan[] | undefined): Promise<WriteChoice> {
    const choice = this.explainDeletions(plans);
    if (choice.lane !== 'bulk-deletion') return choice;
    return (await deletesAlike(this.metadata, this.tools)) ? choice : this.ofDeletions().restricting;
  }

  /** As `choose`, with what is known of triggers already. */
  explain(plan: LiveWrite): WriteChoice {
    const choice = chooseWrite(this.writes, plan, writeSubscriber(this.metadata, this.dataSource));
    const isKnown = isBySql(choice) && PLAIN_TABLES.get(this.metadata) === false;
    return isKnown ? this.writes.triggered : choice;
  }

  /** As `chooseDeletion`, with what is known of triggers already. */
  explainDeletion(plan: LiveDeletion): WriteChoice {
    // Of the pairs of a join table.
    if (this.writes.create.lane === 'pairs') return this.writes.create;
    const subscriber = deletionSubscriber(this.metadata, this.dataSource, hasStatementHook);
    const choice = chooseDeletion(this.ofDeletions(), plan, subscriber);
    const isKnown = choice.lane !== 'entities' && PLAIN_TABLES.get(this.metadata) === false;
    return isKnown ? this.ofDeletions().triggered : choice;
  }

  /** The same for bulk deletions. */
  explainDeletions(plans: readonly LiveDeletion[] | undefined): WriteChoice {
    const subscriber = deletionSubscriber(this.metadata, this.dataSource);
    return chooseDeletions(this.ofDeletions().many, plans, subscriber);
  }

  private ofDeletions(): ViewDeletions {
    return (this.deletions ??= chooseViewDeletions(deletionFacts(this.resource, this.tools)));
  }
}

type Subscriber = DataSource['subscribers'][number];

/** Subscriber methods that are called regardless of the subscriber's entity. */
const STATEMENT_HOOKS = [
  'beforeQuery',
  'afterQuery',
  'beforeTransactionStart',
  'afterTransactionStart',
  'beforeTransactionCommit',
  'afterTransactionCommit',
  'beforeTransactionRollback',
  'afterTransactionRollback',
] as const;

/** Evaluated for each write: subscribers may be added and removed while the application runs. */
function writeSubscriber(metadata: EntityMetadata, { subscribers }: DataSource): string | undefined {
  for (const each of subscribers)
    if (listensTo(each, metadata) || hasStatementHook(each)) return classNameOf(each);
  return undefined;
}

function hasStatementHook(subscriber: Subscriber): boolean {
  return STATEMENT_HOOKS.some((hook) => subscriber[hook] !== undefined);
}

/** The events of a deletion that need the entity of each row. */
const ROW_EVENTS = [
  'afterLoad',
  'beforeRemove',
  'afterRemove',
  'beforeSoftRemove',
  'afterSoftRemove',
] as const;

/** @param alsoSees whether a subscriber that does not listen to the entity sees the deletion. */
function deletionSubscriber(
  metadata: EntityMetadata,
  { subscribers }: DataSource,
  alsoSees: (subscriber: Subscriber) => boolean = () => false,
): string | undefined {
  for (const each of subscribers) {
    const hears = listensTo(each, metadata) && ROW_EVENTS.some((event) => each[event] !== undefined);
    if (hears || alsoSees(each)) return classNameOf(each);
  }
  return undefined;
}

const LISTENERS: ReadonlySet<string> = new Set([
  'after-load',
  'before-remove',
  'after-remove',
  'before-soft-remove',
  'after-soft-remove',
]);

/** A stored key that its transformer does not make is that of no entity: TypeORM's statements would find another row by it. */
function deletionFacts(
  resource: ResourceSchema,
  tools: Pick<WriterTools, 'tables' | 'dialect'>,
): DeletionFacts {
  const { metadata } = tools.tables.of(resource);
  const { tableName, tableType, isJunction, discriminatorColumn, treeType } = metadata;
  const found = (): DeletionFacts['entity'] => {
    if (
      (tableType !== 'regular' && !isJunction) ||
      discriminatorColumn !== undefined ||
      treeType !== undefined
    )
      return { kind: 'shared-rows', name: tableName };
    const listener = metadata.listeners.find(({ type }) => LISTENERS.has(type));
    if (listener) return { kind: 'remove-listener', name: nameOfListener(listener) };
    const key = metadata.primaryColumns.find(({ transformer }) => transformer !== undefined);
    if (key) return { kind: 'key-transformer', name: key.propertyPath };
    return new UndeclaredPairs(resource, tools).exist()
      ? { kind: 'undeclared-pairs', name: tableName }
      : undefined;
  };
  return { tableName, entity: found(), row: rowDeletionCause(resource, tools) };
}

/** Why one statement does not delete a row. */
function rowDeletionCause(
  resource: ResourceSchema,
  { tables, dialect }: Pick<WriterTools, 'tables' | 'dialect'>,
): DeletionFacts['row'] {
  const { metadata, dataSource } = tables.of(resource);
  const { type } = dataSource.options;
  if (!dialect.inserting) return { kind: 'no-returning', name: type };
  if (!dialect.limitsChanges) return undefined;
  if (metadata.deleteDateColumn) return { kind: 'soft-deletion', name: type };
  const { identity, key, className } = resource;
  return identity === key.columns && key.via === undefined
    ? undefined
    : { kind: 'other-key', name: className };
}

type TableTools = Pick<WriterTools, 'dialect' | 'connections' | 'tables'>;

/** By the metadata of a data source, which the writers of all views of a table share. */
const PLAIN_TABLES = new WeakMap<EntityMetadata, MaybePromise<boolean>>();
const DELETED_ALIKE = new WeakMap<EntityMetadata, Promise<boolean>>();

/** Whether a table has no triggers or rules in the database that change rows. Queried once. */
function isPlainTable(metadata: EntityMetadata, tools: TableTools): MaybePromise<boolean> {
  const known = PLAIN_TABLES.get(metadata);
  if (known !== undefined) return known;
  const queried = queryPlainTable(metadata, tools);
  PLAIN_TABLES.set(metadata, queried);
  return queried;
}

async function queryPlainTable(
  metadata: EntityMetadata,
  { dialect, connections, tables }: TableTools,
): Promise<boolean> {
  const statement = dialect.inserting?.plainTable({
    path: tables.pathOf(metadata),
    name: metadata.tableName,
    database: metadata.database,
  });
  try {
    const isPlain =
      statement !== undefined &&
      (await connections.needsNoPreparation()) &&
      Number((await connections.read(statement, 'primary'))[0]?.[0] ?? 0) === 1;
    PLAIN_TABLES.set(metadata, isPlain);
    return isPlain;
  } catch (error) {
    PLAIN_TABLES.delete(metadata);
    throw error;
  }
}

/** Whether the database does the same for one DELETE of many rows as for one of each. Queried once. */
function deletesAlike(metadata: EntityMetadata, tools: TableTools): Promise<boolean> {
  const known = DELETED_ALIKE.get(metadata);
  if (known) return known;
  const queried = queryDeletion(metadata, tools);
  DELETED_ALIKE.set(metadata, queried);
  return queried.catch((error: unknown) => {
    DELETED_ALIKE.delete(metadata);
    throw error;
  });
}

async function queryDeletion(
  metadata: EntityMetadata,
  { dialect, connections, tables }: TableTools,
): Promise<boolean> {
  const { tableName: name, database, deleteDateColumn } = metadata;
  const table = { path: tables.pathOf(metadata), name, database };
  const statement = dialect.changesAlike(table, deleteDateColumn ? 'update' : 'delete');
  const [record] = await connections.read(statement, 'primary');
  return Number(record?.[0] ?? 0) === 1;
}
