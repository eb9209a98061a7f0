// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { IdempotencyRecord, Restify, RestifyResources } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { NOT_FOUND, noSuchPk, seen } from '../features/nested-answers.js';

@Restify({ app: 'rn', bulk: true, shape: true })
@Entity('rn_user')
class RnUser {
  @PrimaryColumn('int') id: number;
  @Column({ type: 'varchar', length: 10, nullable: true, unique: true }) code: string | null;
  @OneToMany(() => RnTask, (task) => task.owner) tasks: Relation<RnTask[]>;
  @OneToOne(() => RnCard, (card) => card.owner) card: Relation<RnCard> | null;
  @ManyToMany(() => RnClub, (club) => club.members)
  @JoinTable({ name: 'rn_member', joinColumn: { name: 'user_code', referencedColumnName: 'code' } })
  clubs: Relation<RnClub[]>;
  @ManyToMany(() => RnClub, (club) => club.guests)
  @JoinTable({
    name: 'rn_guest',
    joinColumn: { name: 'guestCode', referencedColumnName: 'code' },
    inverseJoinColumn: { name: 'clubId' },
    synchronize: false,
  })
  visited: Relation<RnClub[]>;
}

@Restify('rn')
@Entity('rn_club')
class RnClub {
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => RnUser, (user) => user.clubs) members: Relation<RnUser[]>;
  @ManyToMany(() => RnUser, (user) => user.visited) guests: Relation<RnUser[]>;
}

/** A through model whose reference may be null. */
@Restify({ app: 'rn', bulk: true })
@Entity('rn_guest')
class RnGuest {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'varchar', length: 10, nullable: true }) guestCode: string | null;
  @ManyToOne(() => RnUser)
  @JoinColumn({ name: 'guestCode', referencedColumnName: 'code' })
  guest: Relation<RnUser> | null;
  @Column('int', { nullable: true }) clubId: number | null;
  @ManyToOne(() => RnClub) @JoinColumn({ name: 'clubId' }) club: Relation<RnClub> | null;
}

class RnPlace {
  @Column({ length: 10, default: '' }) room: string;
  @ManyToOne(() => RnUser, { nullable: true })
  @JoinColumn({ name: 'keeper_code', referencedColumnName: 'code' })
  keeper: Relation<RnUser> | null;
}

@Restify({ app: 'rn', bulk: { upsert: ['title'] }, idempotency: true, conditional: true, shape: true })
@Entity('rn_task')
class RnTask {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @ManyToOne(() => RnUser, (user) => user.tasks, { nullable: true })
  @JoinColumn({ name: 'owner_code', referencedColumnName: 'code' })
  owner: Relation<RnUser> | null;
  @Column({ type: 'varchar', length: 10, nullable: true }) readerCode: string | null;
  @ManyToOne(() => RnUser)
  @JoinColumn({ name: 'readerCode', referencedColumnName: 'code' })
  reader: Relation<RnUser> | null;
}

/** Its rows are written through TypeORM, for its embedded object. */
@Restify({ app: 'rn', bulk: { upsert: ['title'] } })
@Entity('rn_visit')
class RnVisit {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @ManyToOne(() => RnUser, { nullable: true })
  @JoinColumn({ name: 'owner_code', referencedColumnName: 'code' })
  owner: Relation<RnUser> | null;
  @Column(() => RnPlace) place: RnPlace;
}

@Restify({ app: 'rn', bulk: true })
@Entity('rn_card')
class RnCard {
  @PrimaryGeneratedColumn() id: number;
  @OneToOne(() => RnUser, (user) => user.card, { nullable: true })
  @JoinColumn({ name: 'owner_code', referencedColumnName: 'code' })
  owner: Relation<RnUser> | null;
}

/** A reference to two columns, of which one may be null. */
@Restify({ app: 'rn', bulk: true })
@Entity('rn_plot')
class RnPlot {
  @PrimaryColumn('int') id: number;
  @Column('int') area: number;
  @Column('int', { nullable: true }) number: number | null;
  @OneToMany(() => RnHouse, (house) => house.plot) houses: Relation<RnHouse[]>;
}

@Restify({ app: 'rn', bulk: true })
@Entity('rn_house')
class RnHouse {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => RnPlot, (plot) => plot.houses, { nullable: true, createForeignKeyConstraints: false })
  @JoinColumn([
    { name: 'plot_area', referencedColumnName: 'area' },
    { name: 'plot_number', referencedColumnName: 'number' },
  ])
  plot: Relation<RnPlot> | null;
}

const RN = '/rest/v1/rn';

const DIFFER = {
  reader: ['This field and "readerCode" name different objects.'],
  readerCode: ['This field and "reader" name different objects.'],
};

const UNREFERABLE = {
  non_field_errors: ['The object in the URL has no value by which another object could refer to it.'],
};

onEachDatabase('a relation to a column that is null in the related row', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({
      entities: [RnUser, RnClub, RnGuest, RnTask, RnVisit, RnCard, RnPlot, RnHouse, IdempotencyRecord],
      database,
    });
    ({ client } = started);
    const { manager } = started.dataSource;
    await manager.insert(RnUser, [
      { id: 1, code: 'one' },
      { id: 2, code: null },
      { id: 3, code: null },
    ]);
    await manager.insert(RnClub, [{ id: 1 }, { id: 2 }]);
    await manager.insert(RnPlot, [
      { id: 1, area: 1, number: 1 },
      { id: 2, area: 1, number: null },
    ]);
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    for (const entity of [RnTask, RnVisit, RnCard, RnHouse, RnGuest])
      await started.dataSource.manager.deleteAll(entity);
  });

  const idOf = async (path: string, body: object): Promise<number> => {
    const made = await client.post(path, body);
    expect([path, made.status, made.text]).toEqual([path, 201, expect.anything()]);
    return (made.json as { id: number }).id;
  };

  for (const model of ['rntask', 'rnvisit'])
    test(`refuses its key, by each way to write: ${model}`, async () => {
      const url = `${RN}/${model}/`;
      const id = await idOf(url, { title: 'a', owner: 1 });
      const error = { owner: noSuchPk('2') };
      for (const [method, path, body, expected] of [
        ['POST', url, { title: 'b', owner: 2 }, error],
        ['PUT', `${url}${id}/`, { title: 'a', owner: 2 }, error],
        ['PATCH', `${url}${id}/`, { owner: 2 }, error],
        ['PATCH', `${url}${id}/`, { owner: '2' }, error],
        [
          'POST',
          url,
          [
            { title: 'b', owner: 1 },
            { title: 'c', owner: 2 },
          ],
          [{}, error],
        ],
        ['PATCH', url, [{ id, owner: 2 }], [error]],
        ['PATCH', `${url}?title=a`, { owner: 2 }, error],
        ['POST', `${url}?upsert=true`, [{ title: 'a', owner: 2 }], [error]],
        ['POST', `${url}?upsert=true`, [{ title: 'd', owner: 2 }], [error]],
      ] as const)
        expect([method, path, body, ...seen(await client.send(method, path, { body }))]).toEqual([
          method,
          path,
          body,
          400,
          expected,
        ]);
      expect((await client.get(url)).json).toMatchObject([{ id, title: 'a', owner: 1 }]);
    });

  test('refuses its key beside the plain column, and without HTTP', async () => {
    const url = `${RN}/rntask/`;
    const id = await idOf(url, { title: 'a', reader: 1 });
    const error = { reader: noSuchPk('2') };
    for (const [method, path] of [
      ['POST', url],
      ['PATCH', `${url}${id}/`],
      ['PUT', `${url}${id}/`],
    ] as const)
      for (const more of [{}, { readerCode: null }, { readerCode: 'one' }] as const) {
        const body = { title: method === 'POST' ? 'b' : 'a', reader: 2, ...more };
        const answer = await client.send(method, path, { body });
        // With null it contradicts the plain column.
        expect([method, body, ...seen(answer)]).toEqual([
          method,
          body,
          400,
          'readerCode' in more && more.readerCode === null ? DIFFER : error,
        ]);
      }
    expect(
      seen(await client.post(url, { title: 'b', reader: 2 }, { headers: { 'idempotency-key': '"null"' } })),
    ).toEqual([400, error]);
    await expect(
      started.app.get(RestifyResources).of(RnTask).as(null).create({ title: 'b', reader: 2 }),
    ).rejects.toMatchObject({ fields: error });
    // A row without a reader refers to nobody, not to those without a code.
    expect(await client.patch(`${url}${id}/`, { readerCode: null })).toMatchObject({
      status: 200,
      json: { reader: null, readerCode: null },
    });
    expect(seen(await client.patch(`${url}${id}/`, { reader: 2 }))).toEqual([400, error]);
    expect(seen(await client.patch(`${url}${id}/`, { reader: 2, readerCode: null }))).toEqual([400, error]);
    expect((await client.get(url)).json).toMatchObject([{ title: 'a', reader: null, readerCode: null }]);
  });

  test('refuses its key in an embedded object, in a one-to-one, and of several columns', async () => {
    const visit = await idOf(`${RN}/rnvisit/`, { title: 'a', place: { keeper: 1 } });
    const inPlace = { place: { keeper: noSuchPk('2') } };
    for (const [method, path] of [
      ['POST', `${RN}/rnvisit/`],
      ['PATCH', `${RN}/rnvisit/${visit}/`],
    ] as const)
      expect(seen(await client.send(method, path, { body: { title: 'b', place: { keeper: 2 } } }))).toEqual([
        400,
        inPlace,
      ]);
    for (const [model, field] of [
      ['rncard', 'owner'],
      ['rnhouse', 'plot'],
    ] as const) {
      const url = `${RN}/${model}/`;
      const id = await idOf(url, { [field]: 1 });
      const error = { [field]: noSuchPk('2') };
      for (const [method, path] of [
        ['POST', url],
        ['PATCH', `${url}${id}/`],
        ['PUT', `${url}${id}/`],
      ] as const)
        expect([method, path, ...seen(await client.send(method, path, { body: { [field]: 2 } }))]).toEqual([
          method,
          path,
          400,
          error,
        ]);
      expect(seen(await client.post(url, [{ [field]: 2 }]))).toEqual([400, [error]]);
      expect(seen(await client.patch(url, [{ id, [field]: 2 }]))).toEqual([400, [error]]);
      expect((await client.get(url)).json).toEqual([{ id, [field]: 1 }]);
    }
  });

  test('filters and expands nothing by it', async () => {
    const url = `${RN}/rntask/`;
    await idOf(url, { title: 'a' });
    for (const query of ['owner=2', 'reader=2'])
      expect([query, ...seen(await client.get(`${url}?${query}`))]).toEqual([query, 200, []]);
    expect((await client.get(`${url}?expand=owner,reader`)).json).toMatchObject([
      { owner: null, reader: null },
    ]);
  });

  test('lists nothing below it, and has no reverse one-to-one', async () => {
    await idOf(`${RN}/rntask/`, { title: 'a' });
    await idOf(`${RN}/rncard/`, {});
    await idOf(`${RN}/rnhouse/`, {});
    expect(seen(await client.get(`${RN}/rnuser/2/tasks/`))).toEqual([200, []]);
    expect(seen(await client.get(`${RN}/rnplot/2/houses/`))).toEqual([200, []]);
    expect((await client.post(`${RN}/rnuser/2/tasks/`, { title: 'b' })).status).toBe(405);
    expect((await client.get(`${RN}/rnuser/2/`)).json).toMatchObject({ code: null, card: null });
    expect((await client.get(`${RN}/rnuser/?expand=card&fields=id,card`)).json).toEqual([
      { id: 1, card: null },
      { id: 2, card: null },
      { id: 3, card: null },
    ]);
  });

  for (const [below, side, above] of [
    ['clubs', 'rnclub', 'members'],
    ['visited', 'club', 'guests'],
  ] as const)
    test(`has no through objects, and none is made below it or with it: ${below}`, async () => {
      const list = `${RN}/rnuser/2/${below}/`;
      expect(seen(await client.get(list))).toEqual([200, []]);
      expect(seen(await client.post(list, { [side]: 1 }))).toEqual([400, UNREFERABLE]);
      expect(seen(await client.post(list, { [side]: 9 }))).toEqual([
        400,
        { [side]: noSuchPk('9'), ...UNREFERABLE },
      ]);
      if (below === 'visited')
        expect(seen(await client.post(list, [{ [side]: 1 }]))).toEqual([400, [UNREFERABLE]]);
      expect(seen(await client.get(`${RN}/rnclub/1/${above}/`))).toEqual([200, []]);
      for (const method of ['GET', 'DELETE'])
        expect(seen(await client.send(method, `${list}1/`))).toEqual(NOT_FOUND);
      for (const method of ['PUT', 'PATCH'])
        expect(seen(await client.send(method, `${list}1/`, { body: { [side]: 1 } }))).toEqual(NOT_FOUND);
      const other = below === 'clubs' ? 'rnuser' : 'guest';
      const url = `${RN}/rnclub/1/${above}/`;
      expect(seen(await client.post(url, { [other]: 2 }))).toEqual([400, { [other]: noSuchPk('2') }]);
      const id = await idOf(url, { [other]: 1 });
      for (const method of ['PUT', 'PATCH'])
        expect(seen(await client.send(method, `${url}${id}/`, { body: { [other]: 2 } }))).toEqual([
          400,
          { [other]: noSuchPk('2') },
        ]);
      expect(seen(await client.get(`${url}2/`))).toEqual(NOT_FOUND);
      expect((await client.get(url)).json).toMatchObject([{ id, [other]: 1 }]);
      await client.delete(`${url}${id}/`);
    });
});
