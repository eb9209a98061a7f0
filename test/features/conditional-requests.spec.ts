// @tags db http
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { allow, AllowAny, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer, Client } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** A clerk reads no secret, and a stranger no row of others; a scribe changes what it may not read. */
class Readers implements Permission {
  decide({ actor, method }: AccessContext): Grant {
    const name = (actor as { readonly name: string } | null)?.name ?? '';
    if (name === 'stranger') return allow({ rows: where('owner', 'stranger') });
    if (name === 'clerk') return allow({ readable: ['id', 'title', 'owner', 'version'] });
    if (name === 'blind') return allow({ readable: ['id', 'title'] });
    if (name === 'guesser')
      return method === 'GET' ? allow({ rows: where('owner', 'guesser') }) : allow({ readable: ['id'] });
    if (name === 'scribe' && method !== 'GET') return allow({ readable: ['id'] });
    return allow();
  }
}

@Restify({ app: 'cond', conditional: true, permissions: [Readers] })
@Entity('cond_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @Column({ default: 'none' }) secret: string;
  @Column({ default: 'all' }) owner: string;
  @UpdateDateColumn() updated: Date;
  @VersionColumn() version: number;
}

@Restify({ app: 'cond', conditional: true, permissions: [Readers] })
@Entity('cond_page')
class Page {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @Column({ default: 'none' }) secret: string;
  @Column({ default: 'all' }) owner: string;
}

/** Its version begins again with a row of the same key. */
@Restify({ app: 'cond', conditional: true })
@Entity('cond_keyed')
class Keyed {
  @PrimaryColumn() code: string;
  @Column() title: string;
  @VersionColumn() version: number;
}

/** A foreign key changes rows of it, and their versions stay. */
@Restify({ app: 'cond', conditional: true })
@Entity('cond_leaf')
class Leaf {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Page, { nullable: true, onDelete: 'SET NULL' }) page: Relation<Page> | null;
  @VersionColumn() version: number;
}

@Restify({ app: 'cond', conditional: { require: true }, cacheControl: 'public, max-age=60' })
@Entity('cond_strict')
class Strict {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
}

/** The key of its badge stands in another row. */
@Restify({
  app: 'cond',
  conditional: true,
  through: { pages: { permissions: [AllowAny], conditional: { require: true } } },
})
@Entity('cond_person')
class Person {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @VersionColumn() version: number;
  @OneToOne(() => Badge, (badge) => badge.person) badge: Relation<Badge> | null;
  @ManyToMany(() => Page) @JoinTable({ name: 'cond_person_page' }) pages: Relation<Page[]>;
}

@Restify({ app: 'cond' })
@Entity('cond_badge')
class Badge {
  @PrimaryGeneratedColumn() id: number;
  @OneToOne(() => Person, (person) => person.badge) @JoinColumn() person: Relation<Person>;
}

/** Rows of pages that belong to all. */
class OfAll implements Permission {
  decide(): Grant {
    return allow({ rows: where('page.owner', 'all') });
  }
}

/** Looked for over another table, which a database may read before it has the lock. */
@Restify({ app: 'cond', conditional: true, permissions: [OfAll] })
@Entity('cond_remark')
class Remark {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
  @ManyToOne(() => Page, { nullable: true }) page: Relation<Page> | null;
}

@Restify({ app: 'cond', conditional: true })
@Entity('cond_shop')
class Shop {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @ManyToMany(() => Ware)
  @JoinTable({
    name: 'cond_offer',
    joinColumn: { name: 'shopId' },
    inverseJoinColumn: { name: 'wareId' },
    synchronize: false,
  })
  wares: Relation<Ware[]>;
}

@Restify({ app: 'cond', conditional: true })
@Entity('cond_ware')
class Ware {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'cond', conditional: true })
@Entity('cond_offer')
class Offer {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Shop, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'shopId' })
  shop: Relation<Shop>;
  @ManyToOne(() => Ware, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'wareId' })
  ware: Relation<Ware>;
  @Column() price: number;
  @VersionColumn() version: number;
}

@Restify({ app: 'cond', cacheControl: 'private, max-age=5' })
@Entity('cond_plain')
class Plain {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
}

const ENTITIES = [Note, Page, Keyed, Leaf, Strict, Person, Badge, Remark, Shop, Ware, Offer, Plain];
const NOTE = '/rest/v1/cond/note/';
const PAGE = '/rest/v1/cond/page/';

function knowUsers(app: INestApplication): void {
  app.use(
    (
      request: { headers: Record<string, string | undefined>; user?: object },
      _response: object,
      next: () => void,
    ) => {
      const name = request.headers['x-user'];
      if (name !== undefined) request.user = { name };
      next();
    },
  );
}

const CONTRACT = {
  vary: 'Accept, Cookie',
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

onEachDatabase('conditional requests', (database) => {
  let started: StartedApp;
  let client: Client;

  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database, configure: knowUsers });
    ({ client } = started);
  });

  afterAll(() => started.close());

  const made = async (
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<{ url: string; tag: string }> => {
    const { status, json, headers: told } = await client.post(path, body, { headers });
    expect(status).toBe(201);
    const key = (json as { id?: number; code?: string }).id ?? (json as { code?: string }).code ?? '';
    return { url: `${path}${key}/`, tag: told.etag ?? '' };
  };
  const tagOf = async (url: string, headers: Record<string, string> = {}): Promise<string> =>
    (await client.get(url, { headers })).headers.etag ?? '';
  const statuses = (answers: readonly Answer[]): readonly number[] =>
    answers.map(({ status }) => status).sort();

  for (const [kind, path] of [
    ['a version', NOTE],
    ['content', PAGE],
  ] as const) {
    test(`an object has a strong tag of ${kind}, the same by each way in, and another after each change`, async () => {
      const { url, tag } = await made(path, { title: 'one' });
      expect(tag).toMatch(/^"[!-~]+"$/);
      expect(await tagOf(url)).toBe(tag);
      expect((await client.send('HEAD', url)).headers.etag).toBe(tag);
      const patched = await client.patch(url, { title: 'two' });
      expect(patched.headers.etag).not.toBe(tag);
      expect(await tagOf(url)).toBe(patched.headers.etag);
      const put = await client.put(url, { title: 'three' });
      expect(await tagOf(url)).toBe(put.headers.etag);
      expect(new Set([tag, patched.headers.etag, put.headers.etag]).size).toBe(3);
    });

    test(`a caller who has ${kind} is answered 304 with the headers of contract 7.1 and no body`, async () => {
      const { url, tag } = await made(path, { title: 'known' });
      for (const method of ['GET', 'HEAD']) {
        for (const none of [tag, `W/${tag}`, `"other", ${tag}`, ` ,"x",, W/"y" ,${tag}`, '*']) {
          const { status, text, headers } = await client.send(method, url, {
            headers: { 'if-none-match': none },
          });
          expect([method, none, status, text]).toEqual([method, none, 304, '']);
          expect(headers).toMatchObject({
            ...CONTRACT,
            etag: tag,
            'cache-control': 'private, no-cache',
            allow: 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
          });
          expect(headers['content-type']).toBeUndefined();
          expect(headers['content-length']).toBeUndefined();
        }
      }
      for (const none of [
        '"other"',
        tag.slice(1, -1),
        '',
        `${tag} "x"`,
        `"${'x'.repeat(5000)}", ${tag}`,
        Array.from({ length: 101 }, () => tag).join(','),
      ]) {
        expect((await client.get(url, { headers: { 'if-none-match': none } })).status).toBe(200);
      }
      await client.patch(url, { title: 'changed' });
      expect((await client.get(url, { headers: { 'if-none-match': tag } })).status).toBe(200);
    });

    test(`PUT, PATCH and DELETE of ${kind} are done for the state that they name alone`, async () => {
      const { url, tag } = await made(path, { title: 'one' });
      for (const match of ['"other"', `W/${tag}`, '"v1.abc"', '"v99999999999999999999.x"']) {
        for (const [method, body] of [
          ['PUT', { title: 'x' }],
          ['PATCH', { title: 'x' }],
          ['PATCH', { title: [] }],
          ['DELETE', undefined],
        ] as const) {
          const { status, json, headers } = await client.send(method, url, {
            body,
            headers: { 'if-match': match },
          });
          expect([match, method, status, json]).toEqual([
            match,
            method,
            412,
            { detail: 'Precondition failed: the object is not as the request says.' },
          ]);
          expect(headers.etag).toBeUndefined();
        }
      }
      const patched = await client.patch(
        url,
        { title: 'two' },
        { headers: { 'if-match': `"other", ${tag}` } },
      );
      expect([patched.status, patched.json]).toEqual([200, (await client.get(url)).json]);
      expect((await client.patch(url, { title: 'again' }, { headers: { 'if-match': tag } })).status).toBe(
        412,
      );
      const put = await client.put(
        url,
        { title: 'three' },
        { headers: { 'if-match': patched.headers.etag ?? '' } },
      );
      expect(put.status).toBe(200);
      expect((await client.delete(url, { headers: { 'if-match': tag } })).status).toBe(412);
      expect((await client.delete(url, { headers: { 'if-match': put.headers.etag ?? '' } })).status).toBe(
        204,
      );
      expect((await client.delete(url, { headers: { 'if-match': put.headers.etag ?? '' } })).status).toBe(
        404,
      );
    });

    test(`of writers with the same ${kind} exactly one succeeds`, async () => {
      for (let round = 0; round < 5; round++) {
        const { url, tag } = await made(path, { title: 'start' });
        const answers = await Promise.all(
          Array.from({ length: 6 }, (_, index) =>
            client.send(index % 2 === 0 ? 'PATCH' : 'PUT', url, {
              body: { title: `by ${index}` },
              headers: { 'if-match': tag },
            }),
          ),
        );
        expect(statuses(answers)).toEqual([200, 412, 412, 412, 412, 412]);
        const winner = answers.find(({ status }) => status === 200);
        expect((await client.get(url)).json).toEqual(winner?.json);
        const last = await tagOf(url);
        const ends = await Promise.all([
          client.delete(url, { headers: { 'if-match': last } }),
          client.patch(url, { title: 'end' }, { headers: { 'if-match': last } }),
        ]);
        expect(['200,412', '204,404', '204,412']).toContain(statuses(ends).map(String).sort().join(','));
      }
    });

    test(`the order of checks for ${kind}: 404, then the precondition, then the body`, async () => {
      const { url, tag } = await made(path, { title: 'one' });
      expect(
        (await client.patch(`${path}99999/`, { title: [] }, { headers: { 'if-match': '"x"' } })).status,
      ).toBe(404);
      expect((await client.delete(`${path}99999/`, { headers: { 'if-match': '*' } })).status).toBe(404);
      expect(
        (
          await client.send('PATCH', url, {
            raw: '{',
            headers: { 'content-type': 'application/json', 'if-match': '"x"' },
          })
        ).status,
      ).toBe(412);
      expect(
        (
          await client.send('PATCH', url, {
            raw: 'x',
            headers: { 'content-type': 'text/plain', 'if-match': '"x"' },
          })
        ).status,
      ).toBe(412);
      expect(
        (
          await client.send('PATCH', url, {
            raw: '{',
            headers: { 'content-type': 'application/json', 'if-match': tag },
          })
        ).status,
      ).toBe(400);
      expect((await client.patch(url, { title: [] }, { headers: { 'if-match': tag } })).status).toBe(400);
      expect(
        (await client.patch(url, { title: 'x' }, { headers: { 'if-match': tag.slice(1, -1) } })).json,
      ).toEqual({ detail: 'The If-Match header is no list of entity tags: "…", or *.' });
      expect(
        (
          await client.patch(
            url,
            { title: 'x' },
            { headers: { 'if-match': Array.from({ length: 101 }, () => tag).join(',') } },
          )
        ).status,
      ).toBe(400);
      expect((await client.patch(url, { title: 'x' }, { headers: { 'if-match': '*' } })).status).toBe(200);
    });

    test(`If-None-Match rejects writes of ${kind} if the object has one of the tags`, async () => {
      const { url, tag } = await made(path, { title: 'one' });
      for (const none of ['*', tag, `W/${tag}`])
        expect((await client.patch(url, { title: 'x' }, { headers: { 'if-none-match': none } })).status).toBe(
          412,
        );
      expect((await client.patch(url, { title: 'x' }, { headers: { 'if-none-match': 'x' } })).status).toBe(
        400,
      );
      expect(
        (
          await client.patch(
            url,
            { title: 'two' },
            { headers: { 'if-none-match': '"other"', 'if-match': tag } },
          )
        ).status,
      ).toBe(200);
    });

    test(`the tags of two callers who read different fields of ${kind} are never each other's`, async () => {
      const { url } = await made(path, { title: 'one', secret: 'deep' });
      const [whole, clerk, blind] = [
        await tagOf(url),
        await tagOf(url, { 'x-user': 'clerk' }),
        await tagOf(url, { 'x-user': 'blind' }),
      ];
      expect(new Set([whole, clerk, blind]).size).toBe(3);
      for (const [user, own, others] of [
        ['clerk', clerk, [whole, blind]],
        ['blind', blind, [whole, clerk]],
        ['boss', whole, [clerk, blind]],
      ] as const) {
        for (const other of others) {
          expect(
            (await client.get(url, { headers: { 'x-user': user, 'if-none-match': other } })).status,
          ).toBe(200);
          expect(
            (await client.patch(url, { title: 'x' }, { headers: { 'x-user': user, 'if-match': other } }))
              .status,
          ).toBe(412);
        }
        expect((await client.get(url, { headers: { 'x-user': user, 'if-none-match': own } })).status).toBe(
          304,
        );
      }
      expect(
        (await client.patch(url, { title: 'two' }, { headers: { 'x-user': 'clerk', 'if-match': clerk } }))
          .status,
      ).toBe(200);
    });

    test(`a hidden row of ${kind} is 404, with each precondition`, async () => {
      const { url, tag } = await made(path, { title: 'one' });
      for (const match of [tag, '*', '"x"', 'x']) {
        for (const [method, body] of [
          ['GET', undefined],
          ['PATCH', { title: 'x' }],
          ['DELETE', undefined],
        ] as const) {
          expect(
            (await client.send(method, url, { body, headers: { 'x-user': 'stranger', 'if-match': match } }))
              .status,
          ).toBe(404);
        }
        expect(
          (await client.get(url, { headers: { 'x-user': 'stranger', 'if-none-match': match } })).status,
        ).toBe(404);
      }
    });

    test(`a guessed tag in a write of ${kind} does not reveal rows that GET hides`, async () => {
      const { url, tag } = await made(path, { title: 'one' });
      const own = await made(path, { title: 'one', owner: 'guesser' });
      const patch = async (at: string, match: string): Promise<number> =>
        (await client.patch(at, { title: 'two' }, { headers: { 'x-user': 'guesser', 'if-match': match } }))
          .status;
      expect([
        await patch(url, tag),
        await patch(url, '"x"'),
        await patch(own.url, own.tag),
        await patch(own.url, own.tag),
        await patch(url, '*'),
      ]).toEqual([412, 412, 200, 412, 200]);
    });

    test(`a write of ${kind} needs the tag that GET sends to the same caller`, async () => {
      const { url, tag } = await made(path, { title: 'one' });
      const patched = await client.patch(
        url,
        { title: 'two' },
        { headers: { 'x-user': 'scribe', 'if-match': tag } },
      );
      expect([patched.status, patched.headers.etag, Object.keys(patched.json as object)]).toEqual([
        200,
        undefined,
        ['id'],
      ]);
    });
  }

  test('what the caller may not read of a row changes its tag only where it reads the version', async () => {
    const { url } = await made(NOTE, { title: 'one', secret: 'a' });
    const [clerk, blind] = [await tagOf(url, { 'x-user': 'clerk' }), await tagOf(url, { 'x-user': 'blind' })];
    await client.patch(url, { secret: 'b' });
    expect(await tagOf(url, { 'x-user': 'clerk' })).not.toBe(clerk);
    expect(await tagOf(url, { 'x-user': 'blind' })).toBe(blind);
    expect(
      (await client.get(url, { headers: { 'x-user': 'blind' } })).headers['last-modified'],
    ).toBeUndefined();
  });

  test('a version that begins again with its key, and one that a foreign key leaves alone, validate nothing', async () => {
    const first = await made('/rest/v1/cond/keyed/', { code: 'k', title: 'one' });
    await client.delete(first.url);
    await made('/rest/v1/cond/keyed/', { code: 'k', title: 'two' });
    expect((await client.get(first.url, { headers: { 'if-none-match': first.tag } })).status).toBe(200);
    expect(
      (await client.patch(first.url, { title: 'x' }, { headers: { 'if-match': first.tag } })).status,
    ).toBe(412);
    const page = await made(PAGE, { title: 'gone' });
    const leaf = await made('/rest/v1/cond/leaf/', { page: Number(page.url.split('/').at(-2)) });
    await client.delete(page.url);
    expect((await client.get(leaf.url, { headers: { 'if-none-match': leaf.tag } })).json).toMatchObject({
      page: null,
      version: 1,
    });
    expect((await client.delete(leaf.url, { headers: { 'if-match': leaf.tag } })).status).toBe(412);
  });

  test('exactly one writer wins where the grant leads over another table', async () => {
    const page = Number((await made(PAGE, { title: 'p' })).url.split('/').at(-2));
    for (let round = 0; round < 5; round++) {
      const { url, tag } = await made('/rest/v1/cond/remark/', { text: 'one', page });
      const answers = await Promise.all(
        [1, 2, 3, 4, 5].map((index) =>
          client.patch(url, { text: `by ${index}` }, { headers: { 'if-match': tag } }),
        ),
      );
      expect(statuses(answers)).toEqual([200, 412, 412, 412, 412]);
      const dated = await client.get(url);
      expect(dated.json).toEqual(answers.find(({ status }) => status === 200)?.json);
    }
  });

  test('a key that stands in another row changes the tag', async () => {
    const { url, tag } = await made('/rest/v1/cond/person/', { name: 'Ann' });
    await made('/rest/v1/cond/badge/', { person: Number(url.split('/').at(-2)) });
    expect(await tagOf(url)).not.toBe(tag);
    expect((await client.patch(url, { name: 'x' }, { headers: { 'if-match': tag } })).status).toBe(412);
    expect(
      (await client.patch(url, { name: 'Bea' }, { headers: { 'if-match': await tagOf(url) } })).status,
    ).toBe(200);
  });

  test('a model can ask for a precondition: 428', async () => {
    const { url, tag } = await made('/rest/v1/cond/strict/', { title: 'one' });
    const required = { detail: 'Precondition required: send If-Match with the ETag of the object.' };
    for (const [method, body] of [
      ['PUT', { title: 'x' }],
      ['PATCH', { title: [] }],
      ['DELETE', undefined],
    ] as const) {
      for (const headers of [
        {},
        { 'if-none-match': '"x"' },
        { 'if-unmodified-since': 'Sun, 06 Nov 2094 08:49:37 GMT' },
      ]) {
        const { status, json } = await client.send(method, url, {
          body,
          headers: headers as Record<string, string>,
        });
        expect([method, status, json]).toEqual([method, 428, required]);
      }
    }
    expect((await client.patch('/rest/v1/cond/strict/999/', { title: 'x' })).status).toBe(404);
    expect((await client.patch(url, { title: 'two' }, { headers: { 'if-match': tag } })).status).toBe(200);
    expect((await client.delete(url, { headers: { 'if-match': '*' } })).status).toBe(204);
  });

  test('Cache-Control is sent with reads, and only anonymous callers get what may be shared', async () => {
    const { url } = await made('/rest/v1/cond/strict/', { title: 'one' });
    for (const path of [url, '/rest/v1/cond/strict/']) {
      expect((await client.get(path)).headers['cache-control']).toBe('public, max-age=60');
      expect((await client.get(path, { headers: { 'x-user': 'ann' } })).headers['cache-control']).toBe(
        'private, no-cache',
      );
    }
    const plain = await made('/rest/v1/cond/plain/', { title: 'one' });
    for (const path of [plain.url, '/rest/v1/cond/plain/']) {
      const { headers } = await client.get(path, { headers: { 'x-user': 'ann' } });
      expect([headers['cache-control'], headers.etag]).toEqual(['private, max-age=5', undefined]);
    }
    expect((await client.get(NOTE)).headers).toMatchObject({ 'cache-control': 'private, no-cache' });
    expect((await client.get(NOTE)).headers.etag).toBeUndefined();
    const options = await client.send('OPTIONS', url, {
      headers: { 'if-none-match': '*', 'if-match': '"x"' },
    });
    expect([options.status, options.headers['cache-control'], options.headers.etag]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    expect((await client.get(`${PAGE}99999/`)).headers['cache-control']).toBeUndefined();
  });

  test('without the option no validator is sent, and preconditions are ignored', async () => {
    const { url, tag } = await made('/rest/v1/cond/plain/', { title: 'one' });
    expect(tag).toBe('');
    const { status, headers } = await client.get(url, {
      headers: { 'if-none-match': '*', 'if-match': '"x"' },
    });
    expect([status, headers.etag, headers['last-modified']]).toEqual([200, undefined, undefined]);
    expect(
      (await client.patch(url, { title: 'two' }, { headers: { 'if-match': '"x"', 'if-none-match': '*' } }))
        .status,
    ).toBe(200);
    expect((await client.get('/rest/v1/cond/badge/')).headers['cache-control']).toBeUndefined();
  });

  test('pairs of a many-to-many are compared by their content', async () => {
    const person = await made('/rest/v1/cond/person/', { name: 'Cid' });
    const [one, two] = [await made(PAGE, { title: 'p' }), await made(PAGE, { title: 'q' })].map(({ url }) =>
      Number(url.split('/').at(-2)),
    );
    const list = `${person.url}pages/`;
    expect((await client.post(list, { page: one })).status).toBe(201);
    const tag = await tagOf(`${list}${one}/`);
    expect(tag).not.toBe('');
    expect((await client.get(`${list}${one}/`, { headers: { 'if-none-match': tag } })).status).toBe(304);
    expect((await client.patch(`${list}${one}/`, { page: two })).status).toBe(428);
    expect((await client.delete(`${list}${one}/`, { headers: { 'if-match': '"x"' } })).status).toBe(412);
    expect(
      (
        await client.patch(
          `${list}${one}/`,
          { page: two },
          { headers: { 'if-match': await tagOf(person.url) } },
        )
      ).status,
    ).toBe(412);
    const answers = await Promise.all(
      [two, two, two].map((page) =>
        client.patch(`${list}${one}/`, { page }, { headers: { 'if-match': tag } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
    expect(answers.every(({ status }) => [200, 404].includes(status))).toBe(true);
    expect(
      (await client.delete(`${list}${two}/`, { headers: { 'if-match': await tagOf(`${list}${two}/`) } }))
        .status,
    ).toBe(204);
  });

  test('a through model of the application is compared by its version, and is of one state on all of its URLs', async () => {
    const shop = await made('/rest/v1/cond/shop/', { name: 'S' });
    const ware = await made('/rest/v1/cond/ware/', { name: 'W' });
    const key = (url: string): number => Number(url.split('/').at(-2));
    const list = `${shop.url}wares/`;
    const offer = await made(list, { ware: key(ware.url), price: 1 });
    const own = `/rest/v1/cond/offer/${key(offer.url)}/`;
    expect((await client.patch(offer.url, { price: 2 }, { headers: { 'if-match': '"x"' } })).status).toBe(
      412,
    );
    expect((await client.patch(offer.url, { price: 2 }, { headers: { 'if-match': offer.tag } })).status).toBe(
      200,
    );
    expect(
      (
        await client.put(
          own,
          { ware: key(ware.url), shop: key(shop.url), price: 3 },
          { headers: { 'if-match': offer.tag } },
        )
      ).status,
    ).toBe(412);
    const answers = await Promise.all(
      [1, 2, 3, 4].map(async (price) =>
        client.patch(
          price % 2 === 0 ? own : offer.url,
          { price: price + 5 },
          { headers: { 'if-match': `${await tagOf(own)}, ${await tagOf(offer.url)}` } },
        ),
      ),
    );
    expect(statuses(answers).filter((status) => status !== 412)).toContain(200);
    expect((await client.delete(offer.url, { headers: { 'if-match': await tagOf(offer.url) } })).status).toBe(
      204,
    );
  });

  const seen = async (updated: string): Promise<string> => {
    const { url } = await made(NOTE, { title: 'dated' });
    const quote = (name: string): string => started.dataSource.driver.escape(name);
    const table = started.dataSource.getMetadata(Note).tablePath.split('.').map(quote).join('.');
    await started.dataSource.query(
      `UPDATE ${table} SET ${quote('updated')} = '${updated}' WHERE ${quote('id')} = ${Number(url.split('/').at(-2))}`,
    );
    return url;
  };

  test('Last-Modified is the second of the last change, once it is over', async () => {
    const fresh = await made(NOTE, { title: 'fresh' });
    expect((await client.get(fresh.url)).headers['last-modified']).toBeUndefined();
    const url = await seen('2024-03-01 10:00:00.700');
    const { headers, json } = await client.get(url);
    expect(headers['last-modified']).toBe(new Date((json as { updated: string }).updated).toUTCString());
    const at = Date.parse(headers['last-modified'] ?? '');
    const date = (offset: number): string => new Date(at + offset).toUTCString();
    const since = async (headersOf: Record<string, string>): Promise<number> =>
      (await client.get(url, { headers: headersOf })).status;
    expect(await since({ 'if-modified-since': date(0) })).toBe(304);
    expect(await since({ 'if-modified-since': date(5000) })).toBe(304);
    expect(await since({ 'if-modified-since': date(-1000) })).toBe(200);
    expect(await since({ 'if-modified-since': 'yesterday' })).toBe(200);
    expect(await since({ 'if-modified-since': date(0), 'if-none-match': '"other"' })).toBe(200);
    expect(await since({ 'if-modified-since': date(-1000), 'if-none-match': headers.etag ?? '' })).toBe(304);
    expect(await since({ 'if-unmodified-since': date(-1000) })).toBe(412);
    expect(await since({ 'if-match': '"other"', 'if-none-match': headers.etag ?? '' })).toBe(412);
    expect(await since({ 'if-unmodified-since': date(-1000), 'if-match': headers.etag ?? '' })).toBe(200);
  });

  test('If-Unmodified-Since is a condition of the write, which one of two writers meets', async () => {
    const url = await seen('2024-03-01 10:00:00.700');
    const told = (await client.get(url)).headers['last-modified'] ?? '';
    const before = new Date(Date.parse(told) - 1000).toUTCString();
    expect(
      (await client.patch(url, { title: 'x' }, { headers: { 'if-unmodified-since': before } })).status,
    ).toBe(412);
    expect((await client.delete(url, { headers: { 'if-unmodified-since': before } })).status).toBe(412);
    const answers = await Promise.all(
      [1, 2, 3].map((index) =>
        client.patch(url, { title: `by ${index}` }, { headers: { 'if-unmodified-since': told } }),
      ),
    );
    expect(statuses(answers)).toEqual([200, 412, 412]);
    expect(
      (await client.patch(url, { title: 'x' }, { headers: { 'if-unmodified-since': 'yesterday' } })).status,
    ).toBe(200);
    // Within the second of a change nobody knows what came first; who does not read the date is not asked for it.
    const { updated } = (await client.get(url)).json as { updated: string };
    const now = new Date(updated).toUTCString();
    expect(
      (await client.patch(url, { title: 'y' }, { headers: { 'if-unmodified-since': now } })).status,
    ).toBe(412);
    expect(
      (
        await client.patch(
          url,
          { title: 'y' },
          { headers: { 'if-unmodified-since': new Date(Date.parse(updated) + 5000).toUTCString() } },
        )
      ).status,
    ).toBe(200);
    expect(
      (
        await client.patch(
          url,
          { title: 'y' },
          { headers: { 'if-unmodified-since': now, 'x-user': 'blind' } },
        )
      ).status,
    ).toBe(200);
    expect(
      (
        await client.patch(
          url,
          { title: 'z' },
          { headers: { 'if-unmodified-since': before, 'if-match': await tagOf(url) } },
        )
      ).status,
    ).toBe(200);
  });
});
