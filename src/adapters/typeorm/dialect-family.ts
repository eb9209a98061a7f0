import type { DataSource } from 'typeorm';

/** Databases with the same SQL dialect, as far as this adapter uses it. */
export type DialectFamily = 'sqlite' | 'postgres' | 'mysql';

const FAMILIES: Readonly<Record<string, DialectFamily>> = {
  'better-sqlite3': 'sqlite',
  sqljs: 'sqlite',
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
};

/** The dialect family of a data source; undefined if its driver is not supported. */
export function knownDialectFamily(dataSource: DataSource): DialectFamily | undefined {
  return FAMILIES[dataSource.options.type];
}

/** As `knownDialectFamily`, for a data source whose driver has been checked. */
export function dialectFamily(dataSource: DataSource): DialectFamily {
  return knownDialectFamily(dataSource) ?? 'sqlite';
}
