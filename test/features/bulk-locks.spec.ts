// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Few implements Permission {
  decide(): Grant {
    return allow({ rows: where('votes', 'lt', 100) });
  }
}

@Restify({ app: 'bulklocks', bulk: { upsert: ['code'] }, permissions: [Few] })
@Entity('bulklocks_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) code: string;
  @Column({ type: 'int', default: 3 }) votes: number;
}

const URL = '/rest/v1/bulklocks/item/';

onEachServer('bulk writes of most rows of a small table, under a permission of rows', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Item], database, compare: false });
    await started.dataSource
      .getRepository(Item)
      .save(Array.from({ length: 10 }, (_, index) => ({ id: index + 1, code: `c${index + 1}` })));
  });
  afterAll(() => started.close());

  const others = [1, 2, 3, 4, 5, 6, 7, 8, 10];
  test.each([
    [
      'an upsert',
      () =>
        started.client.post(
          `${URL}?upsert=true`,
          others.map((id) => ({ code: `c${id}`, votes: 5 })),
        ),
    ],
    [
      'a PATCH',
      () =>
        started.client.patch(
          URL,
          others.map((id) => ({ id, votes: 6 })),
        ),
    ],
  ])('wait for no other row: %s', async (_name, write) => {
    const runner = started.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT * FROM bulklocks_item WHERE id = 9 FOR UPDATE');
    const writing = write();
    const released = new Promise((resolve) => {
      setTimeout(resolve, 20_000, 'still waiting').unref();
    });
    const first = await Promise.race([writing.then(({ status }) => status), released]);
    await runner.rollbackTransaction();
    await runner.release();
    await writing;
    expect(first).toBe(200);
  });
});
