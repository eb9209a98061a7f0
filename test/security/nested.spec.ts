// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { idOf, NOT_FOUND, seen } from '../features/nested-answers.js';

/** Every kind of nested rows between two models, and between a model and itself. */
@Restify('s6')
@Entity()
class Source {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Target, (target) => target.with_key)
  @JoinTable({
    name: 's6_with_key',
    joinColumn: { name: 'source_id' },
    inverseJoinColumn: { name: 'target_id' },
    synchronize: false,
  })
  with_key: Relation<Target[]>;

  @ManyToMany(() => Target, (target) => target.registered)
  @JoinTable({
    name: 's6_registered',
    joinColumn: { name: 'source_id' },
    inverseJoinColumn: { name: 'target_id' },
    synchronize: false,
  })
  registered: Relation<Target[]>;

  @ManyToMany(() => Target, (target) => target.pair)
  @JoinTable({
    name: 's6_pair',
    joinColumn: { name: 'source_id' },
    inverseJoinColumn: { name: 'target_id' },
    synchronize: false,
  })
  pair: Relation<Target[]>;

  @ManyToMany(() => Target, (target) => target.plain)
  @JoinTable()
  plain: Relation<Target[]>;

  @ManyToMany(() => Source, (source) => source.self_back)
  @JoinTable()
  self: Relation<Source[]>;

  @ManyToMany(() => Source, (source) => source.self)
  self_back: Relation<Source[]>;

  @ManyToMany(() => Source, (source) => source.own_back)
  @JoinTable({
    name: 's6_own',
    joinColumn: { name: 'a_id' },
    inverseJoinColumn: { name: 'b_id' },
    synchronize: false,
  })
  own: Relation<Source[]>;

  @ManyToMany(() => Source, (source) => source.own)
  own_back: Relation<Source[]>;

  @OneToMany(() => Child, (child) => child.source, { cascade: true })
  children: Relation<Child[]>;
}

@Restify('s6')
@Entity()
class Target {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Source, (source) => source.with_key)
  with_key: Relation<Source[]>;

  @ManyToMany(() => Source, (source) => source.registered)
  registered: Relation<Source[]>;

  @ManyToMany(() => Source, (source) => source.pair)
  pair: Relation<Source[]>;

  @ManyToMany(() => Source, (source) => source.plain)
  plain: Relation<Source[]>;
}

@Restify('s6')
@Entity()
class Child {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 10, default: '' })
  name: string;

  @ManyToOne(() => Source, (source) => source.children, { cascade: ['insert', 'update'] })
  source: Relation<Source> | null;
}

@Entity('s6_with_key')
class WithKey {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 0 })
  note: number;

  @Column({ name: 'source_id' })
  source: number;

  @Column({ name: 'target_id' })
  target: number;
}

@Restify('s6')
@Entity('s6_registered')
class Registered {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 0 })
  note: number;

  @Column({ name: 'source_id' })
  source: number;

  @Column({ name: 'target_id' })
  target: number;
}

@Entity('s6_pair')
class PairRow {
  @PrimaryColumn({ name: 'source_id' })
  source: number;

  @PrimaryColumn({ name: 'target_id' })
  target: number;

  @Column({ default: 0 })
  note: number;
}

@Entity('s6_own')
class OwnRow {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 0 })
  note: number;

  @Column({ name: 'a_id' })
  a: number;

  @Column({ name: 'b_id' })
  b: number;
}

interface Kind {
  /** The collection of the parents, and of what they are related to. */
  readonly parents: 'source' | 'target';
  readonly others: 'source' | 'target';
  readonly relation: string;
  /** The fields of the parent's and of the related side. */
  readonly parent: string;
  readonly other: string;
}

const KINDS: readonly Kind[] = [
  ...['with_key', 'registered', 'pair', 'plain'].flatMap((relation): readonly Kind[] => [
    { parents: 'source', others: 'target', relation, parent: 'source', other: 'target' },
    { parents: 'target', others: 'source', relation, parent: 'target', other: 'source' },
  ]),
  { parents: 'source', others: 'source', relation: 'self', parent: 'from_source', other: 'to_source' },
  { parents: 'source', others: 'source', relation: 'self_back', parent: 'from_source', other: 'to_source' },
  { parents: 'source', others: 'source', relation: 'own', parent: 'a', other: 'b' },
  { parents: 'source', others: 'source', relation: 'own_back', parent: 'b', other: 'a' },
];

onEachDatabase('nested rows of another parent', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Source, Target, Child, WithKey, Registered, PairRow, OwnRow],
      database,
    });
  });
  afterAll(() => started.close());

  async function rows(model: string, count: number): Promise<readonly number[]> {
    const ids: number[] = [];
    for (let index = 0; index < count; index++)
      ids.push(idOf(await started.client.post(`/rest/v1/s6/${model}/`, {})));
    return ids;
  }

  test.each(KINDS.map((kind) => [kind.parents, kind.relation, kind] as const))(
    'S6 below a %s by %s are 404 for every method, and stay as they are',
    async (_parents, _relation, kind) => {
      const { client } = started;
      const { relation, other } = kind;
      const [mine = 0, theirs = 0] = await rows(kind.parents, 2);
      const [x = 0, y = 0, z = 0] = await rows(kind.others, 3);
      const base = (id: number): string => `/rest/v1/s6/${kind.parents}/${id}/${relation}/`;
      const own = idOf(await client.post(base(mine), { [other]: x }));
      const foreign = idOf(await client.post(base(theirs), { [other]: y }));
      const before = [(await client.get(base(mine))).text, (await client.get(base(theirs))).text];
      for (const [parent, child] of [
        [mine, foreign],
        [theirs, own],
      ] as const) {
        for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
          for (const body of [{ [other]: z }, { [other]: x, [kind.parent]: parent }, {}, []]) {
            const answer = await client.send(
              method,
              `${base(parent)}${child}/`,
              method === 'GET' || method === 'HEAD' ? {} : { body },
            );
            expect([method, ...seen(answer)]).toEqual([
              method,
              404,
              method === 'HEAD' ? undefined : { detail: 'Not found.' },
            ]);
          }
        }
      }
      expect([(await client.get(base(mine))).text, (await client.get(base(theirs))).text]).toEqual(before);
    },
  );

  test.each(KINDS.map((kind) => [kind.parents, kind.relation, kind] as const))(
    'S6 below a %s by %s stay as they are where this parent has a row to the same',
    async (_parents, _relation, kind) => {
      const { client } = started;
      const { relation, other, parent } = kind;
      const [mine = 0, theirs = 0] = await rows(kind.parents, 2);
      const [x = 0, y = 0] = await rows(kind.others, 2);
      const base = (id: number): string => `/rest/v1/s6/${kind.parents}/${id}/${relation}/`;
      await client.post(base(theirs), { [other]: x });
      const before = (await client.get(base(theirs))).text;
      const own = idOf(await client.post(base(mine), { [other]: x, [parent]: theirs }));
      expect((await client.get(base(theirs))).text).toBe(before);
      for (const method of ['PATCH', 'PUT']) {
        const kept = await client.send(method, `${base(mine)}${own}/`, {
          body: { [other]: x, [parent]: theirs },
        });
        expect([method, kept.status, kept.json]).toMatchObject([
          method,
          200,
          { id: own, [parent]: mine, [other]: x },
        ]);
      }
      const moved = await client.patch(`${base(mine)}${own}/`, { [other]: y, [parent]: theirs });
      expect([moved.status, moved.json]).toMatchObject([200, { [parent]: mine, [other]: y }]);
      expect((await client.get(base(theirs))).text).toBe(before);
      expect((await client.delete(`${base(mine)}${idOf(moved)}/`)).status).toBe(204);
      expect([(await client.get(base(mine))).json, (await client.get(base(theirs))).text]).toEqual([
        [],
        before,
      ]);
    },
  );

  test.each(KINDS.map((kind) => [kind.parents, kind.relation, kind] as const))(
    'S6 below a %s by %s come out by no parameter',
    async (_parents, _relation, kind) => {
      const { client } = started;
      const { relation, other, parent } = kind;
      const [mine = 0, theirs = 0] = await rows(kind.parents, 2);
      const [x = 0, y = 0] = await rows(kind.others, 2);
      const base = (id: number): string => `/rest/v1/s6/${kind.parents}/${id}/${relation}/`;
      const own = await client.post(base(mine), { [other]: x });
      const foreign = idOf(await client.post(base(theirs), { [other]: y }));
      for (const query of [
        `${parent}=${theirs}`,
        `${parent}=${mine}&${parent}=${theirs}`,
        `${other}=${y}`,
        `id=${foreign}&${parent}=${theirs}`,
        `${parent}__exact=${theirs}`,
      ]) {
        expect([query, ...seen(await client.get(`${base(mine)}?${query}`))]).toEqual([query, 200, []]);
      }
      for (const query of [
        `${parent}_id=${theirs}`,
        `or=1`,
        `$or[0][${parent}]=${theirs}`,
        `where=1`,
        `relations=x`,
        `withDeleted=1`,
        `ordering=${parent})%20OR%20(1=1`,
        `${parent}[]=${theirs}`,
        `__proto__=1`,
        `constructor[prototype]=1`,
      ]) {
        expect([query, ...seen(await client.get(`${base(mine)}?${query}`))]).toEqual([
          query,
          200,
          [own.json],
        ]);
      }
      expect((await client.get(`${base(mine)}?${parent}__in=${theirs}`)).status).toBe(400);
    },
  );

  test('S6 that are children come out by no parameter', async () => {
    const { client } = started;
    const [mine = 0, theirs = 0] = await rows('source', 2);
    const child = await client.post('/rest/v1/s6/child/', { source: mine, name: 'a' });
    await client.post('/rest/v1/s6/child/', { source: theirs, name: 'b' });
    const url = `/rest/v1/s6/source/${mine}/children/`;
    for (const query of [`source=${theirs}`, 'name=b', 'search=b', `source=${mine}&source=${theirs}`])
      expect([query, ...seen(await client.get(`${url}?${query}`))]).toEqual([query, 200, []]);
    for (const query of [`source=${mine}`, `source_id=${theirs}`, 'search=', 'ordering=-id', 'or[source]=1'])
      expect([query, ...seen(await client.get(`${url}?${query}`))]).toEqual([query, 200, [child.json]]);
    expect((await client.get(`${url}?source__in=${theirs}`)).status).toBe(400);
  });

  test('S10 are written by no nested object, and no column of a junction is reached by its own name', async () => {
    const { client, dataSource } = started;
    const [mine = 0, theirs = 0] = await rows('source', 2);
    const [x = 0, y = 0] = await rows('target', 2);
    const counts = async (): Promise<readonly number[]> =>
      Promise.all([Source, Target, Child].map((entity) => dataSource.getRepository(entity).count()));
    const before = await counts();
    for (const relation of ['with_key', 'pair', 'plain']) {
      const url = `/rest/v1/s6/source/${mine}/${relation}/`;
      const names = {
        source_id: theirs,
        sourceId: theirs,
        sourceId_1: theirs,
        Source: theirs,
        SOURCE: theirs,
        'source.id': theirs,
        target_id: y,
        targetId: y,
        id: y,
      };
      const created = await client.post(url, { ...names, target: x, source: { id: theirs } });
      expect([created.status, created.json]).toMatchObject([201, { source: mine, target: x }]);
      const changed = await client.patch(`${url}${idOf(created)}/`, { ...names, source: [theirs] });
      expect([changed.status, changed.json]).toEqual([200, created.json]);
      for (const target of [{ id: y }, { id: x, with_key: [] }, [y], true])
        expect((await client.patch(`${url}${idOf(created)}/`, { target })).status).toBe(400);
      expect(seen(await client.get(url))).toEqual([200, [created.json]]);
      expect(seen(await client.get(`/rest/v1/s6/source/${theirs}/${relation}/`))).toEqual([200, []]);
    }
    const child = await client.post('/rest/v1/s6/child/', { source: mine, name: 'kept' });
    for (const children of [[], [{ name: 'new' }], [{ id: idOf(child), name: 'changed' }]]) {
      expect(
        (
          await client.patch(`/rest/v1/s6/source/${mine}/`, {
            children,
            plain: children,
            self: [{ id: theirs }],
          })
        ).status,
      ).toBe(200);
      expect((await client.post('/rest/v1/s6/source/', { children })).status).toBe(201);
    }
    expect(seen(await client.get(`/rest/v1/s6/source/${mine}/children/`))).toEqual([200, [child.json]]);
    expect(seen(await client.get(`/rest/v1/s6/source/${mine}/self/`))).toEqual([200, []]);
    expect(await counts()).toEqual([(before[0] ?? 0) + 3, before[1], (before[2] ?? 0) + 1]);
  });

  test('S8 are not found by a very long key, and nothing breaks', async () => {
    const { client } = started;
    const [mine = 0] = await rows('source', 1);
    for (const child of ['9'.repeat(4000), '1/'.repeat(2000), `1${'%20'.repeat(1000)}`]) {
      for (const relation of ['with_key', 'plain', 'self'])
        expect(seen(await client.get(`/rest/v1/s6/source/${mine}/${relation}/${child}`))).toEqual(NOT_FOUND);
    }
  });
});
