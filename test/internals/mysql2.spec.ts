// @tags db nest
import { expect, test } from '@jest/globals';
import type { EventEmitter } from 'node:events';
import mysql from 'mysql2';
import type { PoolClusterOptions } from 'mysql2';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { DataSourceOptions, ReplicationMode } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import type { TestDatabase } from '../support/databases.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('clustered')
@Entity('clustered_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  text: string;
}

const NOTES = '/rest/v1/clustered/note/';

/** mysql2 whose clusters do not show their pools. */
const RENAMED = {
  ...mysql,
  createPoolCluster: (options: PoolClusterOptions) => hideNodes(mysql.createPoolCluster(options)),
};

function hideNodes(cluster: object): object {
  return new Proxy(cluster, {
    get: (target, name) => {
      const value: unknown = name === '_nodes' ? undefined : Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

interface Clustered extends StartedApp {
  readonly warnings: readonly string[];
}

/** An application that reads from a replica, which is the same server. */
async function startReplicated(database: TestDatabase, driver: object): Promise<Clustered> {
  const warnings: string[] = [];
  const open = async (): ReturnType<TestDatabase['open']> => {
    const opened = await database.open();
    const { url, ...common } = opened.options as { url: string } & DataSourceOptions;
    const replication = { master: { url }, slaves: [{ url }], restoreNodeTimeout: 100 };
    const options: object = { ...common, driver, connectorPackage: 'mysql2', replication };
    return { options: options as DataSourceOptions, drop: () => opened.drop() };
  };
  const started = await startApp({
    entities: [Note],
    database: { ...database, open },
    nest: {
      logger: {
        log: () => undefined,
        error: () => undefined,
        warn: (text: string) => warnings.push(text),
      },
    },
  });
  return { ...started, warnings };
}

/** The number of listeners to errors of a connection that requests have used. */
async function countListeners({ dataSource }: StartedApp, mode: ReplicationMode): Promise<number> {
  const runner = dataSource.createQueryRunner(mode);
  const connection = (await runner.connect()) as EventEmitter;
  await runner.release();
  return connection.listenerCount('error');
}

onEachDatabase(
  'the pools of a cluster of mysql2',
  (database) => {
    test.each([
      ['are found', mysql, []],
      [
        'under another name are a warning',
        RENAMED,
        [expect.stringMatching(/^mysql2 \d+\.\d+\.\d+ keeps the pools of `replication` in another way/)],
      ],
    ])('%s, and an error of a connection does not end the process', async (_, driver, warned) => {
      const started = await startReplicated(database, driver);
      try {
        expect(started.warnings.filter((text) => text.includes('mysql2'))).toEqual(warned);
        expect((await started.client.post(NOTES, { text: 'a' })).text).toBe('{"id":1,"text":"a"}');
        expect((await started.client.get(NOTES)).text).toBe('[{"id":1,"text":"a"}]');
        for (const mode of ['master', 'slave'] as const) {
          // mysql2's own listener is removed by the first error.
          expect(await countListeners(started, mode)).toBe(2);
          const runner = started.dataSource.createQueryRunner(mode);
          const connection = (await runner.connect()) as EventEmitter;
          for (const text of ['first', 'second']) connection.emit('error', new Error(text));
          await runner.release();
        }
        expect((await started.client.get(NOTES)).status).toBe(200);
      } finally {
        await started.close();
      }
    });
  },
  ['mariadb'],
);
