// @tags db nest
import { afterEach, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import { MysqlQueryRunner } from 'typeorm/driver/mysql/MysqlQueryRunner.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { hasKnownTransactions, SqliteRunner } from '../../src/internals/typeorm.js';
import { problemsOf } from '../boot/refused-start.js';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';

@Restify('runners')
@Entity('runners_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  text: string;
}

const SETTINGS = { entities: [Note] };

type RunnerClass = { readonly prototype: object };
type Prototype = Record<string, unknown>;
type Method = (this: Record<string, unknown>, ...parameters: readonly unknown[]) => unknown;

const restores: (() => void)[] = [];

afterEach(() => {
  for (const restore of restores.splice(0).reverse()) restore();
});

/** Replaces a method of a class of TypeORM, or of its base class, until the test has ended. */
function replaceMethod(of: RunnerClass, name: string, replace: (method: Method) => Method | undefined): void {
  const prototype = of.prototype as Prototype;
  const own = Object.getOwnPropertyDescriptor(prototype, name);
  const value = replace(prototype[name] as Method);
  Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  restores.push(() => {
    if (own) Object.defineProperty(prototype, name, own);
    else Reflect.deleteProperty(prototype, name);
  });
}

/** Query runners whose statements have another text. */
function rewriteStatements(pattern: RegExp, by: string): void {
  for (const name of ['startTransaction', 'commitTransaction', 'rollbackTransaction'])
    replaceMethod(
      BetterSqlite3QueryRunner,
      name,
      (method) =>
        function (this, ...parameters) {
          const query = this.query as Method;
          const proxy: Record<string, unknown> = new Proxy(this, {
            get: (target, key): unknown =>
              key === 'query'
                ? (sql: string, ...more: readonly unknown[]) =>
                    query.call(target, sql.replace(pattern, by), ...more)
                : Reflect.get(target, key),
          });
          return method.apply(proxy, [...parameters]);
        },
    );
}

/** Query runners that prepare statements by another function. */
function bypassGetStmt(): void {
  const { getStmt } = BetterSqlite3QueryRunner.prototype as unknown as Prototype;
  replaceMethod(
    BetterSqlite3QueryRunner,
    'query',
    (query) =>
      function (this, ...parameters) {
        return query.apply(Object.create(this, { getStmt: { value: getStmt } }) as typeof this, [
          ...parameters,
        ]);
      },
  );
}

/** Query runners that count their transactions under another name. */
function renameDepth(of: RunnerClass): void {
  const prototype = of.prototype as Prototype;
  Object.defineProperty(prototype, 'transactionDepth', {
    configurable: true,
    get: () => undefined,
    set: () => undefined,
  });
  restores.push(() => {
    Reflect.deleteProperty(prototype, 'transactionDepth');
  });
}

function refused(type: string): RegExp {
  return new RegExp(
    `^the data source of type "${type}": typeorm \\d+\\.\\d+\\.\\d+ runs transactions in another way than this package knows\\. Install the version of typeorm that the application had before, and report it\\.$`,
  );
}

onEachDatabase(
  "TypeORM's query runner of SQLite",
  () => {
    test('has the known form, and serves writes', async () => {
      const started = await startApp(SETTINGS);
      try {
        const runner = started.dataSource.createQueryRunner();
        expect(SqliteRunner.probe(runner, 'better-sqlite3')?.depth).toBe(0);
        expect(await hasKnownTransactions(runner)).toBe(true);
        expect((await started.client.post('/rest/v1/runners/note/', { text: 'a' })).text).toBe(
          '{"id":1,"text":"a"}',
        );
      } finally {
        await started.close();
      }
    });

    test.each([
      [
        'without getStmt',
        () => {
          bypassGetStmt();
          replaceMethod(BetterSqlite3QueryRunner, 'getStmt', () => undefined);
        },
      ],
      ['whose query does not call getStmt', bypassGetStmt],
      [
        'with another BEGIN',
        () => {
          rewriteStatements(/^BEGIN TRANSACTION$/, 'BEGIN');
        },
      ],
      [
        'with another COMMIT',
        () => {
          rewriteStatements(/^COMMIT$/, 'END');
        },
      ],
      [
        'with other names of savepoints',
        () => {
          rewriteStatements(/typeorm_/, 'save_');
        },
      ],
      [
        'with another counter',
        () => {
          renameDepth(BetterSqlite3QueryRunner);
        },
      ],
    ])('%s is refused at start, with the version of TypeORM', async (_, change) => {
      change();
      expect(await problemsOf(SETTINGS)).toEqual([expect.stringMatching(refused('better-sqlite3'))]);
    });
  },
  ['sqlite'],
);

onEachServer("TypeORM's query runner of a server", (database) => {
  test('with another counter of transactions is refused at start, with the version of TypeORM', async () => {
    for (const each of [PostgresQueryRunner, MysqlQueryRunner]) renameDepth(each);
    expect(await problemsOf({ ...SETTINGS, database, dataSource: { synchronize: false } })).toEqual([
      expect.stringMatching(refused('(postgres|mariadb|mysql)')),
    ]);
  });
});

describe('the probe of transactions', () => {
  test('calls no function that others have bound to the query runner', async () => {
    const started = await startApp(SETTINGS);
    try {
      const runner = started.dataSource.createQueryRunner();
      const called: string[] = [];
      for (const name of ['startTransaction', 'commitTransaction', 'query'] as const)
        Object.assign(runner, { [name]: () => called.push(name) });
      expect(await hasKnownTransactions(runner)).toBe(true);
      expect(called).toEqual([]);
      expect(runner.isTransactionActive).toBe(false);
      for (const name of ['startTransaction', 'commitTransaction', 'query'] as const)
        Reflect.deleteProperty(runner, name);
    } finally {
      await started.close();
    }
  });
});
