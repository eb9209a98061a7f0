// @tags db nest
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { inspect } from 'node:util';
import pg from 'pg';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { runQuery } from '../../src/execution/connection/postgres-query.js';
import type { PostgresQuery } from '../../src/execution/connection/postgres-query.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'prepared', filterFields: { size: ['exact'] } })
@Entity('prepared_item')
class Item {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  word: string;

  @Column({ type: 'int' })
  size: number;
}

type Rows = (readonly unknown[])[];

/** The rows of a query that the package runs; rejects with the driver's error. */
function runUnnamed(
  client: pg.Client,
  text: string,
  values: readonly unknown[],
  name?: string,
): Promise<Rows> {
  const query = { text, values, rowMode: 'array' } as const;
  return new Promise((resolve, reject) => {
    runQuery(client, name === undefined ? query : { ...query, name }, (error, result) => {
      if (error) reject(error);
      else resolve(result?.rows ?? []);
    });
  });
}

/** The same of a query with a name. */
function run(client: pg.Client, text: string, values: readonly unknown[] = []): Promise<Rows> {
  return runUnnamed(client, text, values, text.slice(0, 60));
}

async function rowsOfPg(client: pg.Client, text: string, values: unknown[]): Promise<Rows> {
  return (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows;
}

/** Counts the requests for a description of columns that a client sends. */
function countDescriptions(client: pg.Client): () => number {
  const { connection } = client as unknown as { connection: { describe: (message: unknown) => void } };
  let count = 0;
  const describeColumns = connection.describe.bind(connection);
  connection.describe = (message) => {
    count += 1;
    describeColumns(message);
  };
  return () => count;
}

const QUERIES: readonly (readonly [string, unknown[]])[] = [
  ['SELECT 1', []],
  ['SELECT $1::text, $2::int, $3::bool, $4::text', ['ä😀\u0001"\\', 7, true, null]],
  ['SELECT $1::int8, $2::numeric, $3::float8', [9_007_199_254_740_993n, '1.50', 0.1]],
  ['SELECT $1::int8', [undefined]],
  [
    "SELECT now() > '2000-01-01'::timestamptz, '2026-01-02T03:04:05.678Z'::timestamptz, '2026-01-02'::date",
    [],
  ],
  [`SELECT '{"a": [1]}'::jsonb, '[2]'::json, '\\x00ff'::bytea, ARRAY[1, NULL, 3], '{a,"b c"}'::text[]`, []],
  ['SELECT g, NULL::text, g::text FROM generate_series(1, 5) g WHERE g < $1', [4]],
  ['SELECT 1 WHERE false', []],
  ['SELECT FROM generate_series(1, 2)', []],
  ["SELECT '11111111-1111-4111-8111-111111111111'::uuid, '1 day'::interval, 'x'::name, 'NaN'::float8", []],
  // pg converts these values.
  [
    'SELECT $1::timestamptz, $2::int[], $3::bytea, $4::jsonb',
    [new Date(0), [1, 2], Buffer.from('a'), { b: 1 }],
  ],
];

onEachDatabase(
  'prepared queries',
  (database) => {
    describe('on a client', () => {
      let client: pg.Client;
      beforeEach(async () => {
        client = new pg.Client({ connectionString: process.env.RESTIFY_TEST_POSTGRES });
        await client.connect();
      });
      afterEach(() => client.end());

      test.each(QUERIES)('return what pg returns, each time: %s', async (text, values) => {
        for (let time = 0; time < 3; time++) {
          const rows = await rowsOfPg(client, text, values);
          expect(await run(client, text, values)).toEqual(rows);
          expect(await runUnnamed(client, text, values)).toEqual(rows);
        }
      });

      test('without a name are parsed and described each time, and leave nothing prepared', async () => {
        await client.query('CREATE TEMP TABLE growing (a int)');
        await client.query('INSERT INTO growing VALUES (1)');
        const described = countDescriptions(client);
        const select = 'SELECT * FROM growing WHERE a = $1';
        expect(await runUnnamed(client, select, [1])).toEqual([[1]]);
        await client.query("ALTER TABLE growing ADD b int8 DEFAULT '9007199254740993'");
        expect(await runUnnamed(client, select, [1])).toEqual([[1, '9007199254740993']]);
        expect(described()).toBe(2);
        await expect(runUnnamed(client, 'SELECT 10 / $1::int', [0])).rejects.toMatchObject({ code: '22012' });
        await expect(runUnnamed(client, 'SELEC $1', [0])).rejects.toMatchObject({ code: '42601' });
        expect(await runUnnamed(client, 'SELECT 10 / $1::int', [5])).toEqual([[2]]);
        expect(await rowsOfPg(client, 'SELECT name FROM pg_prepared_statements', [])).toEqual([]);
      });

      test('have their columns described once', async () => {
        const described = countDescriptions(client);
        for (let time = 0; time < 3; time++)
          expect(await run(client, 'SELECT 5, $1::int', [time])).toEqual([[5, time]]);
        expect(described()).toBe(1);
        for (let time = 0; time < 3; time++)
          expect(await run(client, 'SET LOCAL work_mem = 4096')).toEqual([]);
        expect(described()).toBe(2);
      });

      test('can be run without waiting for each other', async () => {
        const texts = ['SELECT 1', "SELECT 'b'", 'SELECT 1', 'SELECT 1 / 0', "SELECT 'b'", 'SELECT true'];
        const settled = await Promise.allSettled(texts.map((text) => run(client, text)));
        expect(settled.map((each) => (each.status === 'fulfilled' ? each.value[0]?.[0] : 'error'))).toEqual([
          1,
          'b',
          1,
          'error',
          'b',
          true,
        ]);
      });

      test('report errors of the server, and leave the client usable', async () => {
        const divide = 'SELECT 10 / $1::int';
        expect(await run(client, divide, [5])).toEqual([[2]]);
        await expect(run(client, divide, [0])).rejects.toMatchObject({ code: '22012' });
        await expect(run(client, divide, ['x'])).rejects.toMatchObject({ code: '22P02' });
        await expect(run(client, 'SELEC 1')).rejects.toMatchObject({ code: '42601' });
        await expect(run(client, 'SELEC 1')).rejects.toMatchObject({ code: '42601' });
        await expect(run(client, 'SELECT $1::int', [])).rejects.toMatchObject({ code: '08P01' });
        expect(await run(client, divide, [2])).toEqual([[5]]);
      });

      test('report a part of the rows as the error that ended them', async () => {
        const failing = 'SELECT 1 / (3 - g) FROM generate_series(1, $1::int) g';
        expect(await run(client, failing, [2])).toEqual([[0], [1]]);
        await expect(run(client, failing, [5])).rejects.toMatchObject({ code: '22012' });
        expect(await run(client, failing, [1])).toEqual([[0]]);
      });

      test('use parsers that the application sets meanwhile, and report their errors', async () => {
        expect(await run(client, 'SELECT 8::int8')).toEqual([['8']]);
        client.setTypeParser(pg.types.builtins.INT8, (text: string) => BigInt(text));
        expect(await run(client, 'SELECT 8::int8')).toEqual([[8n]]);
        client.setTypeParser(pg.types.builtins.INT8, () => {
          throw new Error('of the parser');
        });
        await expect(run(client, 'SELECT 8::int8')).rejects.toThrow('of the parser');
        expect(await run(client, 'SELECT 1')).toEqual([[1]]);
      });

      test('fail after a change of their columns, and after a loss of their statement, as queries of pg do', async () => {
        await client.query('CREATE TEMP TABLE changing (a int)');
        await client.query('INSERT INTO changing VALUES (1)');
        expect(await run(client, 'SELECT * FROM changing')).toEqual([[1]]);
        await client.query('ALTER TABLE changing ADD b text');
        await expect(run(client, 'SELECT * FROM changing')).rejects.toMatchObject({ code: '0A000' });
        expect(await run(client, 'SELECT 1')).toEqual([[1]]);
        await client.query('DEALLOCATE ALL');
        await expect(run(client, 'SELECT 1')).rejects.toMatchObject({ code: '26000' });
      });

      test('never copy', async () => {
        await client.query('CREATE TEMP TABLE copied (a int)');
        await expect(run(client, 'COPY copied FROM STDIN')).rejects.toMatchObject({ code: '57014' });
        expect(await run(client, 'SELECT count(*)::int FROM copied')).toEqual([[0]]);
      });

      test('end by the `query_timeout` of the client', async () => {
        const hasty = new pg.Client({
          connectionString: process.env.RESTIFY_TEST_POSTGRES,
          query_timeout: 100,
        });
        await hasty.connect();
        await expect(run(hasty, 'SELECT pg_sleep(1)')).rejects.toThrow('Query read timeout');
        await hasty.end();
      });

      test('fail when the connection ends, and on a client that has ended', async () => {
        const doomed = new pg.Client({ connectionString: process.env.RESTIFY_TEST_POSTGRES });
        doomed.on('error', () => undefined);
        await doomed.connect();
        const ended = new Promise<void>((resolve) => void doomed.once('end', resolve));
        const [[pid] = []] = await run(doomed, 'SELECT pg_backend_pid()');
        // The query may fail before the answer to the termination arrives.
        const failed = expect(run(doomed, 'SELECT pg_sleep(5)')).rejects.toMatchObject({ code: '57P01' });
        await client.query('SELECT pg_terminate_backend($1)', [pid]);
        await failed;
        // A statement before it may be sent, and fail by the closed connection.
        await ended;
        await expect(run(doomed, 'SELECT 1')).rejects.toThrow(/not queryable/);
      });

      const instrumentations: readonly (readonly [string, (config: object) => object])[] = [
        ['copies', (config) => ({ ...config })],
        ['clones', (config) => structuredClone(config)],
        ['inherits from', (config) => Object.create(config) as object],
        ['logs', (config) => (logged.push(JSON.stringify(config)), config)],
      ];
      const logged: string[] = [];

      test.each(instrumentations)(
        'survive an instrumentation that %s the configuration of each query',
        async (_, pass) => {
          const query = client.query.bind(client) as (config: object, callback: unknown) => unknown;
          client.query = ((config: object, callback: unknown) => query(pass(config), callback)) as never;
          for (let time = 0; time < 2; time++)
            expect(await run(client, 'SELECT $1::int, 2', [time])).toEqual([[time, 2]]);
        },
      );

      test('have nothing of the client in a log', async () => {
        expect(logged.map((each) => JSON.parse(each) as unknown)).toEqual(
          ['0', '1'].map((value) => ({
            name: 'SELECT $1::int, 2',
            text: 'SELECT $1::int, 2',
            values: [value],
            rowMode: 'array',
          })),
        );
        let inspected = '';
        const query = client.query.bind(client) as (config: object, callback: unknown) => unknown;
        client.query = ((config: object, callback: unknown) => {
          inspected = inspect(config, { depth: null, showHidden: true });
          return query(config, callback);
        }) as never;
        await run(client, 'SELECT 1');
        expect(inspected).toContain('SELECT 1');
        expect(inspected).not.toMatch(/secretKey|connectionParameters|socket/i);
      });

      test('report a message that cannot be sent, and leave the client usable', async () => {
        const { connection } = client as unknown as { connection: { bind: (message: unknown) => void } };
        const bind = connection.bind;
        connection.bind = () => {
          throw new Error('too long');
        };
        await expect(run(client, 'SELECT 1')).rejects.toThrow('too long');
        connection.bind = bind;
        expect(await run(client, 'SELECT 1')).toEqual([[1]]);
        expect(await run(client, 'SELECT 2')).toEqual([[2]]);
      });
    });

    test('are plain configurations for other clients', () => {
      const configuration: PostgresQuery = { name: 'n', text: 'SELECT 1', values: [], rowMode: 'array' };
      const connection = Object.fromEntries(
        ['parse', 'bind', 'describe', 'execute', 'sync', 'sendCopyFail'].map((name) => [
          name,
          () => undefined,
        ]),
      );
      const complete = { connection: { ...connection, parsedStatements: {} }, getTypeParser: () => String };
      const others = [{}, { connection }, { ...complete, pipeline: true }, { ...complete, binary: true }];
      const passed = (client: object, query: PostgresQuery): unknown => {
        let seen: unknown;
        runQuery({ ...client, query: (given: unknown) => (seen = given) }, query, () => undefined);
        return seen;
      };
      for (const other of others) expect(passed(other, configuration)).toBe(configuration);
      const { name: _, ...unnamed } = configuration;
      // pg may send it as text, without values.
      expect(passed(complete, unnamed)).toBe(unnamed);
      expect(passed(complete, { ...unnamed, values: [1] })).toMatchObject({
        text: 'SELECT 1',
        values: ['1'],
      });
      expect(passed(complete, configuration)).not.toBe(configuration);
    });

    describe('of an application', () => {
      let started: StartedApp;
      beforeAll(async () => {
        started = await startApp({ compare: false, entities: [Item], database });
        await started.dataSource.getRepository(Item).insert([
          { word: 'a', size: 1 },
          { word: 'b', size: 2 },
        ]);
      });
      afterAll(() => started.close());

      test('respond after a migration of the columns, as before it', async () => {
        const { client, dataSource } = started;
        const sizes = async (): Promise<unknown> =>
          ((await client.get('/rest/v1/prepared/item/')).json as { size: unknown }[]).map(({ size }) => size);
        for (let time = 0; time < 6; time++) expect(await sizes()).toEqual([1, 2]);
        await dataSource.query('ALTER TABLE prepared_item ALTER size TYPE smallint');
        for (let time = 0; time < 6; time++) expect(await sizes()).toEqual([1, 2]);
        for (let time = 0; time < 6; time++)
          expect((await client.patch('/rest/v1/prepared/item/1/', { size: time })).json).toMatchObject({
            size: time,
          });
        await dataSource.query('ALTER TABLE prepared_item ALTER size TYPE int');
        for (let time = 0; time < 6; time++)
          expect((await client.patch('/rest/v1/prepared/item/1/', { size: time })).json).toMatchObject({
            size: time,
          });
      });

      test('respond to many callers at once, each with its own rows', async () => {
        const { client } = started;
        const callers = Array.from({ length: 60 }, async (_, index) => {
          const word = `w${index}`;
          const made = await client.post('/rest/v1/prepared/item/', { word, size: 1000 + index });
          expect(made.status).toBe(201);
          const { id } = made.json as { id: number };
          const [one, list] = await Promise.all([
            client.get(`/rest/v1/prepared/item/${id}/`),
            client.get(`/rest/v1/prepared/item/?size=${1000 + index}`),
          ]);
          expect(one.json).toMatchObject({ id, word });
          expect(list.json).toMatchObject([{ id, word }]);
        });
        await Promise.all(callers);
      });
    });
  },
  ['postgres'],
);
