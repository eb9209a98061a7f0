// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
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
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('tk')
@Entity('tk_tenant')
class TkTenant {
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => TkCourse)
  @JoinTable({
    name: 'tk_pair',
    synchronize: false,
    joinColumn: { name: 'tenantId' },
    inverseJoinColumn: { name: 'courseId' },
  })
  courses: Relation<TkCourse[]>;
}

@Restify('tk')
@Entity('tk_course')
class TkCourse {
  @PrimaryColumn('int') id: number;
}

@Restify('tk')
@Entity('tk_room')
class TkRoom {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') id: number;
}

/** The key of its room contains the whole key of its tenant. */
@Restify({ app: 'tk', bulk: { upsert: ['code'] } })
@Entity('tk_pair')
class TkPair {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) code: string;
  @ManyToOne(() => TkTenant, { nullable: false })
  @JoinColumn({ name: 'tenantId' })
  tenant: Relation<TkTenant>;
  @ManyToOne(() => TkCourse, { nullable: false })
  @JoinColumn({ name: 'courseId' })
  course: Relation<TkCourse>;
  @ManyToOne(() => TkRoom)
  @JoinColumn([
    { name: 'tenantId', referencedColumnName: 'tenant' },
    { name: 'roomId', referencedColumnName: 'id' },
  ])
  room: Relation<TkRoom> | null;
}

onEachDatabase('a through object with a key of another parent', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [TkTenant, TkCourse, TkRoom, TkPair], database });
    const { manager } = started.dataSource;
    await manager.insert(TkTenant, [{ id: 1 }, { id: 2 }]);
    await manager.insert(TkCourse, { id: 1 });
    for (const tenant of [1, 2])
      await manager.insert(TkRoom, [
        { tenant, id: 7 },
        { tenant, id: 8 },
      ]);
  });
  afterAll(() => started.close());

  test('is 400 under its name, and the parent stays', async () => {
    const { client } = started;
    const url = '/rest/v1/tk/tktenant/1/courses/';
    const made = await client.post(url, { course: 1, room: '1,7', code: 'x' });
    expect([made.status, made.json]).toMatchObject([201, { tenant: 1, room: '1,7' }]);
    const { id } = made.json as { id: number };
    const error = { room: ['This key would change "tenant", which is read-only.'] };
    const body = { course: 1, code: 'x', room: '2,7' };
    for (const method of ['patch', 'put'] as const)
      for (const sent of [body, { ...body, tenant: 2 }]) {
        const moved = await client[method](`${url}${id}/`, sent);
        expect([moved.status, moved.json]).toEqual([400, error]);
      }
    for (const moved of [
      await client.patch(url, [{ id, room: '2,7' }]),
      await client.post(`${url}?upsert=true`, [body]),
    ])
      expect([moved.status, moved.json]).toEqual([400, [error]]);
    const kept = await client.patch(`${url}${id}/`, { room: '1,8' });
    expect([kept.status, kept.json]).toMatchObject([200, { tenant: 1, room: '1,8' }]);
  });
});
