import type { DataSource } from 'typeorm';
import { DeclarationError } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { Dialect } from '../../sql/dialects/dialect.js';
import { UTC } from '../../sql/dialects/local-time.js';
import type { WallZone } from '../../sql/dialects/local-time.js';
import type { MysqlModule } from '../../sql/dialects/mysql-canceller.js';
import { mariadbInserting } from '../../sql/dialects/mariadb-inserting.js';
import { mysql } from '../../sql/dialects/mysql.js';
import { postgres } from '../../sql/dialects/postgres.js';
import { sqlite } from '../../sql/dialects/sqlite.js';

/** Databases with the same SQL dialect, as far as this adapter uses it. */
export type DialectFamily = 'sqlite' | 'postgres' | 'mysql';

const FAMILIES: Readonly<Record<string, DialectFamily>> = {
  'better-sqlite3': 'sqlite',
  sqljs: 'sqlite',
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
};

const DATA_API = {
  what: 'it sends SQL over HTTP to the Data API of Amazon, without a session, with at most 1 MiB for a result and without time zones',
  repair: 'Use postgres or mysql with the address of the cluster: Aurora uses their protocols.',
};

/** Why other types are not served, where there is more to say than that no dialect writes their SQL. */
const UNSERVED: Readonly<Record<string, Pick<DeclarationProblem, 'what' | 'repair'>>> = {
  'aurora-mysql': DATA_API,
  'aurora-postgres': DATA_API,
};

/** The dialect family of a data source; `sqlite` if its driver is not supported, which `chooseDialect` rejects. */
export function dialectFamily({ options }: DataSource): DialectFamily {
  return FAMILIES[options.type] ?? 'sqlite';
}

/**
 * Chooses the dialect of a data source.
 *
 * @throws DeclarationError if its driver is not supported.
 */
export function chooseDialect(dataSource: DataSource): Dialect {
  const family = FAMILIES[dataSource.options.type];
  switch (family) {
    case 'sqlite':
      return sqlite;
    case 'postgres':
      return postgres;
    case 'mysql': {
      const { mysql: driver } = dataSource.driver as unknown as { readonly mysql: MysqlModule };
      // The driver knows the version of a server to which it is connected.
      const inserting = dataSource.driver.isReturningSqlSupported('insert') ? mariadbInserting : undefined;
      return mysql(mysqlZone(dataSource), { driver, inserting });
    }
    case undefined:
      throw new DeclarationError([
        {
          where: `the data source of type "${dataSource.options.type}"`,
          what: 'this database is not supported',
          repair: 'Use better-sqlite3, sqljs, postgres, mariadb or mysql.',
          ...UNSERVED[dataSource.options.type],
        },
      ]);
    default:
      return family satisfies never;
  }
}

/** Options of mysql2 that change how values are read. */
interface MysqlOptions {
  readonly timezone?: string | undefined;
  readonly dateStrings?: boolean | readonly string[] | undefined;
}

/** Those in `extra` replace those of TypeORM. `stampTexts`: whether a TIMESTAMP is loaded as a text. */
export function mysqlOptions({ options }: DataSource): {
  readonly timezone: string;
  readonly stampTexts: boolean;
} {
  const own = options as MysqlOptions & { readonly extra?: MysqlOptions };
  const { timezone, dateStrings }: MysqlOptions = { ...own, ...own.extra };
  return {
    timezone: timezone || 'local',
    stampTexts: Array.isArray(dateStrings) ? dateStrings.includes('TIMESTAMP') : dateStrings === true,
  };
}

/** The time zone in which mysql2 reads and writes date-times: without an option that of the process. A blank stands for a plus in URLs. */
export function mysqlZone(dataSource: DataSource): WallZone {
  const { timezone } = mysqlOptions(dataSource);
  if (timezone === 'local') return 'local';
  const [, sign, hours, minutes] = /^([ +-])(\d\d):(\d\d)$/.exec(timezone) ?? [];
  // mysql2 takes every other text as UTC.
  if (sign === undefined) return UTC;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
