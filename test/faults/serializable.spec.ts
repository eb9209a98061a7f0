// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import type { Answer, Client } from '../support/client.js';
import type { TestDatabase } from '../support/databases.js';
import { onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** More than a write of one object has attempts. */
const CALLERS = 7;
const ROWS_OF_EACH = 14;
const ROWS = CALLERS * ROWS_OF_EACH;

@Restify({ app: 'serial', name: 'row', bulk: true, filterFields: { part: ['exact'], n: ['exact', 'gte'] } })
@Entity('serial_row')
class SerialRow {
  @PrimaryColumn() id: number;
  @Column() part: number;
  @Column({ default: 0 }) n: number;
}

const URL = '/rest/v1/serial/row/';

interface Pool {
  on(event: string, listen: (connection: { query(sql: string): unknown }) => void): void;
}

/** With a connection for each caller. */
function withConnections(database: TestDatabase): TestDatabase {
  const open = async (): ReturnType<TestDatabase['open']> => {
    const opened = await database.open();
    const { extra } = opened.options as { readonly extra?: object };
    const max = database.name === 'postgres' ? { max: CALLERS } : { connectionLimit: CALLERS };
    const options = { ...opened.options, extra: { ...extra, ...max } } as DataSourceOptions;
    return { ...opened, options };
  };
  return { ...database, open };
}

/** Makes SERIALIZABLE the default of all sessions, as a setting of the server would. */
async function makeSerializable({ name }: TestDatabase, { dataSource }: StartedApp): Promise<void> {
  const isPostgres = name === 'postgres';
  const set = isPostgres
    ? 'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE'
    : 'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE';
  const { master, pool } = dataSource.driver as unknown as { readonly master: Pool; readonly pool: Pool };
  (isPostgres ? master : pool).on(isPostgres ? 'connect' : 'connection', (connection) => {
    void connection.query(set);
  });
  const runners = Array.from({ length: CALLERS }, () => dataSource.createQueryRunner());
  await Promise.all(runners.map((runner) => runner.query(set)));
  await Promise.all(runners.map((runner) => runner.release()));
}

onEachServer('bulk writes at once, where transactions are SERIALIZABLE by default', (database) => {
  let started: StartedApp;
  let client: Client;
  beforeAll(async () => {
    started = await startApp({ entities: [SerialRow], database: withConnections(database), compare: false });
    client = started.client;
    await makeSerializable(database, started);
  });
  beforeEach(async () => {
    await started.dataSource.createQueryBuilder().delete().from(SerialRow).execute();
    const rows = Array.from({ length: ROWS }, (_, at) => ({ id: at + 1, part: at % CALLERS }));
    await started.dataSource.getRepository(SerialRow).insert(rows);
  });
  afterAll(() => started.close());

  const statuses = async (write: (caller: number) => Promise<Answer>): Promise<readonly number[]> => {
    const answers = await Promise.all(Array.from({ length: CALLERS }, (_, caller) => write(caller)));
    return answers.map(({ status }) => status);
  };
  const all = (status: number): readonly number[] => Array.from({ length: CALLERS }, () => status);
  const keysOf = (caller: number): readonly number[] =>
    Array.from({ length: ROWS_OF_EACH }, (_, at) => at * CALLERS + caller + 1);
  const change = (keys: readonly number[], n: number): Promise<Answer> =>
    client.patch(
      URL,
      keys.map((id) => ({ id, n })),
    );

  test('change rows by keys', async () => {
    expect(await statuses((caller) => change(keysOf(caller), caller + 1))).toEqual(all(200));
    expect(await statuses((caller) => change(keysOf(1), caller + 1))).toEqual(all(200));
  }, 60_000);

  test('change rows by a filter', async () => {
    const own = (caller: number): Promise<Answer> =>
      client.patch(`${URL}?part=${caller}`, { n: 10 + caller });
    expect(await statuses(own)).toEqual(all(200));
    const same = (caller: number): Promise<Answer> => client.patch(`${URL}?n__gte=10`, { n: 100 + caller });
    expect(await statuses(same)).toEqual(all(200));
  }, 60_000);

  test('delete rows by keys, and by a filter', async () => {
    expect(await statuses((caller) => client.delete(`${URL}?keys=${keysOf(caller).join(',')}`))).toEqual(
      all(204),
    );
    expect(await started.dataSource.getRepository(SerialRow).count()).toBe(0);
    await started.dataSource
      .getRepository(SerialRow)
      .insert(Array.from({ length: ROWS }, (_, at) => ({ id: at + 1, part: at % CALLERS })));
    expect(await statuses((caller) => client.delete(`${URL}?part=${caller}`))).toEqual(all(204));
    expect(await started.dataSource.getRepository(SerialRow).count()).toBe(0);
  }, 60_000);
});
