// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { IsAdmin, Restify } from 'nestjs-restify';
import { Entity, JoinTable, ManyToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'tb', through: { rooms: { permissions: [IsAdmin] } } })
@Entity()
class TbUser {
  @PrimaryColumn() id: number;
  @ManyToMany(() => TbRoom, (room) => room.users) @JoinTable() rooms: Relation<TbRoom[]>;
}

/** Says something else of the same junction, and nothing of permissions. */
@Restify({ app: 'tb', through: { users: { strict: true } } })
@Entity()
class TbRoom {
  @PrimaryColumn() id: number;
  @ManyToMany(() => TbUser, (user) => user.rooms) users: Relation<TbUser[]>;
}

describe('permissions of a junction, named on one side', () => {
  let started: StartedApp | undefined;
  let refused: unknown;

  beforeAll(async () => {
    try {
      started = await startApp({ entities: [TbUser, TbRoom] });
      const [room] = await started.dataSource.manager.save(TbRoom, [{ id: 1 }]);
      await started.dataSource.manager.save(TbUser, { id: 1, rooms: room ? [room] : [] });
    } catch (error) {
      refused = error;
    }
  });
  afterAll(() => started?.close());

  test.each([
    ['GET', '/tbuser/1/rooms/', undefined],
    ['GET', '/tbroom/1/users/', undefined],
    ['POST', '/tbroom/1/users/', { tbuser: 1 }],
    ['DELETE', '/tbroom/1/users/1/', undefined],
  ])('hold from both sides, or the application does not start: %s %s', async (method, path, body) => {
    if (!started) {
      expect(String(refused)).toMatch(/through/);
      return;
    }
    expect((await started.client.send(method, `/rest/v1/tb${path}`, { body })).status).toBe(403);
  });
});
