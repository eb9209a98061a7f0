// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  ChildEntity,
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  TableInheritance,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Its relations lead to boats: by the class, and by the base of the class. */
@Restify({
  app: 'ck',
  expandable: ['boats', 'floating', 'lead', 'visits'],
  filterFields: {
    'boats.id': ['exact'],
    boats: ['isnull'],
    'floating.id': ['exact'],
    floating: ['isnull'],
    'lead.id': ['exact'],
    'visits.id': ['exact'],
  },
})
@Entity('ck_port')
class CkPort {
  @PrimaryColumn() id: number;
  @OneToMany(() => CkBoat, (boat) => boat.port) boats: Relation<CkBoat[]>;
  @OneToMany(() => CkCraft, (craft) => (craft as CkBoat).berth) floating: Relation<CkCraft[]>;
  @OneToOne(() => CkBoat, (boat) => boat.leads) lead: Relation<CkBoat> | null;
  @ManyToMany(() => CkBoat, (boat) => boat.visited) visits: Relation<CkBoat[]>;
}

@Restify('ck')
@Entity('ck_craft')
@TableInheritance({ column: 'kind' })
class CkCraft {
  @PrimaryColumn() id: number;
  @Column({ length: 20 }) kind: string;
}

@Restify('ck')
@ChildEntity('boat')
class CkBoat extends CkCraft {
  @ManyToOne(() => CkPort, (port) => port.boats) port: Relation<CkPort> | null;
  @ManyToOne(() => CkPort, (port) => port.floating) berth: Relation<CkPort> | null;
  @OneToOne(() => CkPort, (port) => port.lead) @JoinColumn() leads: Relation<CkPort> | null;
  @ManyToMany(() => CkPort, (port) => port.visits) @JoinTable({ name: 'ck_visit' }) visited: Relation<
    CkPort[]
  >;
}

@Restify('ck')
@ChildEntity('plane')
class CkPlane extends CkCraft {}

/** Refers to a boat. */
@Restify({
  app: 'ck',
  expandable: ['boat'],
  filterFields: { boat: ['exact', 'isnull'], 'boat.kind': ['exact', 'isnull'] },
})
@Entity('ck_crew')
class CkCrew {
  @PrimaryColumn() id: number;
  @ManyToOne(() => CkBoat) boat: Relation<CkBoat> | null;
}

onEachDatabase('a row whose kind has changed', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [CkPort, CkCraft, CkBoat, CkPlane, CkCrew], database });
    const { client } = started;
    for (const [path, body] of [
      ['ckport', { id: 1 }],
      ['ckport', { id: 2 }],
      ['ckboat', { id: 1, port: 1, berth: 1, leads: 1 }],
      ['ckboat', { id: 2, port: 1, berth: 1, leads: 2 }],
      ['ckcrew', { id: 1, boat: 1 }],
      ['ckcrew', { id: 2, boat: 2 }],
    ] as const)
      expect(await client.post(`/rest/v1/ck/${path}/`, body)).toMatchObject({ status: 201 });
    for (const id of [1, 2])
      expect((await client.post(`/rest/v1/ck/ckport/${id}/visits/`, { ckboat: id })).status).toBe(201);
    await started.dataSource.query(`UPDATE ck_craft SET kind = 'plane' WHERE id = 2`);
  });
  afterAll(() => started.close());

  const ids = async (path: string): Promise<readonly number[]> => {
    const answer = await started.client.get(`/rest/v1/ck/${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    return (answer.json as { id: number }[]).map(({ id }) => id);
  };

  test('is an object of its new kind', async () => {
    expect(await ids('ckboat/')).toEqual([1]);
    expect(await ids('ckplane/')).toEqual([2]);
    expect(await ids('ckcraft/')).toEqual([1, 2]);
  });

  test.each(['boats', 'floating'])('is not listed in %s', async (name) => {
    expect(await ids(`ckport/1/${name}/`)).toEqual([1]);
    const { json } = await started.client.get(`/rest/v1/ck/ckport/1/?expand=${name}`);
    expect((json as Record<string, { id: number }[]>)[name]?.map(({ id }) => id)).toEqual([1]);
    expect((await started.client.get(`/rest/v1/ck/ckport/1/${name}/2/`)).status).toBe(404);
    expect((await started.client.delete(`/rest/v1/ck/ckport/1/${name}/2/`)).status).toBe(404);
  });

  test('has no through objects', async () => {
    expect(await ids('ckport/1/visits/')).toHaveLength(1);
    expect(await ids('ckport/2/visits/')).toEqual([]);
    expect((await started.client.get('/rest/v1/ck/ckport/2/?expand=visits')).json).toMatchObject({
      visits: [],
    });
  });

  test('is no related object', async () => {
    expect((await started.client.get('/rest/v1/ck/ckport/2/')).json).toMatchObject({ lead: null });
    expect((await started.client.get('/rest/v1/ck/ckport/2/?expand=lead')).json).toMatchObject({
      lead: null,
    });
  });

  test.each<[query: string, expected: readonly number[]]>([
    ['boats__id=1', [1]],
    ['boats__id=2', []],
    ['floating__id=1', [1]],
    ['floating__id=2', []],
    ['floating__isnull=false', [1]],
    ['lead__id=1', [1]],
    ['lead__id=2', []],
    ['visits__id=1', [1]],
    ['visits__id=2', []],
  ])('is not found by ?%s', async (query, expected) => {
    expect(await ids(`ckport/?${query}`)).toEqual(expected);
  });

  test('leaves its key where other rows refer to it, as a deleted row does', async () => {
    expect((await started.client.get('/rest/v1/ck/ckcrew/')).json).toEqual([
      { id: 1, boat: 1 },
      { id: 2, boat: 2 },
    ]);
    expect(await ids('ckcrew/?boat__kind=boat')).toEqual([1]);
    expect(await ids('ckcrew/?boat__kind=plane')).toEqual([]);
    expect(await started.client.post('/rest/v1/ck/ckcrew/', { id: 3, boat: 2 })).toMatchObject({
      status: 400,
      json: { boat: ['Invalid pk "2" - object does not exist.'] },
    });
  });
});
