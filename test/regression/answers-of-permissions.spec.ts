// @tags core
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { allow, allOf, AllowAny, anyOf, deny, Restify } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { noFilter } from '../support/no-filter.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

let answer: () => unknown = () => deny();

/** Of an author whom no type holds back. */
class Odd implements Permission {
  decide(): Grant {
    return answer() as Grant;
  }
}

@Restify({ app: 'odd', permissions: [Odd] })
@Entity('odd_one')
class One {
  @PrimaryColumn()
  id: number;

  @Column()
  text: string;
}

@Restify({ app: 'odd', permissions: [allOf(AllowAny, Odd)] })
@Entity('odd_all')
class All {
  @PrimaryColumn()
  id: number;
}

@Restify({ app: 'odd', permissions: [anyOf(Odd, Odd)] })
@Entity('odd_any')
class AnyOne {
  @PrimaryColumn()
  id: number;
}

@Restify({ app: 'odd', filterFields: ['one.text'], orderingFields: ['one.text'] })
@Entity('odd_near')
class Near {
  @PrimaryColumn()
  id: number;

  @ManyToOne(() => One)
  one: Relation<One>;
}

describe('a permission that answers neither yes nor no', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [One, All, AnyOne, Near] });
    const { manager } = started.dataSource;
    await manager.save(One, { id: 1, text: 'a' });
    await manager.save(All, { id: 1 });
    await manager.save(AnyOne, { id: 1 });
    await manager.save(Near, { id: 1, one: { id: 1 } });
  });
  afterAll(() => started.close());
  beforeEach(() => {
    answer = () => deny();
  });

  test.each<[name: string, answer: () => unknown]>([
    ['nothing', () => undefined],
    ['null', () => null],
    ['true', () => true],
    ['a text', () => 'grant'],
    ['an empty object', () => ({})],
    ['a grant without anything', () => ({ kind: 'grant' })],
    ['another kind with all of a grant', () => ({ ...allow(), kind: 'forbidden' })],
    ['no kind with all of a grant', () => ({ ...allow(), kind: undefined })],
    ['rows that are null', () => allow({ rows: null as never })],
    ['rows that were not found', () => allow({ rows: undefined as never })],
    ['fields that were not found', () => allow({ readable: undefined as never })],
    ['rows that are true', () => allow({ rows: true as never })],
    ['rows that are SQL', () => allow({ rows: '1=1' as never })],
    ['rows of no kind', () => allow({ rows: { kind: 'every' } as never })],
    ['rows of a kind that is SQL', () => allow({ rows: ['1=1'] as never })],
    ['rows that are no longer than a promise', () => allow({ rows: Promise.resolve('all') as never })],
    ['a promise of nothing', () => Promise.resolve(undefined)],
    ['a promise of true', () => Promise.resolve(true)],
    ['a promise of another kind', () => Promise.resolve({ ...allow(), kind: 'forbidden' })],
    [
      'a thenable of nothing',
      () => ({
        then: (done: (value: unknown) => void) => {
          done(undefined);
        },
      }),
    ],
    [
      'a thenable that fails',
      () => ({
        then: (_done: unknown, failed: (error: Error) => void) => {
          failed(new Error('away'));
        },
      }),
    ],
    ['a promise that fails', () => Promise.reject(new Error('away'))],
    [
      'an error at once',
      () => {
        throw new Error('away');
      },
    ],
  ])('denies every caller: %s', async (_name, given) => {
    answer = given;
    for (const path of ['one/', 'one/1/', 'all/', 'all/1/', 'anyone/', 'anyone/1/']) {
      for (const method of ['GET', 'DELETE']) {
        const { status, text } = await started.client.send(method, `/rest/v1/odd/${path}`);
        expect([path, status, text]).toEqual([
          path,
          expect.any(Number),
          expect.stringMatching(/^\{"detail":/),
        ]);
        expect(status).toBeGreaterThanOrEqual(400);
      }
    }
    // Filters over it tell nothing either.
    const filtered = await started.client.get('/rest/v1/odd/near/?one__text=b');
    expect([400, 500]).toContain(filtered.status);
    if (filtered.status === 400) expect(filtered.json).toEqual(noFilter('one__text'));
    expect(await started.dataSource.manager.count(One)).toBe(1);
  });

  test('and yes lets in, at once, later, and from a thenable', async () => {
    for (const given of [
      () => allow(),
      () => Promise.resolve(allow()),
      () => ({
        then: (done: (value: unknown) => void) => {
          done(allow());
        },
      }),
    ]) {
      answer = given;
      for (const path of ['one/', 'all/', 'anyone/'])
        expect((await started.client.get(`/rest/v1/odd/${path}`)).status).toBe(200);
    }
  });
});
