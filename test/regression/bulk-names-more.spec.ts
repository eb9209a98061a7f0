// @tags db
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  allow,
  basic,
  deny,
  JsonServerFilter,
  JsonServerOrdering,
  JsonServerSearch,
  Restify,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission, Denial } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Client } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Known implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    return actor === null ? deny() : allow();
  }
}

/** Who is nobody may write, and not read. */
class Sealed implements Permission {
  decide({ actor, method }: AccessContext): Grant | Denial {
    return actor === null && method === 'GET' ? deny() : allow();
  }
}

@Restify({ app: 'bulkmore', permissions: [Known] })
@Entity('bulkmore_desk')
class Desk {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

@Restify({
  app: 'bulkmore',
  bulk: true,
  filterFields: { name: ['exact', 'ne', 'in', 'isnull'], 'desk.name': ['exact'] },
  filterGroups: true,
  searchFields: ['name', 'desk.name'],
})
@Entity('bulkmore_paper')
class Paper {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ default: true }) open: boolean;
  @ManyToOne(() => Desk, { nullable: true }) desk: Relation<Desk> | null;
}

@Restify({
  app: 'bulkmore',
  bulk: true,
  filterFields: { name: ['exact', 'ne'] },
  filterBackends: [JsonServerFilter, JsonServerSearch, JsonServerOrdering],
})
@Entity('bulkmore_sheet')
class Sheet {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

@Restify({ app: 'bulkmore', bulk: true, permissions: [Sealed] })
@Entity('bulkmore_seal')
class Seal {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

const [PAPERS, SHEETS, SEALS] = [
  '/rest/v1/bulkmore/paper/',
  '/rest/v1/bulkmore/sheet/',
  '/rest/v1/bulkmore/seal/',
];
const ANN = { headers: { authorization: `Basic ${Buffer.from('ann:pw').toString('base64')}` } };

onEachDatabase('bulk writes of no more than is named', (database) => {
  let started: StartedApp;
  let client: Client;
  beforeAll(async () => {
    started = await startApp({
      entities: [Desk, Paper, Sheet, Seal],
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    client = started.client;
  });
  beforeEach(async () => {
    const { manager } = started.dataSource;
    for (const entity of [Paper, Desk, Sheet, Seal])
      await manager.createQueryBuilder().delete().from(entity).execute();
    const [top, low] = await manager.save(Desk, [{ name: 'top' }, { name: 'low' }]);
    await manager.save(Paper, [
      { name: 'a', desk: top },
      { name: 'b', desk: low },
      { name: 'a', desk: low },
    ]);
    await manager.save(Sheet, [{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
  });
  afterAll(() => started.close());
  const papers = (): Promise<number> => started.dataSource.getRepository(Paper).count();

  test('S6 a filter over a model that is hidden is no filter, and is not passed over beside others', async () => {
    for (const query of [
      '?desk__name=top&name=a',
      '?search=top&desk__name=top',
      '?filter=and(desk__name=top,name=a)',
    ]) {
      expect([query, (await client.delete(PAPERS + query)).status]).toEqual([query, 400]);
      expect([query, (await client.patch(PAPERS + query, { name: 'z' })).status]).toEqual([query, 400]);
    }
    expect(await papers()).toBe(3);
    expect((await client.delete(`${PAPERS}?desk__name=top&name=a`, ANN)).status).toBe(204);
    expect(await papers()).toBe(2);
  });

  test('S5 a parameter that leaves nothing out is refused beside one that does', async () => {
    for (const query of [
      '?search=%20&name=a',
      '?search=,&name=a',
      '?name__in=,&name=a',
      '?name__in=%20&name=a',
      '?name=a&search=%22%22',
      "?name=a&search=''",
      '?name=a&name__in=,,',
    ]) {
      const before = await papers();
      const answer = await client.delete(PAPERS + query, ANN);
      expect([query, answer.status, await papers(), before]).toEqual([query, expect.anything(), 3, 3]);
    }
  });

  test('S5 every value of a repeated parameter counts where it does in the list', async () => {
    expect((await client.get(`${SHEETS}?name_ne=a&name_ne=b`)).json).toMatchObject([{ name: 'c' }]);
    expect((await client.delete(`${SHEETS}?name_ne=a&name_ne=b`)).status).toBe(204);
    expect((await client.get(SHEETS)).json).toMatchObject([{ name: 'a' }, { name: 'b' }]);
    expect((await client.patch(`${SHEETS}?name=a&name=b`, { name: 'x' })).json).toHaveLength(2);
    expect((await client.delete(`${SHEETS}?name=&name=x`)).status).toBe(400);
  });

  test('an anonymous caller gets 401 before rows are found by a filter', async () => {
    expect((await client.get(SEALS)).status).toBe(401);
    const answer = await client.delete(`${SEALS}?name=a`);
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('Basic'),
    ]);
  });
});
