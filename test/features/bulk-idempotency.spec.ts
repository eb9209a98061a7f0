// @tags db
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, AllowAny, IdempotencyRecord, Restify } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer, Client } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Who changes sees less than who creates. */
class Narrow implements Permission {
  decide({ method }: AccessContext): Grant {
    return method === 'PATCH' ? allow({ readable: ['id', 'code', 'votes'] }) : allow();
  }
}

@Restify({
  app: 'twice',
  bulk: { upsert: ['code'] },
  idempotency: true,
  permissions: [Narrow],
  through: { tags: { permissions: [AllowAny], bulk: true, idempotency: { require: true } } },
})
@Entity('twice_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10, unique: true }) code: string;
  @Column({ type: 'int', default: 0 }) votes: number;
  @Column({ type: 'varchar', length: 10, default: 'none' }) note: string;
  @ManyToMany(() => Tag) @JoinTable({ name: 'twice_item_tag' }) tags: Relation<Tag[]>;
}

@Restify('twice')
@Entity('twice_tag')
class Tag {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) name: string;
}

const ITEMS = '/rest/v1/twice/item/';

onEachDatabase('bulk writes with an Idempotency-Key', (database) => {
  let started: StartedApp;
  let client: Client;
  beforeAll(async () => {
    started = await startApp({ entities: [Item, Tag, IdempotencyRecord], database });
    client = started.client;
  });
  beforeEach(async () => {
    await started.dataSource.query('DELETE FROM twice_item_tag');
    for (const entity of [Item, Tag, IdempotencyRecord])
      await started.dataSource.manager.createQueryBuilder().delete().from(entity).execute();
  });
  afterAll(() => started.close());
  const post = (url: string, body: unknown, key = 'k'): Promise<Answer> =>
    client.post(url, body, { headers: { 'idempotency-key': key } });
  const codes = async (): Promise<readonly string[]> =>
    (await started.dataSource.getRepository(Item).find({ order: { code: 'ASC' } })).map(
      ({ code, votes }) => `${code} ${votes}`,
    );

  test('make their objects once, and are answered as then', async () => {
    const first = await post(ITEMS, [{ code: 'b' }, { code: 'a', votes: 2 }]);
    expect([first.status, first.headers['idempotency-replayed']]).toEqual([201, undefined]);
    await started.dataSource.getRepository(Item).update({ code: 'a' }, { votes: 9 });
    const again = await post(ITEMS, [{ code: 'b' }, { code: 'a', votes: 2 }]);
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([
      201,
      first.text,
      'true',
    ]);
    expect(await codes()).toEqual(['a 9', 'b 0']);
    expect((await post(ITEMS, [{ code: 'c' }])).status).toBe(422);
    expect((await post(ITEMS, { code: 'b' })).status).toBe(422);
  });

  test('at once make them once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => post(ITEMS, [{ code: 'a' }, { code: 'b' }])),
    );
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(answers.some(({ status }) => status === 201)).toBe(true);
    expect(await codes()).toEqual(['a 0', 'b 0']);
  });

  test('that are refused may be tried again, and so may a list of nothing', async () => {
    expect((await post(ITEMS, [{ code: 'a' }, { votes: 1 }])).status).toBe(400);
    expect((await post(ITEMS, [{ code: 'a' }, { code: 'a' }])).status).toBe(400);
    expect(await codes()).toEqual([]);
    expect(await post(ITEMS, [])).toMatchObject({ status: 201, json: [] });
    expect((await post(ITEMS, [{ code: 'a' }])).status).toBe(201);
    expect((await post(ITEMS, 7, 'other')).status).toBe(400);
    expect((await post(ITEMS, [{ code: 'b' }], 'ä')).status).toBe(400);
  });

  test('that change what is there are answered as then, each object as its caller saw it', async () => {
    await post(ITEMS, { code: 'a', note: 'x' }, 'one');
    const body = [{ code: 'a', votes: 1 }, { code: 'b' }];
    const first = await post(`${ITEMS}?upsert=true`, body);
    expect(first).toMatchObject({
      status: 201,
      json: [
        { code: 'a', votes: 1 },
        { code: 'b', note: 'none' },
      ],
    });
    expect((first.json as readonly object[])[0]).not.toHaveProperty('note');
    const again = await post(`${ITEMS}?upsert=true`, body);
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([
      201,
      first.text,
      'true',
    ]);
    const changed = await post(`${ITEMS}?upsert=true`, body, 'two');
    const replayed = await post(`${ITEMS}?upsert=true`, body, 'two');
    expect([changed.status, replayed.status, replayed.text]).toEqual([200, 200, changed.text]);
    const one = await post(`${ITEMS}?upsert=true`, { code: 'c' }, 'three');
    const oneAgain = await post(`${ITEMS}?upsert=true`, { code: 'c' }, 'three');
    expect([oneAgain.status, oneAgain.text, oneAgain.headers.location]).toEqual([
      201,
      one.text,
      one.headers.location,
    ]);
  });

  test('make pairs once', async () => {
    const { id } = (await post(ITEMS, { code: 'a' }, 'item')).json as { id: number };
    const [tag] = await started.dataSource.getRepository(Tag).save([{ name: 'x' }]);
    const url = `${ITEMS}${id}/tags/`;
    expect((await client.post(url, [{ tag: tag?.id }])).status).toBe(400);
    const first = await post(url, [{ tag: tag?.id }]);
    const again = await post(url, [{ tag: tag?.id }]);
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect((await client.get(url)).json).toHaveLength(1);
  });
});
