import { describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { warningsOfOptions } from './check-data-source.js';

/** A data source whose driver has loaded a class with these methods. */
function sqliteWith(...methods: readonly string[]): DataSource {
  const prototype = Object.fromEntries(methods.map((name) => [name, () => undefined]));
  return { options: { type: 'better-sqlite3' }, driver: { sqlite: { prototype } } } as unknown as DataSource;
}

const VERSION_12 = ['prepare', 'pragma', 'unsafeMode', 'defaultSafeIntegers'];

describe('better-sqlite3', () => {
  test.each(['24.0.0', '24.21.0', '26.12.1', '30.0.0'])(
    'before version 13 is a warning on Node %s',
    (node) => {
      expect(warningsOfOptions(sqliteWith(...VERSION_12), node)).toEqual([
        `better-sqlite3 before version 13 aborts the process (SIGABRT) on Node ${node}, at any time. Install better-sqlite3@13, and set "overrides": { "typeorm": { "better-sqlite3": "$better-sqlite3" } } in package.json, because TypeORM requests version 12.`,
      ]);
    },
  );

  test.each([
    ['before version 13 on Node 20', '20.19.0', VERSION_12],
    ['before version 13 on Node 22', '22.23.3', VERSION_12],
    ['from version 13', '24.21.0', [...VERSION_12, 'explain']],
    ['with encryption, which is another package', '24.21.0', [...VERSION_12, 'key']],
    ['in name alone', '24.21.0', ['prepare']],
  ])('%s is none', (_, node, methods) => {
    expect(warningsOfOptions(sqliteWith(...methods), node)).toEqual([]);
  });

  test('without a loaded class does not exist', () => {
    const dataSource = { options: { type: 'better-sqlite3' }, driver: {} } as unknown as DataSource;
    expect(warningsOfOptions(dataSource, '24.21.0')).toEqual([]);
  });
});
