// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, basic, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer, RequestOptions } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Who may see and write pairs of open clubs only, who may only delete those, and who sees pairs by a JSON value. */
class PairRows implements Permission {
  decide({ actor, method }: AccessContext): Grant {
    const { name = '' } = (actor ?? {}) as { readonly name?: string };
    if (name === 'open' || (name === 'deletes-open' && method === 'DELETE'))
      return allow({ rows: where('club.state', 'open') });
    return name.startsWith('json-') ? allow({ rows: where('data', { column: name }) }) : allow();
  }
}

@Restify({ app: 'clubs', relatedKeys: ['guests'], bulk: true })
@Entity('clubs_club')
class Club {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20 }) state: string;
  @ManyToMany(() => Guest)
  @JoinTable({
    name: 'clubs_stay',
    joinColumn: { name: 'clubId' },
    inverseJoinColumn: { name: 'guestId' },
    synchronize: false,
  })
  guests: Relation<Guest[]>;
}

@Restify('clubs')
@Entity('clubs_guest')
class Guest {
  @PrimaryColumn({ type: 'int' }) id: number;
}

@Restify({ app: 'clubs', permissions: [PairRows] })
@Entity('clubs_stay')
@Unique(['club', 'guest'])
class Stay {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Club, { nullable: false }) club: Relation<Club>;
  @ManyToOne(() => Guest, { nullable: false }) guest: Relation<Guest>;
  @Column({ type: 'simple-json', nullable: true }) data: object | null;
}

const CLUBS = '/rest/v1/clubs/club/';

onEachDatabase('related keys whose pairs are granted by a condition', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Club, Guest, Stay],
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    await started.dataSource.getRepository(Guest).insert([1, 2, 3].map((id) => ({ id })));
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    const { dataSource } = started;
    for (const entity of [Stay, Club]) await dataSource.createQueryBuilder().delete().from(entity).execute();
    await dataSource.getRepository(Club).insert({ id: 1, state: 'open' });
    const data = ['json-a', 'json-b'].map((column) => ({ column }));
    await dataSource
      .getRepository(Stay)
      .insert([1, 2].map((id) => ({ club: { id: 1 }, guest: { id }, data: data[id - 1] })));
  });

  const as = (name: string): RequestOptions => ({
    headers: { Authorization: `Basic ${Buffer.from(`${name}:x`).toString('base64')}` },
  });
  const guestsFor = async (name: string): Promise<unknown> =>
    ((await started.client.get(`${CLUBS}1/`, as(name))).json as { guests?: unknown }).guests;
  const statusOf = ({ status }: Answer): number => status;

  test.each(['open', 'deletes-open'])(
    'S7: %s: pairs that a change of their object puts out of reach are not removed by it',
    async (name) => {
      const { client } = started;
      const body = { state: 'closed', guests: [1] };
      expect(statusOf(await client.patch(`${CLUBS}1/`, body, as(name)))).toBe(403);
      expect(statusOf(await client.patch(CLUBS, [{ id: 1, ...body }], as(name)))).toBe(403);
      expect((await client.get(`${CLUBS}1/`, as('any'))).json).toEqual({
        id: 1,
        state: 'open',
        guests: [1, 2],
      });
      expect(statusOf(await client.patch(`${CLUBS}1/`, { guests: [1] }, as(name)))).toBe(200);
    },
  );

  test('S12: callers whose grants differ in a JSON value see their own pairs', async () => {
    for (const name of ['json-a', 'json-b', 'json-a'])
      expect([name, await guestsFor(name)]).toEqual([name, name === 'json-a' ? [1] : [2]]);
  });
});
