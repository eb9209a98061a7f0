// @tags db nest
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import type { TestDatabase } from '../support/databases.js';
import { startApp } from '../support/start-app.js';

@Restify('marked')
@Entity('marked_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  text: string;
}

const NOTES = '/rest/v1/marked/note/';

/** A client that shows its marks under other names, so that pg's pool closes it after each use. */
class RenamedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    return new Proxy(this, {
      get: (target, name): unknown => {
        const value: unknown = name === '_queryable' ? undefined : Reflect.get(target, name);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }
}

/** The warnings of an application, and the responses to requests that wait for two connections. */
async function serve(database: TestDatabase, extra: object): Promise<object> {
  const warnings: string[] = [];
  const open = async (): ReturnType<TestDatabase['open']> => {
    const opened = await database.open();
    const common: { readonly extra?: object } = opened.options;
    const options: object = { ...common, poolSize: 2, extra: { ...common.extra, ...extra } };
    return { options: options as DataSourceOptions, drop: () => opened.drop() };
  };
  const started = await startApp({
    entities: [Note],
    database: { ...database, open },
    nest: {
      logger: { log: () => undefined, error: () => undefined, warn: (text: string) => warnings.push(text) },
    },
  });
  try {
    const created = await started.client.post(NOTES, { text: 'a' });
    const read = await Promise.all(Array.from({ length: 12 }, () => started.client.get(`${NOTES}1/`)));
    return {
      warnings: warnings.filter((text) => text.startsWith('pg ')),
      responses: [created, ...read].map(({ status, text }) => [status, text]),
    };
  } finally {
    await started.close();
  }
}

onEachDatabase(
  'the marks of clients of pg',
  (database) => {
    test.each([
      ['are found', {}, []],
      [
        'under another name are a warning, and change no response',
        { Client: RenamedClient },
        [expect.stringMatching(/^pg 8\.\d+\.\d+ marks connections that are not used again in another way/)],
      ],
    ])('%s', async (_, extra, warnings) => {
      const body = '{"id":1,"text":"a"}';
      const responses = [[201, body], ...Array.from({ length: 12 }, () => [200, body])];
      expect(await serve(database, extra)).toEqual({ warnings, responses });
    });
  },
  ['postgres'],
);
