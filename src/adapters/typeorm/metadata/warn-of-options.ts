import type { DataSource } from 'typeorm';
import { dialectFamily } from '../data-source-dialect.js';

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
  if (!replication || dialectFamily(dataSource) !== 'mysql' || (replication.restoreNodeTimeout ?? 0) > 0)
    return [];
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
