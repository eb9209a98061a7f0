import { createHash } from 'node:crypto';
import type { Records, Statement, StatementLabel } from '../../sql/statement.js';

/** The part of pg's client that is used. A replacement of pg, such as a database in memory, may have no more than this. */
interface PostgresClient {
  query(query: PostgresQuery | PreparedQuery, callback: PostgresCallback): unknown;
}

/** The configuration of a query, as pg's own. */
export interface PostgresQuery {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly rowMode: 'array';
}

type PostgresCallback = (
  error: Error | null | undefined,
  result?: { readonly rows: (readonly unknown[])[] },
) => void;

/** The maximum number of named statements: each session of the server keeps a plan for each of them in memory. */
const MAX_NAMED = 200;
/**
 * The same for statements with fields selected by a client, kept separately, so that a client that varies them does not
 * use up the names of the others.
 */
const MAX_CLIENT_SELECTED = 50;

/** The bytes of operation and model in a name, and the characters of 132 bits. */
const MAX_LABEL_BYTES = 31;
const HASH_LENGTH = 22;

/**
 * Runs statements on pg's own client. `named`: whether the server's session may keep reusable statements prepared, under
 * names.
 */
export function runOnPostgres(
  named: () => boolean,
): (connection: unknown, statement: Statement, toError: (error: unknown) => Error) => Promise<Records> {
  const [names, clientSelectedNames] = [new Map<string, string>(), new Map<string, string>()];
  const nameOf = ({ sql, label, reusable, isClientSelected }: Statement): string | undefined => {
    if (!label || reusable !== true || !named()) return undefined;
    return isClientSelected === true
      ? statementName({ sql, label }, clientSelectedNames, MAX_CLIENT_SELECTED)
      : statementName({ sql, label }, names, MAX_NAMED);
  };
  return (connection, statement, toError) => {
    const { sql, parameters } = statement;
    const name = nameOf(statement);
    const query: PostgresQuery =
      name === undefined
        ? { text: sql, values: parameters, rowMode: 'array' }
        : { name, text: sql, values: parameters, rowMode: 'array' };
    return new Promise((resolve, reject) => {
      runQuery(connection as PostgresClient, query, (error, result) => {
        if (error) reject(toError(error));
        // Empties the driver's own array: the driver refers to the result for several young-generation collections, and
        // would keep a long list's rows alive.
        else resolve(result?.rows.splice(0) ?? []);
      });
    });
  };
}

/**
 * `restify_<operation>_<model>_<hash of the SQL>`, the same for the same text: behind a connection pooler sessions are shared
 * with processes that prepare other statements. The server cuts names after 63 bytes.
 */
function statementName(
  { sql, label: { operation, model } }: { readonly sql: string; readonly label: StatementLabel },
  names: Map<string, string>,
  limit: number,
): string | undefined {
  const known = names.get(sql);
  if (known !== undefined || names.size >= limit) return known;
  const hash = createHash('sha256').update(sql).digest('base64url').slice(0, HASH_LENGTH);
  const name = `restify_${operation}_${cutText(model, MAX_LABEL_BYTES - operation.length)}_${hash}`;
  names.set(sql, name);
  return name;
}

/** The first characters of a text, of at most so many bytes. */
function cutText(text: string, maxBytes: number): string {
  let cut = '';
  for (const character of text) {
    if (Buffer.byteLength(cut + character) > maxBytes) break;
    cut += character;
  }
  return cut;
}

/** pg's connection, with the messages of the protocol that its own queries and those of pg-cursor send. */
interface PostgresConnection {
  readonly stream: { cork?(): void; uncork?(): void };
  /** The text of each prepared statement that the server has parsed. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  parse(message: { readonly name: string | undefined; readonly text: string }): void;
  bind(message: {
    readonly statement: string | undefined;
    readonly values: readonly (string | null)[];
  }): void;
  describe(message: { readonly type: 'P' }): void;
  execute(message: object): void;
  sync(): void;
  sendCopyFail(reason: string): void;
}

interface MessagingClient extends PostgresClient {
  readonly connection: PostgresConnection;
  getTypeParser(type: number, format: 'text'): (text: string) => unknown;
}

/** The types of the columns of a prepared statement. */
type ColumnTypes = readonly number[];

/** What the server has described to each client, by the name of the statement; undefined for a client of another kind. */
const DESCRIPTIONS = new WeakMap<PostgresClient, Map<string, ColumnTypes> | undefined>();

/**
 * Runs a statement by pg's client. For one with a name or values, pg would copy the configuration, build a result with parsers, and
 * have the server describe the columns of a named one at each execution; a `PreparedQuery` has these described once.
 */
export function runQuery(client: PostgresClient, query: PostgresQuery, callback: PostgresCallback): void {
  const { name, text, values } = query;
  const isPrepared = name !== undefined || values.length > 0;
  const described = isPrepared ? descriptionsOf(client) : undefined;
  const texts = described && textsOf(values);
  if (described && texts)
    client.query(
      new PreparedQuery(new Execution(client as MessagingClient, described), { name, text, values: texts }),
      callback,
    );
  else client.query(query, callback);
}

function descriptionsOf(client: PostgresClient): Map<string, ColumnTypes> | undefined {
  const known = DESCRIPTIONS.get(client);
  if (known || DESCRIPTIONS.has(client)) return known;
  const described = sendsMessages(client) ? new Map<string, ColumnTypes>() : undefined;
  DESCRIPTIONS.set(client, described);
  return described;
}

const METHODS = ['parse', 'bind', 'describe', 'execute', 'sync', 'sendCopyFail'] as const;

/** False for replacements of pg, for its native client, and in modes in which it accepts its own queries only. */
function sendsMessages(client: PostgresClient): boolean {
  const { connection, getTypeParser, pipeline, binary } = client as Partial<MessagingClient> & {
    readonly pipeline?: boolean;
    readonly binary?: boolean;
  };
  return (
    typeof connection?.parsedStatements === 'object' &&
    METHODS.every((method) => typeof connection[method] === 'function') &&
    typeof getTypeParser === 'function' &&
    pipeline !== true &&
    binary !== true
  );
}

/** The values as pg sends them; undefined if one is not primitive, because pg converts such values by rules of its own. */
function textsOf(values: readonly unknown[]): (string | null)[] | undefined {
  const texts: (string | null)[] = [];
  for (const value of values) {
    if (typeof value === 'object' && value !== null) return undefined;
    texts.push(value === null || value === undefined ? null : String(value));
  }
  return texts;
}

interface PreparedConfig {
  /** Undefined for a statement that the server parses anew. */
  readonly name: string | undefined;
  readonly text: string;
  readonly values: readonly (string | null)[];
}

/** What is known of one execution. Its private fields keep the client out of logs and copies. */
class Execution {
  readonly rows: (readonly unknown[])[] = [];
  /** An error in this process: of a message that cannot be sent, or of a parser. */
  failure: Error | undefined;
  readonly #client: MessagingClient;
  readonly #described: Map<string, ColumnTypes>;
  #types: ColumnTypes | undefined;
  #parsers: readonly ((text: string) => unknown)[] | undefined;

  constructor(client: MessagingClient, described: Map<string, ColumnTypes>) {
    this.#client = client;
    this.#described = described;
  }

  /** Whether the columns of the statement are known; they are not if the server parses it anew. */
  begin(parsed: string | undefined): boolean {
    this.#types = parsed === undefined ? undefined : this.#described.get(parsed);
    return this.#types !== undefined;
  }

  describe(types: ColumnTypes): void {
    this.#types = types;
  }

  addRow(fields: readonly (string | null)[]): void {
    if (this.failure) return;
    try {
      // Looked up for each execution: the application may replace a parser.
      const parsers = (this.#parsers ??= (this.#types ?? []).map((type) =>
        this.#client.getTypeParser(type, 'text'),
      ));
      this.rows.push(
        fields.map((field, column) => (field === null ? null : (parsers[column]?.(field) ?? null))),
      );
    } catch (error) {
      this.failure = error as Error;
    }
  }

  complete(name: string | undefined): void {
    if (name !== undefined) this.#described.set(name, this.#types ?? []);
  }
}

/** A symbol: copies and texts of a query's configuration do not contain it. */
const EXECUTION = Symbol('execution');

/**
 * A query that pg's client submits, as it does those of pg-cursor. Instrumentations may read it, copy it or inherit from
 * it as the configuration of a query.
 */
class PreparedQuery implements Omit<PostgresQuery, 'name'> {
  readonly name: string | undefined;
  readonly text: string;
  readonly values: readonly (string | null)[];
  readonly rowMode = 'array';
  /** Set by the client. */
  callback: PostgresCallback | undefined;
  readonly [EXECUTION]: Execution;

  constructor(execution: Execution, { name, text, values }: PreparedConfig) {
    this.name = name;
    this.text = text;
    this.values = values;
    this[EXECUTION] = execution;
  }

  submit(connection: PostgresConnection): null {
    const { name, text, values } = this;
    const { stream } = connection;
    const isParsed = name !== undefined && connection.parsedStatements[name] === text;
    const isDescribed = this[EXECUTION].begin(isParsed ? name : undefined);
    // One write for all messages.
    stream.cork?.();
    try {
      if (!isParsed) connection.parse({ name, text });
      connection.bind({ statement: name, values });
      if (!isDescribed) connection.describe({ type: 'P' });
      connection.execute({});
    } catch (error) {
      this[EXECUTION].failure = error as Error;
    } finally {
      // The server is ready for another query after this message, whatever came before it.
      connection.sync();
      stream.uncork?.();
    }
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this[EXECUTION].describe(fields.map(({ dataTypeID }) => dataTypeID));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this[EXECUTION].addRow(fields);
  }

  handleCommandComplete(): void {
    this[EXECUTION].complete(this.name);
  }

  handleReadyForQuery(): void {
    this.finish(this[EXECUTION].failure);
  }

  handleError(error: Error): void {
    this.finish(this[EXECUTION].failure ?? error);
  }

  handleEmptyQuery(): void {
    // Has no rows.
  }

  handlePortalSuspended(): void {
    // Not sent: all rows are requested at once.
  }

  handleCopyInResponse(connection: PostgresConnection): void {
    connection.sendCopyFail('A prepared query has no data to copy');
    // The server has ignored the first one, because it waited for data.
    connection.sync();
  }

  handleCopyData(): void {
    // Ignored, as by pg.
  }

  /** Calls back. An error of the callback must not keep the client from its next query. */
  private finish(error: Error | undefined): void {
    try {
      this.callback?.(error, { rows: this[EXECUTION].rows });
    } catch (thrown) {
      process.nextTick(() => {
        throw thrown;
      });
    }
  }
}
