// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'states', conditional: true, shape: true, expandable: ['leaves'] })
@Entity('states_branch')
class Branch {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @VersionColumn()
  version: number;

  @OneToMany(() => Leaf, (leaf) => leaf.branch)
  leaves: Relation<Leaf[]>;
}

/** Its state is that of its content. */
@Restify({ app: 'states', conditional: { require: true }, shape: true, expandable: ['branch'] })
@Entity('states_leaf')
class Leaf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  colour: string;

  @ManyToOne(() => Branch, (branch) => branch.leaves)
  branch: Relation<Branch>;
}

onEachDatabase('chosen fields and expanded objects of models with conditional requests', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ database, entities: [Branch, Leaf] });
    await started.client.post('/rest/v1/states/branch/', { name: 'one' });
    await started.client.post('/rest/v1/states/leaf/', { colour: 'green', branch: 1 });
  });
  afterAll(() => started.close());

  test.each([
    ['/rest/v1/states/branch/1/', 'expand=leaves'],
    ['/rest/v1/states/branch/1/', 'fields=name'],
    ['/rest/v1/states/leaf/1/', 'expand=branch'],
    ['/rest/v1/states/leaf/1/', 'omit=colour'],
  ])('%s?%s has no tag, and is sent in full', async (path, query) => {
    const whole = await started.client.get(path);
    const tag = String(whole.headers.etag);
    expect(tag).toMatch(/^".+"$/);
    const shaped = await started.client.get(`${path}?${query}`, { headers: { 'if-none-match': tag } });
    expect([shaped.status, shaped.headers.etag]).toEqual([200, undefined]);
    expect(shaped.text).not.toBe(whole.text);
    expect((await started.client.get(path, { headers: { 'if-none-match': tag } })).status).toBe(304);
  });

  test('a write is for the state of the whole object, whatever its answer shows', async () => {
    const { client } = started;
    for (const [path, body] of [
      ['/rest/v1/states/branch/1/', { name: 'two' }],
      ['/rest/v1/states/leaf/1/', { colour: 'red' }],
    ] as const) {
      const tag = String((await client.get(path)).headers.etag);
      expect(
        (await client.patch(`${path}?fields=id`, body, { headers: { 'if-match': '"other"' } })).status,
      ).toBe(412);
      const done = await client.patch(`${path}?fields=id`, body, { headers: { 'if-match': tag } });
      expect([done.status, done.json, done.headers.etag]).toEqual([200, { id: 1 }, undefined]);
      expect((await client.patch(`${path}?fields=id`, body, { headers: { 'if-match': tag } })).status).toBe(
        412,
      );
    }
    expect((await client.patch('/rest/v1/states/leaf/1/?fields=id', { colour: 'blue' })).status).toBe(428);
  });
});
