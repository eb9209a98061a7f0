import type { DataSource } from 'typeorm';

/** Databases that speak the same SQL for all that this adapter writes. */
export type DialectFamily = 'sqlite' | 'postgres' | 'mysql';

const FAMILIES: Readonly<Record<string, DialectFamily>> = {
  'better-sqlite3': 'sqlite',
  sqljs: 'sqlite',
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
};

/** The family of a data source's driver; undefined for one that this adapter does not know. */
export function knownDialectFamily(dataSource: DataSource): DialectFamily | undefined {
  return FAMILIES[dataSource.options.type];
}

export function dialectFamily(dataSource: DataSource): DialectFamily {
  return knownDialectFamily(dataSource) ?? 'sqlite';
}
