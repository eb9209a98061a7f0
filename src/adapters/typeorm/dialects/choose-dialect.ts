import type { DataSource } from 'typeorm';
import { dialectFamily } from './dialect-family.js';
import type { Dialect } from './dialect.js';
import { mysql } from './mysql.js';
import { postgres } from './postgres.js';
import { sqlite } from './sqlite.js';

/** The dialect of a data source; boot has refused drivers that have none. */
export function chooseDialect(dataSource: DataSource): Dialect {
  const family = dialectFamily(dataSource);
  switch (family) {
    case 'sqlite':
      return sqlite;
    case 'postgres':
      return postgres;
    case 'mysql': {
      const options = dataSource.options as { readonly timezone?: string; readonly type: string };
      const utc = options.timezone === 'Z' || options.timezone === '+00:00';
      return mysql(utc ? 'utc' : 'local', options.type === 'mariadb' ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin');
    }
    default:
      return family satisfies never;
  }
}
