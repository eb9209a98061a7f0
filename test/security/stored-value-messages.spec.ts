// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Exclude } from 'class-transformer';
import { MinLength, ValidateNested } from 'class-validator';
import { allow, Restify } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
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

  test('do not reveal them if the body does not name them', async () => {
    const errors = { password: hidden, answer: hidden, lock: { pin: hidden } };
    const one = await started.client.patch('/rest/v1/sm/smuser/1/', { name: 'bob', lock: { door: 'x' } });
    const many = await started.client.patch('/rest/v1/sm/smuser/', [{ id: 1, name: 'bob' }]);
    expect([one.status, one.json]).toEqual([400, errors]);
    expect([many.status, many.json]).toEqual([400, [errors]]);
  });

  test('have their own messages for sent values', async () => {
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

/** What the first header says: the fields that GET shows are fewer than those of the write. */
class Clerks implements Permission {
  decide({ method, request }: AccessContext): Grant {
    if (method === 'GET') return allow({ readable: ['id', 'name'] });
    const { headers } = request as { readonly headers: Readonly<Record<string, string | undefined>> };
    return headers['x-who'] === 'narrow'
      ? allow({ readable: ['id', 'name'], writable: ['name'] })
      : allow({ readable: ['id', 'name', 'pay', 'lock'], writable: ['name', 'pay', 'nick', 'lock'] });
  }
}

class SmOpenLock {
  @Column({ length: 20, default: '' }) door: string;
  @MinLength(5, LONG) @Column({ length: 20, default: '' }) pin: string;
}

@Restify({ app: 'sm', permissions: [Clerks], bulk: { upsert: ['name'] } })
@Entity('sm_clerk')
class SmClerk {
  @PrimaryGeneratedColumn() id: number;
  @MinLength(2, LONG) @Column({ length: 20, unique: true }) name: string;
  @MinLength(5, LONG) @Column({ length: 20 }) pay: string;
  @MinLength(5, LONG) @Column({ length: 20 }) nick: string;
  @ValidateNested() @Column(() => SmOpenLock) lock: SmOpenLock;
}

onEachDatabase('S2 validators of stored values that a grant hides', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [SmClerk], database });
    const [pay, nick, pin] = STORED;
    await started.dataSource.manager.insert(SmClerk, { name: 'ann', pay, nick, lock: { pin } });
  });
  afterAll(() => started.close());

  const hidden = ['Not a valid value.'];
  const errors = { pay: hidden, nick: hidden, lock: { pin: hidden } };

  test('do not reveal values that GET hides, in changes and upserts', async () => {
    const one = await started.client.patch('/rest/v1/sm/smclerk/1/', { lock: { door: 'x' } });
    const many = await started.client.patch('/rest/v1/sm/smclerk/', [{ id: 1, name: 'bob' }]);
    const own = { name: 'ann', pay: 'mine', nick: 'n', lock: {} };
    const upsert = await started.client.post('/rest/v1/sm/smclerk/?upsert=true', own);
    expect([one.status, one.json]).toEqual([400, errors]);
    expect([many.status, many.json]).toEqual([400, [errors]]);
    expect([upsert.status, upsert.json]).toEqual([
      400,
      [{ pay: ['too short: mine'], nick: ['too short: n'], lock: { pin: hidden } }],
    ]);
  });

  test('do not prevent a change by callers who may not correct them', async () => {
    const headers = { 'x-who': 'narrow' };
    const answer = await started.client.patch('/rest/v1/sm/smclerk/1/', { name: 'bob' }, { headers });
    expect([answer.status, answer.json]).toEqual([200, { id: 1, name: 'bob' }]);
  });
});
