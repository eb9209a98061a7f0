// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ResourceController, Restify, RestifyController, where } from 'nestjs-restify';
import type { AccessContext, RowFilter } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { seen } from '../features/nested-answers.js';

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'] as const;

@Restify({ app: 's8', shape: true, expandable: ['leaves', 'leaves.tree.leaves'] })
@Entity('s8_tree')
class Tree {
  @PrimaryColumn() id: number;
  @Column({ default: '' }) a: string;
  @Column({ default: '' }) b: string;
  @Column({ default: '' }) c: string;
  @Column({ default: '' }) d: string;
  @Column({ default: '' }) e: string;
  @Column({ default: '' }) f: string;
  @Column({ default: '' }) g: string;
  @Column({ default: '' }) h: string;
  @Column({ default: '' }) i: string;
  @OneToMany(() => Leaf, (leaf) => leaf.tree) leaves: Relation<Leaf[]>;
}

@Restify({ app: 's8', shape: true, expandable: ['tree'] })
@Entity('s8_leaf')
class Leaf {
  @PrimaryColumn() id: number;
  @Column({ default: 'open' }) kind: string;
  @ManyToOne(() => Tree, (tree) => tree.leaves) tree: Relation<Tree>;
}

/** A scope is a rule of the model, on every way to its rows. */
@RestifyController(Leaf)
class LeafController extends ResourceController<Leaf> {
  override scope(_: AccessContext): RowFilter {
    return where('kind', 'open');
  }
}

let started: StartedApp;
let prepared = 0;

beforeAll(async () => {
  started = await startApp({ compare: false, entities: [Tree, Leaf], controllers: [LeafController] });
  await started.dataSource.getRepository(Tree).save([{ id: 1 }, { id: 2 }]);
  await started.dataSource.getRepository(Leaf).save([
    { id: 1, tree: { id: 1 } },
    { id: 2, kind: 'secret', tree: { id: 1 } },
  ]);
  const connection = (
    started.dataSource.driver as unknown as { databaseConnection: { prepare(sql: string): unknown } }
  ).databaseConnection;
  const prepare = connection.prepare.bind(connection);
  connection.prepare = (sql) => {
    prepared++;
    return prepare(sql);
  };
});
afterAll(() => started.close());

test('S8 any number of choices pushes no statement of the model itself out', async () => {
  const plain = async (): Promise<number> => {
    const before = prepared;
    expect((await started.client.get('/rest/v1/s8/tree/')).status).toBe(200);
    expect((await started.client.get('/rest/v1/s8/tree/1/')).status).toBe(200);
    return prepared - before;
  };
  expect(await plain()).toBe(2);
  for (let choice = 1; choice < 512; choice++) {
    const fields = LETTERS.filter((_, at) => (choice >> at) % 2 === 1).join(',');
    expect((await started.client.get(`/rest/v1/s8/tree/1/?fields=${fields}`)).status).toBe(200);
  }
  expect(await plain()).toBe(0);
});

test('S7 the scope of a controller class holds for what is expanded', async () => {
  expect(seen(await started.client.get('/rest/v1/s8/tree/1/?expand=leaves&fields=leaves'))).toEqual([
    200,
    { leaves: [{ id: 1, kind: 'open', tree: 1 }] },
  ]);
  expect(seen(await started.client.get('/rest/v1/s8/leaf/?expand=tree.leaves&fields=id,tree.id'))).toEqual([
    200,
    [{ id: 1, tree: { id: 1 } }],
  ]);
});

test.each(['fields', 'omit', 'expand'])(
  'S1 S15 nothing in %s reaches SQL, or an object',
  async (parameter) => {
    for (const name of [
      ') OR (1=1',
      '"',
      "'",
      '`',
      '--',
      ';',
      '\\',
      'id) --',
      'leaves"',
      'leaves`.id',
      '＇',
      '__proto__',
      '__proto__.polluted',
      'constructor.prototype',
      'hasOwnProperty',
      'toString',
      '*',
      '%25',
      '[]',
      '$where',
      'leaves[]',
    ]) {
      const answer = await started.client.get(`/rest/v1/s8/tree/1/?${parameter}=${encodeURIComponent(name)}`);
      const whole = (await started.client.get('/rest/v1/s8/tree/1/')).json;
      expect([name, ...seen(answer)]).toEqual([name, 200, parameter === 'fields' ? {} : whole]);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  },
);

test.each([
  `fields=${'a.'.repeat(3000)}a`,
  `omit=${'x,'.repeat(6000)}`,
  `fields=${Array.from({ length: 1000 }, (_, at) => `leaves.x${at}`).join(',')}&expand=leaves`,
])('S8 long names are answered: %#', async (query) => {
  expect((await started.client.get(`/rest/v1/s8/tree/?${query}`)).status).toBe(200);
});

test('S17 NUL is 400', async () => {
  expect((await started.client.get('/rest/v1/s8/tree/1/?fields=a%00')).status).toBe(400);
});
