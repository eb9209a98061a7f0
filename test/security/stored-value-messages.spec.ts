// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Exclude } from 'class-transformer';
import { MinLength, ValidateNested } from 'class-validator';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const LONG = { message: 'too short: $value' };

class SmLock {
  @Column({ length: 20, default: '' }) door: string;
  @MinLength(5, LONG) @Exclude() @Column({ length: 20 }) pin: string;
}

@Restify({ app: 'sm', writeOnly: ['answer'], bulk: true })
@Entity('sm_user')
class SmUser {
  @PrimaryGeneratedColumn() id: number;
  @MinLength(2, LONG) @Column({ length: 20 }) name: string;
  @MinLength(5, LONG) @Exclude() @Column({ length: 20 }) password: string;
  @MinLength(5, LONG) @Column({ length: 20 }) answer: string;
  @ValidateNested() @Column(() => SmLock) lock: SmLock;
}

const STORED = ['s3c', 'an5', 'p1n'];

onEachDatabase('S2 validators of stored values that no answer shows', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [SmUser], database });
    const [password, answer, pin] = STORED;
    await started.dataSource.manager.insert(SmUser, { name: 'ann', password, answer, lock: { pin } });
  });
  afterAll(() => started.close());

  const hidden = ['Not a valid value.'];

  test('tell nothing of them where the body does not name them', async () => {
    const errors = { password: hidden, answer: hidden, lock: { pin: hidden } };
    const one = await started.client.patch('/rest/v1/sm/smuser/1/', { name: 'bob', lock: { door: 'x' } });
    const many = await started.client.patch('/rest/v1/sm/smuser/', [{ id: 1, name: 'bob' }]);
    expect([one.status, one.json]).toEqual([400, errors]);
    expect([many.status, many.json]).toEqual([400, [errors]]);
  });

  test('say in their own words what is wrong with what was sent', async () => {
    const answer = await started.client.patch('/rest/v1/sm/smuser/1/', { name: 'b', password: 'mine' });
    expect([answer.status, answer.json]).toEqual([
      400,
      {
        name: ['too short: b'],
        password: ['too short: mine'],
        answer: hidden,
        lock: { pin: hidden },
      },
    ]);
  });
});
