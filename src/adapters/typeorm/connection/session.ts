import type { DataSource, QueryRunner } from 'typeorm';
import type { Dialect, SessionSetup } from '../../../sql/dialects/dialect.js';

type Statements = ReturnType<SessionSetup['statements']>;

/** The statements for each data source, whose sessions are assumed to be configured alike. */
const STATEMENTS = new WeakMap<DataSource, Statements>();

/** Prepares the session for a transaction that writes, after BEGIN. Returns the statements that restore it. */
export async function prepareSession(
  runner: QueryRunner,
  dataSource: DataSource,
  { session }: Dialect,
): Promise<readonly string[]> {
  if (!session) return [];
  const statements = await statementsOf(runner, dataSource, session);
  for (const statement of statements.begin) await runner.query(statement);
  return statements.end;
}

/** As `prepareSession`, in a transaction of the application, whose settings are kept. */
export async function prepareJoinedSession(
  runner: QueryRunner,
  { session }: Dialect,
): Promise<readonly string[]> {
  if (!session) return [];
  const { begin, end, endJoined = end } = await readStatements(runner, session);
  for (const statement of begin) await runner.query(statement);
  return endJoined;
}

/** Whether the session needs no preparation for a write. */
export async function sessionIsFit(
  runner: QueryRunner,
  dataSource: DataSource,
  { session }: Dialect,
): Promise<boolean> {
  return !session || (await statementsOf(runner, dataSource, session)).begin.length === 0;
}

async function statementsOf(
  runner: QueryRunner,
  dataSource: DataSource,
  session: SessionSetup,
): Promise<Statements> {
  const statements = STATEMENTS.get(dataSource) ?? (await readStatements(runner, session));
  STATEMENTS.set(dataSource, statements);
  return statements;
}

async function readStatements(runner: QueryRunner, session: SessionSetup): Promise<Statements> {
  const [record] = (await runner.query(session.query)) as readonly { readonly c0?: unknown }[];
  return session.statements(String(record?.c0 ?? ''));
}
