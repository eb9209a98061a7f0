// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  BeforeInsert,
  BeforeUpdate,
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('sc')
@Entity('sc_area')
class ScArea {
  @PrimaryColumn('int') id: number;
}

@Restify('sc')
@Entity('sc_plot')
class ScPlot {
  @PrimaryColumn('int') areaId: number;
  @PrimaryColumn('int') number: number;
}

/** The column of `area` is one of two of `plot`. */
@Restify({ app: 'sc', bulk: true })
@Entity('sc_house')
class ScHouse {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => ScArea) @JoinColumn({ name: 'areaId' }) area: Relation<ScArea> | null;
  @ManyToOne(() => ScPlot)
  @JoinColumn([
    { name: 'areaId', referencedColumnName: 'areaId' },
    { name: 'plotNumber', referencedColumnName: 'number' },
  ])
  plot: Relation<ScPlot> | null;
}

/** Both relations have the same column. */
@Restify('sc')
@Entity('sc_shed')
class ScShed {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) areaId: number | null;
  @ManyToOne(() => ScArea) @JoinColumn({ name: 'areaId' }) area: Relation<ScArea> | null;
  @ManyToOne(() => ScArea)
  @JoinColumn({ name: 'areaId', foreignKeyConstraintName: 'sc_again' })
  again: Relation<ScArea> | null;
}

/** Its column `areaId` belongs to three relations. The listener has TypeORM write it. */
@Restify({ app: 'sc', name: 'barn' })
@Entity('sc_barn')
class ScBarn {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 'x' }) mark: string;
  @ManyToOne(() => ScPlot)
  @JoinColumn([
    { name: 'areaId', referencedColumnName: 'areaId' },
    { name: 'otherNumber', referencedColumnName: 'number' },
  ])
  other: Relation<ScPlot> | null;
  @ManyToOne(() => ScPlot)
  @JoinColumn([
    { name: 'areaId', referencedColumnName: 'areaId' },
    { name: 'plotNumber', referencedColumnName: 'number' },
  ])
  plot: Relation<ScPlot> | null;
  @ManyToOne(() => ScArea) @JoinColumn({ name: 'areaId' }) area: Relation<ScArea> | null;

  @BeforeInsert()
  @BeforeUpdate()
  listen(): void {
    this.mark = 'written';
  }
}

onEachDatabase('relations that share a column', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [ScArea, ScPlot, ScHouse, ScShed, ScBarn], database });
    await started.dataSource.manager.insert(ScArea, [{ id: 1 }, { id: 2 }]);
    await started.dataSource.manager.insert(ScPlot, [
      { areaId: 1, number: 7 },
      { areaId: 2, number: 7 },
      // Without an area.
      { areaId: 3, number: 7 },
    ]);
  });
  afterAll(() => started.close());

  const changed = async (model: string, before: object, change: object): Promise<unknown> => {
    const { client } = started;
    const { id } = (await client.post(`/rest/v1/sc/${model}/`, before)).json as { id: number };
    const { status, json } = await client.patch(`/rest/v1/sc/${model}/${id}/`, change);
    expect((await client.get(`/rest/v1/sc/${model}/${id}/`)).json).toEqual(json);
    return [status, { ...(json as object), id: undefined }];
  };

  test('are changed, one or both', async () => {
    for (const [change, after] of [
      [
        { area: null, plot: null },
        { area: null, plot: null },
      ],
      [{ plot: null }, { area: 1, plot: null }],
      [
        { area: 2, plot: null },
        { area: 2, plot: null },
      ],
      [{ plot: '2,7' }, { area: 2, plot: '2,7' }],
      [
        { area: 2, plot: '2,7' },
        { area: 2, plot: '2,7' },
      ],
    ] as const)
      expect([change, await changed('schouse', { area: 1, plot: '1,7' }, change)]).toEqual([
        change,
        [200, after],
      ]);
  });

  test('are not changed by the key of another one', async () => {
    for (const area of [2, null]) {
      const { client } = started;
      const { json } = await client.post('/rest/v1/sc/schouse/', { area: 1, plot: '1,7' });
      const url = `/rest/v1/sc/schouse/${String((json as { id: number }).id)}/`;
      const { status, json: errors } = await client.patch(url, { area });
      expect([area, status, Object.keys(errors as object)]).toEqual([area, 400, ['area']]);
      expect((await client.get(url)).json).toEqual(json);
    }
  });

  test('are 403 where a key leads another one to no object, also where listeners run', async () => {
    const { client } = started;
    const forbidden = { detail: 'You do not have permission to perform this action.' };
    const created = await client.post('/rest/v1/sc/barn/', { other: null, plot: null });
    expect(created.status).toBe(201);
    const url = `/rest/v1/sc/barn/${String((created.json as { id: number }).id)}/`;
    for (const answer of [
      await client.patch(url, { plot: '3,7' }),
      await client.patch(url, { plot: '3,7', mark: 'y' }),
      await client.post('/rest/v1/sc/barn/', { plot: '3,7' }),
      await client.post('/rest/v1/sc/barn/', { plot: '3,7', other: null }),
    ])
      expect([answer.status, answer.json]).toEqual([403, forbidden]);
    expect((await client.get(url)).json).toEqual(created.json);
  });

  test('are changed where they are the same column', async () => {
    for (const [change, area] of [
      [{ area: null, again: null }, null],
      [{ area: null }, null],
      [{ again: null }, null],
      [{ area: 2 }, 2],
      [{ again: 2 }, 2],
      [{ area: 2, again: 2 }, 2],
    ] as const)
      expect([change, await changed('scshed', { area: 1, again: 1 }, change)]).toEqual([
        change,
        [200, { areaId: area, area, again: area }],
      ]);
  });
});
