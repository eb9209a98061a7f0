import { isDeepStrictEqual } from 'node:util';
import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { InvalidInput, UndeletedRow } from '../../../core/errors/http-exceptions.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { Condition } from '../../../core/query/condition.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { compileWhere } from '../../../sql/compile-where.js';
import { Scope } from '../../../sql/query-scope.js';
import { identityOf } from './entity-values.js';
import type { LoadedEntities } from './loaded-entities.js';
import type { WriterTools } from './row-writer.js';

/** A trigger, a rule or a conflict clause of the table has dropped a row, and the database has reported no error. */
export class DroppedRow extends Error {
  constructor() {
    super('The database has not stored a row, and has reported no error');
  }
}

export function notStored(): InvalidInput {
  return InvalidInput.ofNoField('The database has not stored this object.');
}

/** The update of a row. */
interface UpdatedRow {
  readonly change: { readonly identity: readonly Json[]; readonly stored: readonly unknown[] };
  readonly runner: QueryRunner;
}

/** A row to be removed. */
export interface Removal {
  readonly identity: readonly Json[];
  /** The entity as it was before a hook received it. */
  readonly loaded: ObjectLiteral;
  /** The condition under which the caller has found the row. */
  readonly where: Condition;
}

/**
 * Detects rows that the database drops without an error: the statement has written no row then. That is also so where a view
 * or a rule writes in its place; therefore the row itself is looked at.
 */
export class DroppedRows {
  private readonly metadata: EntityMetadata;
  private readonly path: string;
  private readonly table: TableKind;
  /** The quoted names of the columns that hold the place in a tree. */
  private readonly places: readonly string[];

  private constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly entities: LoadedEntities,
  ) {
    const { metadata, dataSource } = tools.tables.of(resource);
    this.metadata = metadata;
    this.places = placesIn(metadata).map(({ databaseName }) => dataSource.driver.escape(databaseName));
    this.path = tools.tables.pathOf(this.metadata);
    this.table = new TableKind(resource, tools);
  }

  /** Undefined for a database that reports an error for each row that it does not write. */
  static of(resource: ResourceSchema, tools: WriterTools, entities: LoadedEntities): DroppedRows | undefined {
    return tools.dialect.returning && new DroppedRows(resource, tools, entities);
  }

  /**
   * The values of all columns, to be compared after a write; but those of lazy relations, which reading would load, and those
   * that hold the place in a tree, which statements before that of the row change.
   */
  valuesOf(entity: ObjectLiteral): readonly unknown[] {
    const places = placesIn(this.metadata);
    return this.metadata.columns
      .filter((column) => column.relationMetadata?.isLazy !== true && !places.includes(column))
      .map((column) => column.getEntityValue(entity) as unknown);
  }

  /** @throws DroppedRow before listeners are called, if the new row is not stored. */
  async insert(entity: ObjectLiteral, runner: QueryRunner, run: () => Promise<unknown>): Promise<void> {
    // Its triggers may ignore a row whose key exists, whether or not they count the rows that they write.
    const hasExisted =
      this.hasKey(entity) && (await this.table.isView(runner)) && (await this.exists(entity, runner));
    const found = { isUncounted: false };
    const onNone = async (): Promise<void> => {
      found.isUncounted = await this.table.isView(runner);
      if (!found.isUncounted && !(await this.isWritten(entity, runner))) throw new DroppedRow();
    };
    await watchRows(runner, { statement: `INSERT INTO ${this.path}`, onNone }, run);
    if (found.isUncounted && (hasExisted || !(await this.exists(entity, runner)))) throw new DroppedRow();
  }

  /** @throws DroppedRow before listeners are called, if nothing that the entity changes is stored. */
  update<Result>(
    entity: ObjectLiteral,
    { change, runner }: UpdatedRow,
    run: () => Promise<Result>,
  ): Promise<Result> {
    const onNone = async (): Promise<void> => {
      const stored = await this.entities.load(change.identity, runner);
      const before = change.stored;
      const [now, written] = [stored && this.valuesOf(stored), this.valuesOf(entity)];
      const changed = [...written.keys()].filter((at) => !isDeepStrictEqual(written[at], before[at]));
      if (!now || (changed.length > 0 && changed.every((at) => isDeepStrictEqual(now[at], before[at]))))
        throw new DroppedRow();
    };
    const statement = `UPDATE ${this.path} `;
    const except = this.places.map((name) => `${statement}SET ${name} = `);
    return watchRows(runner, { statement, except, onNone }, run);
  }

  /**
   * Called if the statement has deleted no row.
   * @throws UndeletedRow if the row is visible as before. A rule or a trigger may have marked it as deleted.
   */
  async assertDeleted({ identity, loaded, where }: Removal, runner: QueryRunner): Promise<void> {
    const stored = await this.entities.load(identity, runner);
    if (!stored || !isDeepStrictEqual(this.valuesOf(stored), this.valuesOf(loaded))) return;
    if (!(await this.find(where, runner)) || (await this.isWritten(stored, runner))) return;
    throw new UndeletedRow();
  }

  private hasKey(entity: ObjectLiteral): boolean {
    return identityOf(entity, this.resource, this.metadata).every((value) => value !== null);
  }

  private exists(entity: ObjectLiteral, runner: QueryRunner): Promise<boolean> {
    const identity = identityOf(entity, this.resource, this.metadata);
    return this.find(this.entities.conditionOf(identity), runner);
  }

  /** Whether this transaction has written the row; false if the database does not say so. */
  private async isWritten(entity: ObjectLiteral, runner: QueryRunner): Promise<boolean> {
    const version = this.tools.dialect.returning?.rowVersion;
    if (!version || !this.hasKey(entity) || (await this.table.isView(runner))) return false;
    const identity = identityOf(entity, this.resource, this.metadata);
    return this.find(this.entities.conditionOf(identity), runner, (alias) => version.isOwn(alias));
  }

  private async find(
    where: Condition,
    runner: QueryRunner,
    also?: (alias: string) => string,
  ): Promise<boolean> {
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const conditions = [compileWhere(where, scope), ...(also ? [also(scope.alias)] : [])];
    const sql = `SELECT 1 AS c0 FROM ${scope.from()} WHERE ${conditions.join(' AND ')}`;
    const found = await this.tools.connections.records(runner, { sql, parameters: scope.parameters });
    return found.length > 0;
  }
}

/** The columns that hold the place of a row in a tree: statements of their own change them. */
function placesIn(metadata: EntityMetadata): readonly ColumnMetadata[] {
  const { materializedPathColumn, nestedSetLeftColumn, nestedSetRightColumn } = metadata;
  return [materializedPathColumn, nestedSetLeftColumn, nestedSetRightColumn].filter(
    (each) => each !== undefined,
  );
}

/**
 * The statements that begin with `statement`, but with none of `except`; `onNone` is called after the first of them if it has
 * written no row.
 */
interface Watcher {
  readonly statement: string;
  readonly except?: readonly string[];
  readonly onNone: () => Promise<void>;
}

const WATCHERS = Symbol('watchers of the number of rows');

interface WatchedRunner {
  [WATCHERS]?: Set<Watcher>;
}

/** Runs statements of TypeORM, which does not return the number of rows that an INSERT or a `save` has written. */
async function watchRows<Result>(
  runner: QueryRunner,
  watcher: Watcher,
  run: () => Promise<Result>,
): Promise<Result> {
  const watched: WatchedRunner = runner as WatchedRunner;
  const watchers = (watched[WATCHERS] ??= watchQueries(runner));
  watchers.add(watcher);
  try {
    return await run();
  } finally {
    watchers.delete(watcher);
  }
}

function watchQueries(runner: QueryRunner): Set<Watcher> {
  const watchers = new Set<Watcher>();
  const query = runner.query.bind(runner) as (sql: string, ...more: readonly unknown[]) => Promise<unknown>;
  runner.query = (async (sql: string, ...more: readonly unknown[]): Promise<unknown> => {
    const result = await query(sql, ...more);
    for (const watcher of [...watchers].filter((each) => isWatched(sql, each))) {
      watchers.delete(watcher);
      if (rowsOf(result) === 0) await watcher.onNone();
    }
    return result;
  }) as QueryRunner['query'];
  return watchers;
}

function isWatched(sql: string, { statement, except = [] }: Watcher): boolean {
  return sql.startsWith(statement) && !except.some((each) => sql.startsWith(each));
}

/** The number of rows that a statement has written; undefined if the result does not have it. */
function rowsOf(result: unknown): unknown {
  return (result as { readonly affected?: unknown } | null | undefined)?.affected;
}

/** Whether the table of a resource is a view, which the database is asked once. */
export class TableKind {
  private isKnown: boolean | undefined;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {}

  async isView(runner: QueryRunner): Promise<boolean> {
    const { tables, dialect, connections } = this.tools;
    if (this.isKnown !== undefined || !dialect.returning) return this.isKnown === true;
    const { metadata } = tables.of(this.resource);
    const statement = dialect.returning.view(metadata.tableName, tables.pathOf(metadata));
    const [record] = await connections.records(runner, statement);
    return (this.isKnown = Number(record?.[0] ?? 0) === 1);
  }
}
