// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, IdempotencyRecord, Restify, RestifyResources, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class OfAnn implements Permission {
  decide(): Grant {
    return allow({ rows: where('tenant', 'ann') });
  }
}

@Restify({ app: 'fk', permissions: [OfAnn] })
@Entity('fk_project')
class FkProject {
  @PrimaryColumn('int') id: number;
  @Column({ length: 10, unique: true }) code: string;
  @Column({ length: 10 }) tenant: string;
  @ManyToMany(() => FkTag, (tag) => tag.projects)
  @JoinTable({
    name: 'fk_label',
    joinColumn: { name: 'projectId' },
    inverseJoinColumn: { name: 'tagId' },
    synchronize: false,
  })
  tags: Relation<FkTag[]>;
}

@Restify({ app: 'fk', permissions: [OfAnn] })
@Entity('fk_tag')
class FkTag {
  @PrimaryColumn('int') id: number;
  @Column({ length: 10 }) tenant: string;
  @ManyToMany(() => FkProject, (project) => project.tags) projects: Relation<FkProject[]>;
}

/** On the junction's table, without a relation of its own but one, which is left out. */
@Restify({ app: 'fk', exclude: ['lead'], bulk: true })
@Entity('fk_label')
class FkLabel {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') projectId: number;
  @Column('int') tagId: number;
  @Column('int', { nullable: true }) leadId: number | null;
  @ManyToOne(() => FkProject, { nullable: true })
  @JoinColumn({ name: 'leadId' })
  lead: Relation<FkProject> | null;
}

class FkPlace {
  @Column({ length: 10, default: '' }) room: string;
  @Column('int', { nullable: true, name: 'placeProjectId' }) projectId: number | null;
  @ManyToOne(() => FkProject, { nullable: true })
  @JoinColumn({ name: 'placeProjectId' })
  project: Relation<FkProject> | null;
}

@Restify({
  app: 'fk',
  exclude: ['project', 'other'],
  bulk: { upsert: ['title'] },
  idempotency: true,
  filterFields: { title: ['exact'] },
})
@Entity('fk_task')
class FkTask {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @Column('int', { nullable: true }) projectId: number | null;
  @ManyToOne(() => FkProject, { nullable: true })
  @JoinColumn({ name: 'projectId' })
  project: Relation<FkProject> | null;
  /** Refers to another column than the key. */
  @Column({ length: 10, nullable: true }) otherCode: string | null;
  @ManyToOne(() => FkProject, { nullable: true })
  @JoinColumn({ name: 'otherCode', referencedColumnName: 'code' })
  other: Relation<FkProject> | null;
}

/** Written through TypeORM, for its embedded object. The path is understood, and no type knows it. */
@Restify({
  app: 'fk',
  exclude: ['place.project', 'project'] as 'project'[],
  bulk: { upsert: ['title'] },
  idempotency: true,
  filterFields: { title: ['exact'] },
})
@Entity('fk_visit')
class FkVisit {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @Column('int', { nullable: true }) projectId: number | null;
  @ManyToOne(() => FkProject, { nullable: true })
  @JoinColumn({ name: 'projectId' })
  project: Relation<FkProject> | null;
  @Column(() => FkPlace) place: FkPlace;
}

@Restify({ app: 'fk' })
@Entity('fk_area')
class FkArea {
  @PrimaryColumn('int') id: number;
}

@Restify({ app: 'fk', permissions: [OfAnn] })
@Entity('fk_plot')
class FkPlot {
  @PrimaryColumn('int') areaId: number;
  @PrimaryColumn('int') number: number;
  @Column({ length: 10 }) tenant: string;
}

/** `area` and `plot` share a column. */
@Restify({ app: 'fk', bulk: true })
@Entity('fk_house')
class FkHouse {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10, default: '' }) name: string;
  @Column('int', { nullable: true }) areaId: number | null;
  @ManyToOne(() => FkArea, { nullable: true }) @JoinColumn({ name: 'areaId' }) area: Relation<FkArea> | null;
  @ManyToOne(() => FkPlot, { nullable: true })
  @JoinColumn([
    { name: 'areaId', referencedColumnName: 'areaId' },
    { name: 'plotNumber', referencedColumnName: 'number' },
  ])
  plot: Relation<FkPlot> | null;
}

/** The same, and neither relation is shown. */
@Restify({ app: 'fk', exclude: ['area', 'plot'] })
@Entity('fk_shed')
class FkShed {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10, default: '' }) name: string;
  @Column('int', { nullable: true }) areaId: number | null;
  @Column('int', { nullable: true }) plotNumber: number | null;
  @ManyToOne(() => FkArea, { nullable: true }) @JoinColumn({ name: 'areaId' }) area: Relation<FkArea> | null;
  @ManyToOne(() => FkPlot, { nullable: true })
  @JoinColumn([
    { name: 'areaId', referencedColumnName: 'areaId' },
    { name: 'plotNumber', referencedColumnName: 'number' },
  ])
  plot: Relation<FkPlot> | null;
}

const FK = '/rest/v1/fk';

function seen({ status, json }: Answer): readonly [number, unknown] {
  return [status, json];
}

function none(key: string | number): string[] {
  return [`Invalid pk "${key}" - object does not exist.`];
}

onEachDatabase('S23 the plain column of a foreign key', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [
        FkProject,
        FkTag,
        FkLabel,
        FkTask,
        FkVisit,
        FkArea,
        FkPlot,
        FkHouse,
        FkShed,
        IdempotencyRecord,
      ],
      database,
    });
    const { manager } = started.dataSource;
    await manager.insert(FkProject, [
      { id: 1, code: 'one', tenant: 'ann' },
      { id: 2, code: 'two', tenant: 'bob' },
    ]);
    await manager.insert(FkTag, [
      { id: 1, tenant: 'ann' },
      { id: 2, tenant: 'bob' },
    ]);
    await manager.insert(FkArea, [{ id: 1 }, { id: 2 }, { id: 3 }]);
    await manager.insert(FkPlot, [
      { areaId: 1, number: 7, tenant: 'ann' },
      { areaId: 2, number: 7, tenant: 'bob' },
    ]);
  });
  afterAll(() => started.close());

  for (const model of ['fktask', 'fkvisit']) {
    test(`names no row that the caller cannot see, by any way to write: ${model}`, async () => {
      const { client } = started;
      const url = `${FK}/${model}/`;
      const { id } = (await client.post(url, { title: 'mine', projectId: 1 })).json as { id: number };
      // The second is there, and hidden; the ninth is not.
      for (const key of [2, 9]) {
        const body = { projectId: key };
        const refused = [400, { projectId: none(key) }];
        expect(['POST', ...seen(await client.post(url, { title: 'new', ...body }))]).toEqual([
          'POST',
          ...refused,
        ]);
        expect([
          'once',
          ...seen(
            await client.post(
              url,
              { title: 'new', ...body },
              { headers: { 'idempotency-key': `"${model}-${key}"` } },
            ),
          ),
        ]).toEqual(['once', ...refused]);
        for (const method of ['PUT', 'PATCH'])
          expect([
            method,
            ...seen(await client.send(method, `${url}${id}/`, { body: { title: 'mine', ...body } })),
          ]).toEqual([method, ...refused]);
        expect([
          'bulk',
          ...seen(
            await client.post(url, [
              { title: 'a', projectId: 1 },
              { title: 'b', ...body },
            ]),
          ),
        ]).toEqual(['bulk', 400, [{}, refused[1]]]);
        expect(['list', ...seen(await client.patch(url, [{ id, ...body }]))]).toEqual([
          'list',
          400,
          [refused[1]],
        ]);
        expect(['filter', ...seen(await client.patch(`${url}?title=mine`, body))]).toEqual([
          'filter',
          ...refused,
        ]);
        for (const title of ['mine', 'other'])
          expect(['upsert', ...seen(await client.post(`${url}?upsert=true`, [{ title, ...body }]))]).toEqual([
            'upsert',
            400,
            [refused[1]],
          ]);
      }
      expect((await client.get(url)).json).toMatchObject([{ id, title: 'mine', projectId: 1 }]);
      expect(await client.patch(`${url}${id}/`, { projectId: null })).toMatchObject({
        status: 200,
        json: { projectId: null },
      });
      expect(await client.patch(`${url}${id}/`, { projectId: '1' })).toMatchObject({
        status: 200,
        json: { projectId: 1 },
      });
    });
  }

  test('may refer to another column than the key', async () => {
    const { client } = started;
    const made = await client.post(`${FK}/fktask/`, { title: 'coded', otherCode: 'one' });
    expect(made).toMatchObject({ status: 201, json: { otherCode: 'one' } });
    const url = `${FK}/fktask/${(made.json as { id: number }).id}/`;
    // The default collation of MariaDB does not distinguish case.
    const [equal, others] =
      database.name === 'mariadb' ? [['ONE'], ['two', 'nine']] : [[], ['two', 'nine', 'ONE']];
    for (const key of others) {
      expect(seen(await client.post(`${FK}/fktask/`, { title: 'x', otherCode: key, projectId: 2 }))).toEqual([
        400,
        { otherCode: none(key), projectId: none(2) },
      ]);
      expect(seen(await client.patch(url, { otherCode: key }))).toEqual([400, { otherCode: none(key) }]);
    }
    for (const key of equal)
      expect(await client.patch(url, { otherCode: key })).toMatchObject({
        status: 200,
        json: { otherCode: 'one' },
      });
  });

  test('may stand in an embedded object', async () => {
    const { client } = started;
    const made = await client.post(`${FK}/fkvisit/`, { title: 'in', place: { room: 'a', projectId: 1 } });
    expect(made).toMatchObject({ status: 201, json: { place: { room: 'a', projectId: 1 } } });
    for (const key of [2, 9]) {
      expect(seen(await client.post(`${FK}/fkvisit/`, { title: 'y', place: { projectId: key } }))).toEqual([
        400,
        { place: { projectId: none(key) } },
      ]);
      expect(
        seen(
          await client.patch(`${FK}/fkvisit/${(made.json as { id: number }).id}/`, {
            place: { projectId: key },
          }),
        ),
      ).toEqual([400, { place: { projectId: none(key) } }]);
    }
  });

  test('is looked up without HTTP too', async () => {
    const tasks = started.app.get(RestifyResources).of(FkTask).as(null);
    for (const key of [2, 9])
      await expect(tasks.create({ title: 'z', projectId: key })).rejects.toMatchObject({
        fields: { projectId: none(key) },
      });
  });

  test('is looked up on a through model, on its own URLs and on the lists of both sides', async () => {
    const { client } = started;
    for (const key of [2, 9]) {
      expect(seen(await client.post(`${FK}/fklabel/`, { projectId: key, tagId: 1 }))).toEqual([
        400,
        { projectId: none(key) },
      ]);
      expect(seen(await client.post(`${FK}/fklabel/`, { projectId: 1, tagId: key }))).toEqual([
        400,
        { tagId: none(key) },
      ]);
      expect(seen(await client.post(`${FK}/fkproject/1/tags/`, { tagId: key }))).toEqual([
        400,
        { tagId: none(key) },
      ]);
      expect(seen(await client.post(`${FK}/fkproject/1/tags/`, { tagId: 1, leadId: key }))).toEqual([
        400,
        { leadId: none(key) },
      ]);
      expect(seen(await client.post(`${FK}/fktag/1/projects/`, { projectId: key }))).toEqual([
        400,
        { projectId: none(key) },
      ]);
      expect((await client.post(`${FK}/fkproject/${key}/tags/`, { tagId: 1 })).status).toBe(404);
    }
    const { id } = (await client.post(`${FK}/fkproject/1/tags/`, { tagId: 1, leadId: 1 })).json as {
      id: number;
    };
    for (const key of [2, 9]) {
      for (const url of [`${FK}/fkproject/1/tags/${id}/`, `${FK}/fklabel/${id}/`])
        expect(seen(await client.patch(url, { tagId: key, leadId: key }))).toEqual([
          400,
          { tagId: none(key), leadId: none(key) },
        ]);
      expect(seen(await client.patch(`${FK}/fklabel/`, [{ id, projectId: key }]))).toEqual([
        400,
        [{ projectId: none(key) }],
      ]);
    }
    expect((await client.get(`${FK}/fklabel/`)).json).toEqual([{ id, projectId: 1, tagId: 1, leadId: 1 }]);
  });

  test('of a column that several relations share, no relation is moved to a row that the caller cannot see', async () => {
    const { client } = started;
    const made = await client.post(`${FK}/fkhouse/`, { name: 'a', plot: '1,7' });
    expect(made).toMatchObject({ status: 201, json: { area: 1, plot: '1,7' } });
    const url = `${FK}/fkhouse/${(made.json as { id: number }).id}/`;
    // The plot of that number is hidden in the second area, and there is none in the third.
    for (const area of [2, 3]) {
      // The answer does not depend on the row.
      const errors = { area: ['This key would change "plot": send both.'] };
      for (const method of ['PATCH', 'PUT'])
        expect([area, ...seen(await client.send(method, url, { body: { area } }))]).toEqual([
          area,
          400,
          errors,
        ]);
      expect([
        area,
        ...seen(await client.patch(`${FK}/fkhouse/`, [{ id: (made.json as { id: number }).id, area }])),
      ]).toEqual([area, 400, [errors]]);
      const both = { area, plot: `${area},7` };
      expect([area, ...seen(await client.patch(url, both))]).toEqual([
        area,
        400,
        { plot: [`Invalid pk "${area},7" - object does not exist.`] },
      ]);
    }
    expect(seen(await client.patch(url, { name: 'b', area: 1 }))).toEqual([
      200,
      expect.objectContaining({ name: 'b', area: 1, plot: '1,7' }),
    ]);
    expect(await started.dataSource.manager.countBy(FkHouse, { areaId: 2 })).toBe(0);
  });

  test('is read-only where it is not a relation by itself', async () => {
    const { client } = started;
    const made = await client.post(`${FK}/fkshed/`, { name: 'a', areaId: 2, plotNumber: 7 });
    expect(made).toMatchObject({ status: 201, json: { areaId: null, plotNumber: null } });
    expect(
      await client.patch(`${FK}/fkshed/${(made.json as { id: number }).id}/`, { areaId: 2, plotNumber: 7 }),
    ).toMatchObject({ status: 200, json: { areaId: null, plotNumber: null } });
  });
});
