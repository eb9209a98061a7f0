// @tags db http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { allow, deny, IdempotencyRecord, Restify, RestifyResources } from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  Not,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const WITHHELD = 'You do not have permission to write this field.';

interface User {
  readonly role: string;
}

/** An editor may read all but `secret`, and may write `code`, `title` and `tag`; everybody else may do everything. */
class Editors implements Permission {
  decide({ actor, method }: AccessContext): Grant | Denial {
    const role = (actor as User | null)?.role;
    if (role === 'blind' && method === 'GET') return deny();
    if (role !== 'editor' && role !== 'blind') return allow();
    const readable = [
      'id',
      'code',
      'title',
      'price',
      'due',
      'meta',
      'address',
      'team',
      'teamId',
      'parts',
      'tags',
      'size',
      'locked',
      'changed',
      'version',
      'article',
      'tag',
      'note',
    ];
    return allow({ readable, writable: ['code', 'title', 'tag'] });
  }
}

class Address {
  @Column({ length: 20, default: '' })
  city: string;

  @Column({ type: 'decimal', precision: 8, scale: 2, nullable: true })
  rent: string | null;

  @ManyToOne(() => Team, { nullable: true })
  agency: Relation<Team> | null;
}

@Restify('strictly')
@Entity('strictly_team')
class Team {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;
}

@Restify({
  app: 'strictly',
  strict: 'writes',
  permissions: [Editors],
  computed: { size: (article: Article) => article.title.length },
  readOnly: ['locked'],
  shape: true,
  expandable: ['team', 'parts'],
  conditional: true,
  idempotency: true,
  returnDeleted: true,
  bulk: { upsert: ['code'] },
  label: 'title',
})
@Entity('strictly_article')
class Article {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  code: string;

  @Column({ length: 20 })
  title: string;

  @Column({ length: 20, default: 'hidden' })
  secret: string;

  @Column({ length: 20, default: 'locked' })
  locked: string;

  @Column({ type: 'decimal', precision: 8, scale: 2, default: 1.5 })
  price: string;

  @Column({ type: 'date', nullable: true })
  due: string | null;

  @Column({ type: 'simple-json', nullable: true })
  meta: unknown;

  @Column(() => Address)
  address: Address;

  @Column({ nullable: true })
  teamId: number | null;

  @ManyToOne(() => Team, { nullable: true })
  @JoinColumn({ name: 'teamId' })
  team: Relation<Team> | null;

  @ManyToOne(() => Article, (article) => article.parts, { nullable: true })
  whole: Relation<Article> | null;

  @OneToMany(() => Article, (article) => article.whole)
  parts: Relation<Article[]>;

  @ManyToMany(() => Tag, (tag) => tag.articles)
  @JoinTable({
    name: 'strictly_tagging',
    joinColumn: { name: 'articleId' },
    inverseJoinColumn: { name: 'tagCode' },
    synchronize: false,
  })
  tags: Relation<Tag[]>;

  @UpdateDateColumn({ precision: 3 })
  changed: Date;

  @VersionColumn()
  version: number;
}

@Restify({ app: 'strictly', strict: 'writes', permissions: [Editors] })
@Entity('strictly_tag')
class Tag {
  @PrimaryColumn({ length: 20 })
  code: string;

  @Column({ length: 20, default: 'plain' })
  note: string;

  @ManyToMany(() => Article, (article) => article.tags)
  articles: Relation<Article[]>;
}

@Restify({ app: 'strictly', strict: 'writes', permissions: [Editors] })
@Entity('strictly_tagging')
class Tagging {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Article, { nullable: false, onDelete: 'CASCADE' })
  article: Relation<Article>;

  @ManyToOne(() => Tag, { nullable: false, onDelete: 'CASCADE' })
  tag: Relation<Tag>;

  @Column({ length: 20, default: 'none' })
  note: string;
}

const ARTICLE = {
  code: 'a',
  title: 'one',
  price: '1.50',
  due: '2024-05-06',
  meta: { b: 1, a: [2, { c: null }] },
  address: { city: ' Rome ', rent: '700.00', agency: { id: 2 } },
  team: { id: 1 },
};

const EDITOR = { 'x-role': 'editor' };

onEachDatabase("strict: 'writes'", (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Team, Article, Tag, Tagging, IdempotencyRecord],
      database,
      configure: (app) => {
        app.use((request: { headers: Record<string, string>; user?: User }, _: unknown, next: () => void) => {
          if (request.headers['x-role']) request.user = { role: request.headers['x-role'] };
          next();
        });
      },
    });
  });
  beforeAll(async () => {
    const { manager } = started.dataSource;
    await manager.save(Team, [{ name: 'red' }, { name: 'blue' }]);
    await manager.save(Article, ARTICLE);
    await manager.save(Tag, [{ code: 'x' }, { code: 'y' }]);
    await manager.save(Tagging, { article: { id: 1 }, tag: { code: 'x' } });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    const { manager } = started.dataSource;
    await manager.delete(Tagging, { id: Not(1) });
    await manager.update(Tagging, 1, { tag: { code: 'x' } });
    await manager.update(Article, 1, ARTICLE);
  });

  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = EDITOR,
  ) =>
    started.client.send(method, `/rest/v1/strictly/${path}`, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
  const stored = async () => started.dataSource.manager.findOneByOrFail(Article, { id: 1 });

  describe('an object that is sent back as it was read', () => {
    test.each([
      ['PUT', 'article/1/'],
      ['PATCH', 'article/1/'],
      ['PUT', 'tag/x/'],
      ['PATCH', 'tagging/1/'],
      ['PUT', 'article/1/tags/1/'],
      ['PUT', 'tag/x/articles/1/'],
    ])('is accepted: %s %s', async (method, path) => {
      for (const headers of [EDITOR, {}]) {
        const read = await send('GET', path, undefined, headers);
        const written = await send(method, path, read.json, headers);
        expect(written.status).toBe(200);
        // A caller with all rights writes texts without the blanks around them.
        if (headers === EDITOR)
          expect({ ...(written.json as object), changed: 0, version: 0 }).toEqual({
            ...(read.json as object),
            changed: 0,
            version: 0,
          });
      }
    });

    test('is accepted in bulk, in upserts and with other forms of the same values', async () => {
      const { json } = await send('GET', 'article/');
      expect((await send('PATCH', 'article/', json)).status).toBe(200);
      expect((await send('POST', 'article/?upsert=true', json)).status).toBe(200);
      const forms = { price: '1.5', due: '2024-05-06', teamId: '1', address: { rent: '7.00E+2' } };
      expect((await send('PATCH', 'article/1/', forms)).status).toBe(200);
      expect((await send('PATCH', 'article/?code=a', { ...forms, title: 'all' })).status).toBe(200);
      expect(await stored()).toMatchObject({ title: 'all', secret: 'hidden' });
    });

    test('may have new values of what the caller may write', async () => {
      const { json } = await send('GET', 'article/1/');
      const { status } = await send('PUT', 'article/1/', { ...(json as object), title: 'two' });
      expect([status, (await stored()).title]).toEqual([200, 'two']);
    });
  });

  describe('a value of a field that a grant withholds', () => {
    test.each<readonly [string, unknown, unknown]>([
      ['a column', { price: '2.00' }, { price: [WITHHELD] }],
      ['a wrong type', { price: 'x', due: 7 }, { price: [WITHHELD], due: [WITHHELD] }],
      ['null', { meta: null }, { meta: [WITHHELD] }],
      ['JSON', { meta: { b: 1, a: [2, { c: 0 }] } }, { meta: [WITHHELD] }],
      ['a relation', { team: 2 }, { team: [WITHHELD] }],
      ['a related key that is not there', { team: 99 }, { team: [WITHHELD] }],
      ['the column of a relation', { teamId: 2 }, { teamId: [WITHHELD] }],
      [
        'a member of an embedded object',
        { address: { city: 'Oslo', rent: '700.00' } },
        { address: { city: [WITHHELD] } },
      ],
      [
        'a relation in an embedded object',
        { address: { agency: null } },
        { address: { agency: [WITHHELD] } },
      ],
      ['an embedded object', { address: 'Oslo' }, { address: [WITHHELD] }],
      [
        'beside other errors',
        { title: '', price: '2.00' },
        { title: ['This field may not be blank.'], price: [WITHHELD] },
      ],
    ])('is 400 in PATCH, and nothing is stored: %s', async (_, change, errors) => {
      const before = await stored();
      const refused = await send('PATCH', 'article/1/', { title: 'changed', ...(change as object) });
      expect([refused.status, refused.json]).toEqual([400, errors]);
      expect(await stored()).toEqual(before);
    });

    test.each<readonly [string, string, unknown, unknown]>([
      ['POST', 'article/', { code: 'b', title: 'two', teamId: 1 }, { teamId: [WITHHELD] }],
      [
        'POST',
        'article/',
        [
          { code: 'b', title: 'two' },
          { code: 'c', title: 'three', price: '1.50' },
        ],
        [{}, { price: [WITHHELD] }],
      ],
      ['PUT', 'article/1/', { code: 'a', title: 'two', price: '9.00' }, { price: [WITHHELD] }],
      ['PATCH', 'article/', [{ id: 1, title: 'two', price: '9.00' }], [{ price: [WITHHELD] }]],
      ['PATCH', 'article/?code=a', { title: 'two', price: '9.00' }, { price: [WITHHELD] }],
      ['POST', 'article/?upsert=true', [{ code: 'a', title: 'two', price: '9.00' }], [{ price: [WITHHELD] }]],
      ['POST', 'article/1/tags/', { tag: 'y', note: 'x' }, { note: [WITHHELD] }],
      ['PATCH', 'tag/x/articles/1/', { article: 2 }, { article: [WITHHELD] }],
      ['PATCH', 'article/1/tags/1/', { tag: 'y', note: 'other' }, { note: [WITHHELD] }],
    ])('is 400 by each way: %s %s', async (method, path, body, errors) => {
      const refused = await send(method, path, body);
      expect([refused.status, refused.json]).toEqual([400, errors]);
      const { title, price } = await stored();
      expect([title, Number(price)]).toEqual(['one', 1.5]);
      expect(await started.dataSource.manager.count(Tagging)).toBe(1);
    });

    test('is an error of calls without HTTP', async () => {
      const articles = started.app.get(RestifyResources).of(Article).as({ role: 'editor' });
      await expect(articles.partialUpdate(1, { price: '9.00' })).rejects.toMatchObject({
        response: { status: 400, body: { price: [WITHHELD] } },
      });
    });
  });

  describe('S2, S10: a field that the caller may not read', () => {
    test.each([
      ['PATCH', 'article/1/', ['hidden', 'other']],
      ['PUT', 'article/1/', ['hidden', 'other']],
      ['POST', 'article/', ['hidden', 'other']],
    ])('is answered as one that does not exist, whatever its value: %s %s', async (method, path, values) => {
      const answers = new Set<string>();
      for (const name of ['secret', 'nothing', 'whole'])
        for (const value of [...values, 1, null]) {
          const { status, text } = await send(method, path, { code: 'b', title: 'two', [name]: value });
          answers.add(`${status} ${text.replaceAll(name, 'NAME')}`);
        }
      expect([...answers]).toEqual(['400 {"NAME":["Unknown field."]}']);
      expect(await stored()).toMatchObject({ title: 'one', secret: 'hidden' });
    });
  });

  test('never rejects the key, the side of the parent, and fields that no caller may write', async () => {
    const fixed = { id: 9, locked: 'open', size: 3, version: 7, changed: null, parts: 'x', tags: [] };
    expect((await send('PATCH', 'article/1/', fixed)).status).toBe(200);
    expect((await send('PUT', 'tag/x/', { code: 'z' })).status).toBe(200);
    expect((await send('PATCH', 'article/1/tags/1/', { article: 99, tag: 'y' })).json).toMatchObject({
      article: 1,
      tag: 'y',
    });
    expect(await stored()).toMatchObject({ locked: 'locked' });
  });

  test('compares with the row as it is when it is written', async () => {
    const { json } = await send('GET', 'article/1/');
    expect((await send('PATCH', 'article/1/', { price: '4.00' }, {})).status).toBe(200);
    expect((await send('PATCH', 'article/1/', { price: (json as { price: string }).price })).json).toEqual({
      price: [WITHHELD],
    });
    expect((await send('PATCH', 'article/1/', { price: '4' })).status).toBe(200);
  });
});
