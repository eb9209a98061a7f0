import type { QueryRunner } from 'typeorm';

/** A driver's connection: `query` takes a text or an object, and what else the driver takes. */
export interface DriverConnection {
  query(query: string | object, ...rest: unknown[]): unknown;
  /** Of pg. */
  readonly getTypeParser?: (oid: number, format?: string) => (value: unknown) => unknown;
}

/** What is corrected of the queries that TypeORM makes. */
export interface QueryCorrections {
  /** Replaces parts of a statement. */
  readonly sql?: ((statement: string) => string) | undefined;
  /** The driver's options of a query. */
  readonly options?: ((connection: DriverConnection) => object) | undefined;
}

/**
 * Corrects the queries for which TypeORM's builders use this runner: they ask for a structured result. Those that the
 * application writes itself are not changed.
 */
export function correctQueries(runner: QueryRunner, { sql: corrected, options }: QueryCorrections): void {
  if (!corrected && !options) return;
  const query = runner.query.bind(runner) as (...given: readonly unknown[]) => unknown;
  const connect = runner.connect.bind(runner) as () => Promise<DriverConnection>;
  let isStructured = false;
  runner.query = ((sql: string, parameters?: unknown[], structured?: boolean): unknown => {
    isStructured = structured === true;
    try {
      // Asks for the connection before it returns.
      return query(isStructured && corrected ? corrected(sql) : sql, parameters, structured);
    } finally {
      isStructured = false;
    }
  }) as QueryRunner['query'];
  if (!options) return;
  runner.connect = async (): Promise<unknown> => {
    const isCorrected = isStructured;
    const connection = await connect();
    return isCorrected ? withOptions(connection, options(connection)) : connection;
  };
}

function withOptions(connection: DriverConnection, options: object): DriverConnection {
  // pg and mysql2 name the text of a query differently.
  const name = 'getTypeParser' in connection ? 'text' : 'sql';
  const derived = Object.create(connection) as DriverConnection;
  derived.query = (query, ...rest) =>
    connection.query({ ...(typeof query === 'string' ? { [name]: query } : query), ...options }, ...rest);
  return derived;
}
