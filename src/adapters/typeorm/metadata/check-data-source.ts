import type { DataSource, EntityMetadata, ReplicationMode } from 'typeorm';
import type { DeclarationProblem } from '../../../core/errors/declaration-error.js';
import { isReading, METHOD_OF } from '../../../core/schema/operation.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { describeUnknownCluster, probeClusterPools } from '../../../internals/mysql2.js';
import { probeDepth, unknownRunner } from '../../../internals/typeorm.js';
import type { Dialect, SettingRule } from '../../../sql/dialects/dialect.js';
import { SqliteConnection } from '../connection/sqlite-connection.js';
import { dialectFamily } from '../data-source-dialect.js';
import type { Tables } from '../table-metadata.js';

/** Why the server is none of this dialect. Such a server may not know the settings, nor the catalogue. */
export async function serverProblems(
  dataSource: DataSource,
  { otherServers }: Pick<Dialect, 'otherServers'>,
): Promise<readonly DeclarationProblem[]> {
  return otherServers.length > 0 ? problemsOn('master', dataSource, otherServers) : [];
}

/** What is wrong with the settings of sessions: of one connection to the primary server, and of one to a replica, if there is one that answers. */
export async function settingProblems(
  dataSource: DataSource,
  { settings }: Pick<Dialect, 'settings'>,
): Promise<readonly DeclarationProblem[]> {
  const found = await problemsOn('master', dataSource, settings);
  if (found.length > 0 || !('replication' in dataSource.options)) return found;
  return problemsOn('slave', dataSource, settings).catch(() => []);
}

/** What is wrong with TypeORM's query runners: without their transactions, a write that fails would stay in part. */
export async function runnerProblems(dataSource: DataSource): Promise<readonly DeclarationProblem[]> {
  return (await isKnownRunner(dataSource)) ? [] : [unknownRunner(dataSource.options.type)];
}

async function isKnownRunner(dataSource: DataSource): Promise<boolean> {
  const sqlite = SqliteConnection.of(dataSource);
  if (sqlite) return sqlite.isKnownRunner();
  const runner = dataSource.createQueryRunner('master');
  try {
    return probeDepth(runner) !== undefined;
  } finally {
    await runner.release();
  }
}

async function problemsOn(
  mode: ReplicationMode,
  dataSource: DataSource,
  settings: readonly SettingRule[],
): Promise<readonly DeclarationProblem[]> {
  const runner = dataSource.createQueryRunner(mode);
  try {
    const read = settings.map((rule, index) => `${rule.read} AS c${index}`).join(', ');
    const [record] = (await runner.query(`SELECT ${read}`)) as readonly Readonly<Record<string, unknown>>[];
    const where = `the sessions of the ${mode === 'master' ? 'data source' : 'replicas'}`;
    return settings.flatMap((rule, index) =>
      rule.problems(String(record?.[`c${index}`])).map((problem) => ({ where, ...problem })),
    );
  } finally {
    await runner.release();
  }
}

/** The part of TypeORM's driver that holds the loaded class of better-sqlite3. */
interface SqliteDriver {
  readonly sqlite?: { readonly prototype?: object };
}

/**
 * Warnings for the log about a data source with whose options the application does not recover by itself, or whose driver
 * aborts the process. `node`: the version of Node, such as `24.21.0`.
 */
export function warningsOfOptions(dataSource: DataSource, node = process.versions.node): readonly string[] {
  return [...warningsOfReplication(dataSource), ...warningsOfSqlite(dataSource, node)];
}

function warningsOfReplication(dataSource: DataSource): readonly string[] {
  const { replication } = dataSource.options as {
    readonly replication?: { readonly restoreNodeTimeout?: number };
  };
  if (!replication || dialectFamily(dataSource) !== 'mysql') return [];
  const { poolCluster } = dataSource.driver as { readonly poolCluster?: object };
  const isKnown = poolCluster === undefined || probeClusterPools(poolCluster) !== undefined;
  return [...(isKnown ? [] : [describeUnknownCluster()]), ...warningsOfRestoring(replication)];
}

function warningsOfRestoring({ restoreNodeTimeout = 0 }: { restoreNodeTimeout?: number }): readonly string[] {
  if (restoreNodeTimeout > 0) return [];
  return [
    'The data source has `replication` without `restoreNodeTimeout`: mysql2 takes a server that was away for five attempts out for good, and only a restart of the application brings it back. Set restoreNodeTimeout: 1000.',
  ];
}

function warningsOfSqlite({ options, driver }: DataSource, node: string): readonly string[] {
  const { sqlite } = driver as SqliteDriver;
  if (options.type !== 'better-sqlite3' || Number.parseInt(node) < 24 || !isBefore13(sqlite?.prototype))
    return [];
  return [
    `better-sqlite3 before version 13 aborts the process (SIGABRT) on Node ${node}, at any time. Install better-sqlite3@13, and set "overrides": { "typeorm": { "better-sqlite3": "$better-sqlite3" } } in package.json, because TypeORM requests version 12.`,
  ];
}

/** Version 13 added `explain`. Other packages with the interface of better-sqlite3 lack its older methods, or add `key`. */
function isBefore13(prototype: object | undefined): boolean {
  if (!prototype || 'explain' in prototype || 'key' in prototype) return false;
  return ['prepare', 'unsafeMode', 'defaultSafeIntegers'].every((name) => name in prototype);
}

interface EngineRow {
  readonly c0: string;
  readonly c1: string;
}

const WITHOUT_TRANSACTIONS =
  "SELECT LOWER(t.table_name) AS c0, t.engine AS c1 FROM information_schema.tables t JOIN information_schema.engines e ON e.engine = t.engine WHERE t.table_schema = DATABASE() AND e.transactions = 'NO'";

/** Warnings about tables that are written and whose engine of MariaDB or MySQL cannot undo it. None if the catalogue cannot be read. */
export async function engineWarnings(
  resources: readonly ResourceSchema[],
  { tables, dataSource }: { readonly tables: Tables; readonly dataSource: DataSource },
): Promise<readonly string[]> {
  if (dialectFamily(dataSource) !== 'mysql') return [];
  const rows = await dataSource.query<readonly EngineRow[]>(WITHOUT_TRANSACTIONS).catch(() => []);
  const engines = new Map(rows.map(({ c0, c1 }) => [c0, c1]));
  return resources.flatMap((resource) => {
    const { metadata } = tables.of(resource);
    const { database = dataSource.driver.database, tableName } = dataSource.driver.parseTableName(metadata);
    const engine = engines.get(tableName.toLowerCase());
    if (engine === undefined || database !== dataSource.driver.database) return [];
    if ([...resource.operations].every((operation) => isReading(METHOD_OF[operation]))) return [];
    return [
      `${metadata.targetName || metadata.name}: the table "${tableName}" has the engine ${engine}, which has no transactions: what a failed request has written there stays. ALTER TABLE ${tableName} ENGINE = InnoDB.`,
    ];
  });
}

/** The definition of a table or view in the database. */
interface Definition {
  readonly name: string;
  readonly type: string;
  readonly sql: string;
}

/** A constraint whose violation deletes the other row; NOT NULL with this clause only sets the default. */
const REPLACES =
  /\b(?:UNIQUE|PRIMARY\s+KEY)(?:\s+(?:ASC|DESC))?(?:\s*\([^)]*\))?\s+ON\s+CONFLICT\s+REPLACE\b/i;

/** What is wrong with models by the definitions of their tables in the database: writes would change or show other rows. */
export async function tableProblems(
  resources: readonly ResourceSchema[],
  { tables, dialect, dataSource }: { tables: Tables; dialect: Dialect; dataSource: DataSource },
): Promise<readonly DeclarationProblem[]> {
  if (dialect.definitions === undefined) return [];
  const found = await dataSource.query<readonly Definition[]>(dialect.definitions);
  const definitions = new Map(found.map((each) => [each.name.toLowerCase(), each]));
  return resources.flatMap((resource) => {
    const { metadata } = tables.of(resource);
    const definition = definitions.get(metadata.tableName.toLowerCase());
    return definition ? problemsOf(resource, metadata, definition) : [];
  });
}

function problemsOf(
  { operations }: ResourceSchema,
  metadata: EntityMetadata,
  { name, type, sql }: Definition,
): readonly DeclarationProblem[] {
  const where = metadata.targetName || metadata.name;
  if (type === 'view' && operations.has('create') && metadata.generatedColumns.some(isMadeByDatabase))
    return [
      {
        where,
        what: `SQLite does not tell the key of a new row of the view "${name}"`,
        repair:
          "Let the client or the process give the key: @PrimaryColumn() or @PrimaryGeneratedColumn('uuid'), or leave 'create' out of its operations.",
      },
    ];
  const writes = operations.has('create') || operations.has('update') || operations.has('partialUpdate');
  return writes && REPLACES.test(sql)
    ? [
        {
          where,
          what: `a write to the table "${name}" may delete another row, because a constraint has ON CONFLICT REPLACE`,
          repair:
            "Take the clause out of the table, or serve it for reading: operations: ['list', 'retrieve'].",
        },
      ]
    : [];
}

function isMadeByDatabase({ isPrimary, generationStrategy }: EntityMetadata['columns'][number]): boolean {
  return isPrimary && generationStrategy !== 'uuid';
}
