// @tags db nest
import { afterEach, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { request } from 'node:http';
import type { ClientRequest, Server } from 'node:http';
import { PageNumberPagination, Restify, RestifyModule } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import { Column, DataSource, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { DataSourceOptions, QueryRunner, Relation } from 'typeorm';
import { TypeOrmConnections } from '../../src/adapters/typeorm/connection/typeorm-connections.js';
import { chooseDialect } from '../../src/adapters/typeorm/data-source-dialect.js';
import { ConnectionManager } from '../../src/execution/connection/connection-manager.js';
import type { Statement } from '../../src/sql/statement.js';
import type { TestDatabase } from '../support/databases.js';
import { onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { AWAY, ENTITIES, JOBS } from './domain.js';
import { faultyServer, lentOut, pause, until } from './faulty-server.js';
import type { FaultyServer } from './faulty-server.js';

/** Views whose rows take their time to be read: `sleeps` seconds each. */
@Restify({ app: 'works', shape: true, expandable: ['naps'] })
@Entity('works_bed')
class Bed {
  @PrimaryColumn()
  id: number;

  @OneToMany(() => Nap, (nap) => nap.bed)
  naps: Relation<Nap[]>;
}

@Restify({ app: 'works', filterFields: ['id'] })
@Entity('works_nap', { synchronize: false })
class Nap {
  @PrimaryColumn()
  id: number;

  @Column({ length: 20 })
  slept: string;

  @ManyToOne(() => Bed, (bed) => bed.naps, { createForeignKeyConstraints: false })
  bed: Relation<Bed>;
}

const NAPS = '/rest/v1/works/nap/';
const LONG = `${NAPS}?id=1`;
const SHORT = `${NAPS}?id=2`;

let started: StartedApp | undefined;
let server: FaultyServer | undefined;
const held: QueryRunner[] = [];

afterEach(async () => {
  for (const runner of held.splice(0)) {
    await runner.query('ROLLBACK').catch(() => undefined);
    await runner.release();
  }
  server?.flow();
  await started?.close();
  await server?.leave();
  started = server = undefined;
});

async function start(
  database: TestDatabase,
  restify: RestifyModuleOptions = {},
): Promise<{ readonly app: StartedApp; readonly faulty: FaultyServer }> {
  const faulty = (server = faultyServer(database));
  const app = (started = await startApp({
    compare: false,
    entities: [...ENTITIES, Bed, Nap],
    database: faulty.database,
    restifyModules: [
      RestifyModule.forRoot('rest/v1', restify),
      RestifyModule.forRoot('paged', {
        ...restify,
        pagination: new PageNumberPagination({ count: 'exact' }),
      }),
    ],
  }));
  await app.dataSource.getRepository(Bed).insert([{ id: 1 }, { id: 2 }]);
  const sleep = (seconds: string): string =>
    database.name === 'postgres' ? `CAST(pg_sleep(${seconds}) AS text)` : `CAST(SLEEP(${seconds}) AS CHAR)`;
  await app.dataSource.query(
    `CREATE VIEW works_nap AS SELECT id, id AS ${database.name === 'postgres' ? '"bedId"' : 'bedId'}, ${sleep('CASE id WHEN 1 THEN 20 ELSE 0.7 END')} AS slept FROM works_bed`,
  );
  await app.client.post(JOBS, { code: 'first' });
  return { app, faulty };
}

function open(app: StartedApp, path: string): ClientRequest {
  const outgoing = request({ host: '127.0.0.1', port: app.port, path, agent: false }, (incoming) =>
    incoming.resume(),
  );
  outgoing.on('error', () => undefined);
  outgoing.end();
  return outgoing;
}

/** MariaDB tells of transactions as they were at the last question, where that is no tenth of a second ago. */
async function areBusy(faulty: FaultyServer, count: number): Promise<boolean> {
  await pause(150);
  return (await faulty.sessions()).busy === count;
}

async function expectIdle({ dataSource, client }: StartedApp, faulty: FaultyServer): Promise<void> {
  await until(
    async () => (await areBusy(faulty, 0)) && lentOut(dataSource).lent === 0,
    () => lentOut(dataSource),
  );
  const answers = await Promise.all(Array.from({ length: 4 }, () => client.get(JOBS)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
}

onEachServer('a reading statement of a client that has disconnected', (database) => {
  test.each([
    ['a list', LONG],
    ['a page', '/paged/works/nap/?id=1'],
    ['an object', `${NAPS}1/`],
    ['a nested list', '/rest/v1/works/bed/1/naps/'],
    ['what is expanded', '/rest/v1/works/bed/1/?expand=naps'],
  ])(
    'of %s is cancelled at the server, and its connection is good for the next one',
    async (_title, path) => {
      const { app, faulty } = await start(database);
      const asked = Array.from({ length: 3 }, () => open(app, path));
      await until(() => areBusy(faulty, 3));
      for (const each of asked) each.destroy();
      // Of twenty seconds.
      await until(
        () => areBusy(faulty, 0),
        () => 'busy',
        8_000,
      );
      await expectIdle(app, faulty);
      const { all } = await faulty.sessions();
      expect(all).toBeLessThanOrEqual(4);
    },
  );

  test('is no failure that belongs into the log', async () => {
    const logged: unknown[] = [];
    const { app, faulty } = await start(database);
    app.app.useLogger({
      log: () => undefined,
      warn: () => undefined,
      error: (text: unknown) => void logged.push(text),
    });
    const asked = open(app, LONG);
    await until(() => areBusy(faulty, 1));
    asked.destroy();
    await expectIdle(app, faulty);
    app.app.useLogger(false);
    expect(logged).toEqual([]);
  });

  test('goes on where the client has only ended its sending side', async () => {
    const { app } = await start(database);
    // Otherwise Node itself closes the connection.
    (app.app.getHttpServer() as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
    const socket = connect({ port: app.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(`GET ${SHORT} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1.1 200 [\s\S]*"id":2/);
  });

  test('is thrown away with its connection where the server does not answer the cancel', async () => {
    const { app, faulty } = await start(database);
    const asked = open(app, LONG);
    await until(() => areBusy(faulty, 1));
    faulty.stall();
    asked.destroy();
    await until(
      () => lentOut(app.dataSource).lent === 0,
      () => lentOut(app.dataSource),
      6_000,
    );
    faulty.flow();
    await until(async () => (await app.client.get(JOBS)).status === 200);
  });
});

onEachServer('2,000 cancels', (database) => {
  test('cancel only their own statement, and not the next one on the connection', async () => {
    const opened = await database.open();
    const pool = {
      poolSize: 20,
      extra: {
        ...(opened.options.extra as object | undefined),
        ...(database.name === 'postgres' ? { max: 20 } : {}),
      },
    };
    const dataSource = await new DataSource({ ...opened.options, ...pool } as DataSourceOptions).initialize();
    const port = new TypeOrmConnections(dataSource, 30_000);
    const connections = new ConnectionManager(port, chooseDialect(dataSource), {
      acquireTimeout: 30_000,
      statementTimeout: undefined,
      fairShare: false,
    });
    const statement = (expression: string): Statement => ({ sql: `SELECT ${expression}`, parameters: [] });
    // On MariaDB, the sleeping statements of all sessions share one mutex: of two that are killed at the same time, one
    // KILL QUERY can take 2 s. So the statements wait for a row instead.
    const holder = dataSource.createQueryRunner();
    if (database.name === 'mariadb') {
      await holder.query('CREATE TABLE held (id int PRIMARY KEY)');
      await holder.query('INSERT INTO held VALUES (1)');
      await holder.query('START TRANSACTION');
      await holder.query('SELECT id FROM held FOR UPDATE');
    }
    const long = statement(database.name === 'postgres' ? 'pg_sleep(30)' : 'id FROM held FOR UPDATE');
    const short = statement(database.name === 'postgres' ? 'pg_sleep(0.003)' : 'SLEEP(0.003)');
    const outcomes = { cancelled: 0, next: 0, hit: 0 };
    const round = async (): Promise<void> => {
      let asked = 0;
      // Still there when there is a connection, and gone when it is looked for.
      const cancelled = await connections.readUnlessAborted(long, {
        caller: undefined,
        isAborted: () => asked++ > 0,
      });
      if (cancelled === undefined) outcomes.cancelled++;
      await Promise.resolve(connections.read(short, 'primary')).then(
        () => outcomes.next++,
        () => outcomes.hit++,
      );
    };
    // More than there are connections, so that somebody waits for each.
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        for (let count = 0; count < 50; count += 1) await round();
      }),
    );
    await holder.query('ROLLBACK');
    await holder.release();
    await dataSource.destroy();
    await opened.drop();
    expect(outcomes).toEqual({ cancelled: 2000, next: 2000, hit: 0 });
  });
});

onEachServer('a statement that writes', (database) => {
  test('is not cancelled when its client goes, nor when it takes longer than statements may read', async () => {
    const { app, faulty } = await start(database, { statementTimeout: 200 });
    const blocker = await faulty.runner();
    held.push(blocker);
    for (const sql of ['START TRANSACTION', 'SELECT id FROM works_job WHERE id = 1 FOR UPDATE'])
      await blocker.query(sql);
    const outgoing = request({
      host: '127.0.0.1',
      port: app.port,
      path: `${JOBS}1/`,
      method: 'PATCH',
      agent: false,
      headers: { 'content-type': 'application/json' },
    });
    outgoing.on('error', () => undefined);
    outgoing.end('{"votes": 7}');
    const patched = app.client.patch(`${JOBS}1/`, { code: 'second' });
    await until(() => lentOut(app.dataSource).lent === 2);
    await pause(100);
    outgoing.destroy();
    await pause(600);
    expect(lentOut(app.dataSource).lent).toBe(2);
    await blocker.query('ROLLBACK');
    expect((await patched).status).toBe(200);
    await expectIdle(app, faulty);
    expect((await app.client.get(`${JOBS}1/`)).json).toEqual(
      expect.objectContaining({ code: 'second', votes: 7 }),
    );
  });
});

onEachServer('statementTimeout', (database) => {
  test('ends what reads for longer, with 503, and its connection is good for the next one', async () => {
    const { app, faulty } = await start(database, { statementTimeout: 300 });
    const answers = await Promise.all(
      [LONG, `${NAPS}1/`, '/rest/v1/works/bed/1/naps/', '/rest/v1/works/bed/1/?expand=naps'].map((path) =>
        app.client.get(path),
      ),
    );
    for (const { status, json, headers } of answers)
      expect([status, json, headers['retry-after']]).toEqual([503, AWAY, '5']);
    await expectIdle(app, faulty);
  });

  test('of false lets a statement take its time', async () => {
    const { app } = await start(database, { statementTimeout: false });
    expect((await app.client.get(SHORT)).status).toBe(200);
  });

  test('ends what reads for longer where the server answers neither it nor the cancel', async () => {
    const { app, faulty } = await start(database, { statementTimeout: 300 });
    faulty.stall();
    const { status, json } = await app.client.get(JOBS);
    expect([status, json]).toEqual([503, AWAY]);
    faulty.flow();
    await until(async () => (await app.client.get(JOBS)).status === 200);
  });
});
