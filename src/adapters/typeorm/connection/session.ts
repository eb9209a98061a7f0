import type { DataSource, QueryRunner } from 'typeorm';
import type { Dialect, SessionNeed } from '../../../sql/dialects/dialect.js';

type Statements = ReturnType<SessionNeed['statements']>;

/** One answer a data source: its sessions are taken for alike. */
const STATEMENTS = new WeakMap<DataSource, Statements>();

/** Behind BEGIN: makes the session what a transaction that writes needs. Gives the statements that take it back. */
export async function prepareSession(
  runner: QueryRunner,
  dataSource: DataSource,
  { session }: Dialect,
): Promise<readonly string[]> {
  if (!session) return [];
  const statements = await needed(runner, dataSource, session);
  for (const statement of statements.begin) await runner.query(statement);
  return statements.end;
}

/** Whether a write needs nothing of the session that it has not. */
export async function sessionIsFit(
  runner: QueryRunner,
  dataSource: DataSource,
  { session }: Dialect,
): Promise<boolean> {
  return !session || (await needed(runner, dataSource, session)).begin.length === 0;
}

async function needed(
  runner: QueryRunner,
  dataSource: DataSource,
  session: SessionNeed,
): Promise<Statements> {
  const statements = STATEMENTS.get(dataSource) ?? (await ask(runner, session));
  STATEMENTS.set(dataSource, statements);
  return statements;
}

async function ask(runner: QueryRunner, session: SessionNeed): Promise<Statements> {
  const [record] = (await runner.query(session.question)) as readonly { readonly c0?: unknown }[];
  return session.statements(String(record?.c0 ?? ''));
}
