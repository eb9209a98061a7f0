import { describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { chooseDialect } from './data-source-dialect.js';

describe('a data source of an unsupported type', () => {
  test.each([
    ['oracle', /this database is not supported.*Use better-sqlite3, sqljs, postgres, mariadb or mysql\./],
    [
      'aurora-postgres',
      /over HTTP to the Data API of Amazon.*Use postgres or mysql with the address of the cluster/,
    ],
    [
      'aurora-mysql',
      /over HTTP to the Data API of Amazon.*Use postgres or mysql with the address of the cluster/,
    ],
  ])('%s is rejected with the reason', (type, message) => {
    const dataSource = { options: { type } } as unknown as DataSource;
    expect(() => chooseDialect(dataSource)).toThrow(message);
    expect(() => chooseDialect(dataSource)).toThrow(`the data source of type "${type}"`);
  });
});
