import type { Dialect, SessionSetup } from '../../sql/dialects/dialect.js';
import type { Session } from '../port.js';

type Statements = ReturnType<SessionSetup['statements']>;

/** The statements for each database, whose sessions are assumed to be configured alike. */
const STATEMENTS = new WeakMap<object, Statements>();

/** Prepares the session for a transaction that writes, after BEGIN. Returns the statements that restore it. */
export async function prepareSession(
  session: Session,
  database: object,
  { session: setup }: Dialect,
): Promise<readonly string[]> {
  if (!setup) return [];
  const statements = await statementsOf(session, database, setup);
  for (const statement of statements.begin) await session.query(statement);
  return statements.end;
}

/** As `prepareSession`, in a transaction of the application, whose settings are kept. */
export async function prepareJoinedSession(
  session: Session,
  { session: setup }: Dialect,
): Promise<readonly string[]> {
  if (!setup) return [];
  const { begin, end, endJoined = end } = await readStatements(session, setup);
  for (const statement of begin) await session.query(statement);
  return endJoined;
}

/** Whether the session needs no preparation for a write. */
export async function sessionIsFit(
  session: Session,
  database: object,
  { session: setup }: Dialect,
): Promise<boolean> {
  return !setup || (await statementsOf(session, database, setup)).begin.length === 0;
}

async function statementsOf(session: Session, database: object, setup: SessionSetup): Promise<Statements> {
  const statements = STATEMENTS.get(database) ?? (await readStatements(session, setup));
  STATEMENTS.set(database, statements);
  return statements;
}

async function readStatements(session: Session, setup: SessionSetup): Promise<Statements> {
  const [record] = (await session.query(setup.query)) as readonly { readonly c0?: unknown }[];
  return setup.statements(String(record?.c0 ?? ''));
}
