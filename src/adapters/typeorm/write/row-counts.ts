import type { QueryRunner } from 'typeorm';

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
export async function watchRows<Result>(
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
