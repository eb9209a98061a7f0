// @tags core
import { afterEach, describe, expect, test } from '@jest/globals';
import { PageNumberPagination, Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { JsonReader } from '../../src/execution/read/json-reader.js';
import { RowReader } from '../../src/execution/read/row-reader.js';
import { DirectStatements } from '../../src/adapters/typeorm/write/direct-statements.js';
import { ModelSerializer } from '../../src/features/serialization/model-serializer.js';
import { startApp } from './start-app.js';
import type { AppSettings, StartedApp } from './start-app.js';

@Restify('compared')
@Entity('compared_thing')
class Thing {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
  @Column({ default: 7 }) whole: number;
}

@Restify({ app: 'compared', conditional: true })
@Entity('compared_kept')
class Kept {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

@Restify({ app: 'compared', pagination: new PageNumberPagination({ pageSize: 2 }) })
@Entity('compared_paged')
class Paged {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

const THINGS = '/rest/v1/compared/thing/';
const READ_PATHS = [THINGS, `${THINGS}1/`, '/rest/v1/compared/kept/1/', '/rest/v1/compared/paged/'];
const NOTHING = { pages: 0, rows: 0, askedPages: 0, created: 0, changed: 0 };

async function start(settings: Partial<AppSettings> = {}): Promise<StartedApp> {
  const started = await startApp({ entities: [Thing, Kept, Paged], ...settings });
  for (const entity of [Thing, Kept, Paged])
    await started.dataSource.getRepository(entity).insert([{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
  return started;
}

/** Replaces a method until the test ends. */
const replaced: (() => void)[] = [];
function replaceMethod(prototype: object, name: string, value: unknown): void {
  const before = Object.getOwnPropertyDescriptor(prototype, name);
  if (!before) throw new Error(`No ${name}`);
  Object.defineProperty(prototype, name, { ...before, value });
  replaced.push(() => Object.defineProperty(prototype, name, before));
}

/** Changes the serialization in the process, so that it differs from that of the database. */
function plantInReads(): void {
  replaceMethod(ModelSerializer.prototype, 'represent', () => ({ id: 1, text: 'planted' }));
}

afterEach(() => {
  for (const restore of replaced.splice(0)) restore();
});

test('each kind of read and write is counted for its application', async () => {
  const started = await start();
  for (const path of READ_PATHS) expect((await started.client.get(path)).status).toBe(200);
  expect(started.compared).toMatchObject({ ...NOTHING, pages: 1, rows: 2, askedPages: 1 });
  expect((await started.client.post(THINGS, { text: 'd' })).status).toBe(201);
  expect(started.compared).toMatchObject({ pages: 1, rows: 2, askedPages: 1, created: 1, changed: 1 });
  expect((await started.client.patch(`${THINGS}1/`, { text: 'e' })).status).toBe(200);
  expect(started.compared).toMatchObject({ created: 1, changed: 2 });
  expect(started.checked).toEqual({ described: READ_PATHS.length + 2, refused: 0 });
  await started.close();
});

test('an application with comparison and one without do not affect each other', async () => {
  const [with1, without, with2] = [await start(), await start({ compare: false }), await start()];
  for (const { client } of [with1, without, with2]) {
    for (const path of READ_PATHS) await client.get(path);
    await client.post(THINGS, { text: 'd' });
  }
  const all = { pages: 1, rows: 2, askedPages: 1, created: 1, changed: 1 };
  expect(with1.compared).toMatchObject(all);
  expect(without.compared).toMatchObject(NOTHING);
  expect(with2.compared).toMatchObject(all);
  plantInReads();
  expect((await with1.client.get(`${THINGS}1/`)).status).toBe(500);
  expect((await without.client.get(`${THINGS}1/`)).json).toEqual({ id: 1, text: 'a', whole: 7 });
  await without.close();
  expect((await with2.client.get(`${THINGS}1/`)).status).toBe(500);
  await expect(with1.close()).rejects.toThrow('planted');
  await expect(with2.close()).rejects.toThrow('planted');
});

describe('a planted difference fails the request, and the end of the application,', () => {
  test.each(READ_PATHS)('of GET %s', async (path) => {
    const started = await start();
    plantInReads();
    const failed = await started.client.get(path).then(
      ({ status }) => status === 500,
      () => true,
    );
    expect(failed).toBe(true);
    await expect(started.close()).rejects.toThrow(/Written is\n[^]*\nand the serializer makes\n[^]*planted/);
  });

  test.each([
    ['newRow', 'POST', THINGS],
    ['changesOf', 'PATCH', `${THINGS}1/`],
  ])('of what a write stores: %s', async (name, method, path) => {
    const started = await start();
    const build = Reflect.get(DirectStatements.prototype, name) as (...given: readonly object[]) => object;
    replaceMethod(
      DirectStatements.prototype,
      name,
      function (this: DirectStatements, plan: object, ...others: readonly object[]) {
        return build.call(this, { ...plan, values: new Map([['text', 'planted']]) }, ...others);
      },
    );
    expect((await started.client.send(method, path, { body: { text: 'd' } })).status).toBe(500);
    await expect(started.close()).rejects.toThrow(/text is written as .*planted.*, and by TypeORM as .*'d'/);
  });

  test('in the row that a write returns', async () => {
    const started = await start();
    const rowOf = Reflect.get(RowReader.prototype, 'rowOf') as (records: unknown) => object;
    replaceMethod(RowReader.prototype, 'rowOf', function (this: object, records: unknown) {
      return { ...rowOf.call(this, records), values: [1, 'planted', 7] };
    });
    expect((await started.client.patch(`${THINGS}1/`, { text: 'd' })).status).toBe(500);
    await expect(started.close()).rejects.toThrow('The statement returns');
  });

  test('between a body and the document', async () => {
    const started = await start();
    // SQLite stores any value in any column, and both paths return it.
    await started.dataSource.query("UPDATE compared_thing SET whole = 'seven'");
    await expect(started.client.get(`${THINGS}1/`)).rejects.toThrow('It does not match the schema');
    await expect(started.close()).rejects.toThrow('It does not match the schema');
  });
});

const UNCOMPARED: readonly (readonly [name: string, reader: object, path: string, result: unknown])[] = [
  ['list', JsonReader.prototype, THINGS, ''],
  [
    'row',
    JsonReader.prototype,
    `${THINGS}1/`,
    Promise.resolve({ text: '{"id":1,"text":"a","whole":7}', validatorValues: [] }),
  ],
];

test.each(UNCOMPARED)(
  'a comparison that does not run fails the end of the application: %s',
  async (name, reader, path, result) => {
    const started = await start();
    replaceMethod(reader, name, () => result);
    expect((await started.client.get(path)).status).toBe(200);
    await expect(started.close()).rejects.toThrow('1 answers to GET should have been compared');
  },
);
