import type { DataSource } from 'typeorm';
import { dialectFamily } from '../data-source-dialect.js';

/** Warnings for the log about options of a data source with which it does not recover by itself. */
export function warningsOfOptions(dataSource: DataSource): readonly string[] {
  const { replication } = dataSource.options as {
    readonly replication?: { readonly restoreNodeTimeout?: number };
  };
  if (!replication || dialectFamily(dataSource) !== 'mysql' || (replication.restoreNodeTimeout ?? 0) > 0)
    return [];
  return [
    'The data source has `replication` without `restoreNodeTimeout`: mysql2 takes a server that was away for five attempts out for good, and only a restart of the application brings it back. Set restoreNodeTimeout: 1000.',
  ];
}
