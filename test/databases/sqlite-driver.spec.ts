// @tags nest
import { expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';

@Restify('driven')
@Entity('driven_row')
class DrivenRow {
  @PrimaryGeneratedColumn()
  id: number;
}

type SqliteClass = (new (...given: readonly unknown[]) => object) & { readonly prototype: object };

const NODE = Number(process.versions.node.split('.')[0]);

/** The class of better-sqlite3 that TypeORM loads. */
function loadedClass(): SqliteClass {
  const { driver } = new DataSource({ type: 'better-sqlite3', database: ':memory:' });
  return (driver as unknown as { readonly sqlite: SqliteClass }).sqlite;
}

/** Makes connections of the loaded class, and has the methods of version 12. */
function version12(): SqliteClass {
  const Loaded = loadedClass();
  function Database(...given: readonly unknown[]): object {
    return new Loaded(...given);
  }
  const descriptors: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(Loaded.prototype);
  const { explain: _, ...methods } = descriptors;
  Database.prototype = Object.create({}, methods) as object;
  return Database as unknown as SqliteClass;
}

async function warningsWith(driver?: SqliteClass): Promise<readonly string[]> {
  const warnings: string[] = [];
  const logger = {
    log: () => undefined,
    warn: (text: string) => warnings.push(text),
    error: () => undefined,
  };
  const dataSource = { type: 'better-sqlite3', database: ':memory:', ...(driver ? { driver } : {}) } as const;
  const started = await startApp({ entities: [DrivenRow], dataSource, nest: { logger } });
  await started.client.get('/rest/v1/driven/driven-row/');
  await started.close();
  return warnings.filter((text) => text.includes('better-sqlite3'));
}

// `explain` is new in version 13.
test('SQLite runs with better-sqlite3 13 on Node 22 and newer, and with 12 on Node 20', () => {
  expect('explain' in loadedClass().prototype).toBe(NODE >= 22);
});

test('better-sqlite3 12 on Node 24 is a warning at start, with the repair', async () => {
  expect(await warningsWith(version12())).toEqual(
    NODE < 24
      ? []
      : [expect.stringContaining('Install better-sqlite3@13, and set "overrides": { "typeorm": ')],
  );
  expect(await warningsWith()).toEqual([]);
});
