import type { QueryRunner, DataSource } from 'typeorm';
import { runsInUtc, UTC } from '../../../sql/dialects/local-time.js';
import { dialectFamily, mysqlOptions, mysqlZone } from '../data-source-dialect.js';

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

/** Writes the digits of a second that a column has into the time of an update or soft deletion. TypeORM leaves them out, and MariaDB then stores whole seconds. */
export function exactStamps(dataSource: DataSource): QueryCorrections['sql'] {
  if (dialectFamily(dataSource) !== 'mysql') return undefined;
  const escaped = (path: string): string =>
    path
      .split('.')
      .map((name) => dataSource.driver.escape(name))
      .join('.');
  const digits = new Map<string, number>();
  for (const { columns, tablePath } of dataSource.entityMetadatas)
    for (const { isUpdateDate, isDeleteDate, databaseName, precision } of columns)
      if ((isUpdateDate || isDeleteDate) && precision)
        digits.set(`${escaped(tablePath)} ${escaped(databaseName)}`, precision);
  return digits.size === 0 ? undefined : (statement) => withDigits(statement, digits);
}

const UPDATE = /^UPDATE ((?:`(?:[^`]|``)+`\.?)+) SET /;
const NOW = /(`(?:[^`]|``)+`) = CURRENT_TIMESTAMP(?!\()/g;

function withDigits(statement: string, digits: ReadonlyMap<string, number>): string {
  const [, table] = UPDATE.exec(statement) ?? [];
  if (table === undefined) return statement;
  return statement.replace(NOW, (found, column: string) => {
    const own = digits.get(`${table} ${column}`);
    return own === undefined ? found : `${found}(${own})`;
  });
}

/**
 * Options with which the driver returns days as texts, for entities and for TypeORM's comparison with stored rows. Otherwise
 * it makes a Date of each, from which TypeORM may derive another day: the driver's time zone, that of the process, and `utc`
 * of the column need not be the same. Undefined if TypeORM always derives the same day in this process.
 */
export function exactDays(dataSource: DataSource): QueryCorrections['options'] {
  const family = dialectFamily(dataSource);
  switch (family) {
    case 'sqlite':
      return undefined;
    case 'postgres':
      return keepsLocalDays(dataSource) ? undefined : (connection) => ({ types: typesOf(connection) });
    case 'mysql': {
      const zone = mysqlZone(dataSource);
      if (zone === 'local' ? keepsLocalDays(dataSource) : zone === UTC && runsInUtc()) return undefined;
      // TypeORM reads the text of a DATETIME in the zone of the process, and leaves that of a TIMESTAMP as it is.
      const texts = { dateStrings: mysqlOptions(dataSource).stampTexts ? ['DATE', 'TIMESTAMP'] : ['DATE'] };
      return () => texts;
    }
    default:
      return family satisfies never;
  }
}

/** Days that a time zone has skipped when it changed the side of the date line. */
const SKIPPED_DAYS = ['1993-08-21', '1994-12-31', '1995-01-01', '2011-12-30'];

/** Whether TypeORM derives each day from its midnight in the time zone of this process. */
function keepsLocalDays({ entityMetadatas }: DataSource): boolean {
  if (runsInUtc()) return true;
  const dates = entityMetadatas.flatMap(({ columns }) => columns.filter(({ type }) => type === 'date'));
  return (
    dates.every(({ utc }) => !utc) &&
    SKIPPED_DAYS.every((day) => new Date(`${day}T00:00`).getDate() === Number(day.slice(-2)))
  );
}

const DATE_OID = 1082;

function typesOf(connection: DriverConnection): object {
  return {
    getTypeParser: (oid: number, format?: string) =>
      oid === DATE_OID ? String : connection.getTypeParser?.(oid, format),
  };
}
