// @tags db http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  allow,
  AllowAny,
  LimitOffsetPagination,
  PageNumberPagination,
  Restify,
  RestifyModule,
  where,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { fullTextTable, indexedDatabase } from '../support/indexed-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** `some` sees what is no draft, `blind` no texts. */
class Articles implements Permission {
  decide({ request }: AccessContext): Grant {
    const role = (request as { readonly headers: Readonly<Record<string, string>> }).headers['x-role'];
    if (role === 'some') return allow({ rows: where('draft', false) });
    return role === 'blind' ? allow({ readable: ['id', 'title', 'author'] }) : allow();
  }
}

@Restify({ app: 'rs', expandable: ['articles'], shape: true, expansionQueries: true })
@Entity('rs_author')
class Author {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @OneToMany(() => Article, (article) => article.author) articles: Relation<Article[]>;
}

@Restify({
  app: 'rs',
  permissions: [Articles],
  searchFields: ['@title', '@text'],
  fullText: { table: 'rs_article_text' },
  aggregate: { group: ['author'] },
  query: true,
})
@Entity('rs_article')
class Article {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 60 }) title: string;
  @Column({ type: 'text', nullable: true }) text: string | null;
  @Column({ default: false }) draft: boolean;
  @ManyToOne(() => Author, (author) => author.articles) author: Relation<Author>;
  @ManyToMany(() => Tag, (tag) => tag.articles)
  @JoinTable({
    name: 'rs_mention',
    joinColumn: { name: 'article_id' },
    inverseJoinColumn: { name: 'tag_id' },
    synchronize: false,
  })
  tags: Relation<Tag[]>;
}

@Restify('rs')
@Entity('rs_tag')
class Tag {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @ManyToMany(() => Article, (article) => article.tags) articles: Relation<Article[]>;
}

@Restify({
  app: 'rs',
  permissions: [AllowAny],
  searchFields: ['@note'],
  fullText: { table: 'rs_mention_text', rank: 'relevance' },
})
@Entity('rs_mention')
class Mention {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 60 }) note: string;
  @ManyToOne(() => Article, { nullable: false })
  @JoinColumn({ name: 'article_id' })
  article: Relation<Article>;
  @ManyToOne(() => Tag, { nullable: false })
  @JoinColumn({ name: 'tag_id' })
  tag: Relation<Tag>;
}

const ENTITIES = [Author, Article, Tag, Mention];

const INDEXES = {
  sqlite: [
    ...fullTextTable('rs_article_text', { table: 'rs_article', columns: ['title', 'text'] }),
    ...fullTextTable('rs_mention_text', { table: 'rs_mention', columns: ['note'] }),
  ],
  postgres: [
    "CREATE INDEX rs_article_text ON rs_article USING gin (to_tsvector('simple', title || ' ' || coalesce(text, '')))",
    "CREATE INDEX rs_mention_text ON rs_mention USING gin (to_tsvector('simple', note))",
  ],
  mariadb: [
    'CREATE FULLTEXT INDEX rs_article_text ON rs_article (title, text)',
    'CREATE FULLTEXT INDEX rs_mention_text ON rs_mention (note)',
  ],
};

const PAGES = new PageNumberPagination({ pageSize: 2, pageSizeParameter: 'page_size' });
const OFFSETS = new LimitOffsetPagination({ pageSize: 2 });

/** The word stands in a text of the same length so often, so that all databases rank alike. */
function harbors(times: number): string {
  const words = Array.from({ length: 12 }, (_, index) => (index < times ? 'harbor' : `filler${index}`));
  return words.join(' ');
}

/** Those of a QUERY name no parameters. */
function withoutLinks(json: unknown): unknown {
  return Array.isArray(json) ? json : { ...(json as object), next: undefined, previous: undefined };
}

onEachDatabase('a ranked search', (database) => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      database: indexedDatabase(database, ENTITIES, INDEXES),
      entities: ENTITIES,
      dataSource: { synchronize: false },
      restifyModules: [
        RestifyModule.forRoot('rest/v1', { unknownEntities: 'ignore', missingIndexRows: false }),
        RestifyModule.forRoot('pages/v1', { pagination: PAGES, missingIndexRows: false }),
        RestifyModule.forRoot('offsets/v1', { pagination: OFFSETS, missingIndexRows: false }),
      ],
    });
    const { manager } = started.dataSource;
    await manager.insert(Author, [{ name: 'Ann' }, { name: 'Bob' }]);
    const [ann, bob] = [{ id: 1 }, { id: 2 }];
    await manager.insert(Article, [
      { title: 'One', text: harbors(1), author: ann },
      { title: 'Five', text: harbors(5), author: bob },
      { title: 'Two', text: harbors(2), author: ann },
      { title: 'Secret four', text: harbors(4), draft: true, author: ann },
      { title: 'Again', text: harbors(1), author: bob },
      { title: 'Harbor lights', text: null, author: bob },
      { title: 'Nothing', text: 'about foo-bar and quiet mountains', author: ann },
      ...Array.from({ length: 12 }, (_, index) => ({
        title: `Other ${index}`,
        text: `unrelated words of ${index}`,
        draft: true,
        author: ann,
      })),
    ]);
    await manager.insert(Tag, [{ name: 'sea' }, { name: 'land' }, { name: 'air' }, { name: 'fire' }]);
    await manager.insert(Mention, [
      { note: 'lighthouse once only here', article: { id: 1 }, tag: { id: 1 } },
      { note: 'lighthouse lighthouse lighthouse here', article: { id: 1 }, tag: { id: 2 } },
      { note: 'nothing to see over there', article: { id: 1 }, tag: { id: 3 } },
      { note: 'lighthouse of another article', article: { id: 2 }, tag: { id: 1 } },
      { note: 'something else again now', article: { id: 2 }, tag: { id: 4 } },
    ]);
  });

  afterAll(() => started.close());

  async function ask(path: string, role = 'all'): Promise<unknown> {
    const { status, json } = await started.client.get(`/${path}`, { headers: { 'x-role': role } });
    if (status !== 200) return json;
    const rows = Array.isArray(json) ? json : (json as { readonly results: readonly unknown[] }).results;
    return (rows as readonly { readonly id: unknown }[]).map(({ id }) => id);
  }
  const find = (query: string, role?: string): Promise<unknown> => ask(`rest/v1/rs/article/?${query}`, role);
  const search = (text: string): Promise<unknown> => find(`ordering=id&search=${encodeURIComponent(text)}`);

  test.each<readonly [string, readonly number[]]>([
    ['harbor', [1, 2, 3, 4, 5, 6]],
    ['HARBOR', [1, 2, 3, 4, 5, 6]],
    ['harbor five', [2]],
    ['five,harbor', [2]],
    ['lights harbor', [6]],
    ['"harbor lights"', [6]],
    ['"lights harbor"', []],
    ['harb', []],
    ['foo-bar', [7]],
    ['quiet mountains', [7]],
    ['mountains', [7]],
    ['nowhere', []],
    ['harbor !!! five', [2]],
  ])('finds the objects whose text has all terms: %s', async (text, ids) => {
    expect(await search(text)).toEqual(ids);
  });

  test('orders by rank in both directions, and ties by the key in that direction', async () => {
    const best = (await find('search=harbor&ordering=-rank')) as readonly number[];
    expect(best.filter((id) => id !== 6)).toEqual([2, 4, 3, 5, 1]);
    const worst = (await find('search=harbor&ordering=rank')) as readonly number[];
    expect(worst).toEqual([...best].reverse());
  });

  test('orders by other fields before and behind the rank', async () => {
    expect(await find('search=harbor&ordering=author,-rank&author=1')).toEqual([4, 3, 1]);
    const ranked = (await find('search=harbor&ordering=-rank,title')) as readonly number[];
    expect(ranked.filter((id) => id !== 6)).toEqual([2, 4, 3, 5, 1]);
    const byTitle = (await find('search=harbor&ordering=-rank,-title')) as readonly number[];
    expect(byTitle.filter((id) => id !== 6)).toEqual([2, 4, 3, 1, 5]);
  });

  test('has no rank without a search', async () => {
    const error = { ordering: ['Objects have a rank only in a search.'] };
    expect(await find('ordering=-rank')).toEqual(error);
    expect(await find('search=&ordering=-rank')).toEqual(error);
    expect(await find('ordering=title,rank')).toEqual(error);
    expect(await find('search=%20,&ordering=rank')).toEqual(error);
  });

  test('a search of no words finds nothing, in any order', async () => {
    for (const text of ['!!!', '"', '*', '- +', '"" !', '\u{1F600}'])
      for (const order of ['', '&ordering=-rank'])
        expect(await find(`search=${encodeURIComponent(text)}${order}`)).toEqual([]);
  });

  test('pages and counts are those of the ranked list', async () => {
    const best = (await find('search=harbor&ordering=-rank')) as readonly number[];
    const pages = [];
    for (const page of [1, 2, 3]) {
      const path = `pages/v1/rs/article/?search=harbor&ordering=-rank&page=${page}`;
      const { json } = await started.client.get(`/${path}`);
      expect(json).toMatchObject({ count: 6 });
      pages.push(await ask(path));
    }
    expect(pages.flat()).toEqual(best);
    expect(await ask('pages/v1/rs/article/?search=harbor&ordering=-rank&page=last')).toEqual(best.slice(4));
    expect(await ask('offsets/v1/rs/article/?search=harbor&ordering=-rank&offset=2&limit=3')).toEqual(
      best.slice(2, 5),
    );
  });

  test.each([
    ['rest/v1', 'search=harbor&ordering=-rank'],
    ['rest/v1', 'search=%22harbor%20lights%22,harbor&ordering=rank'],
    ['rest/v1', 'search=harbor+five&ordering=-rank,title&author=2'],
    ['rest/v1', 'search=harbor&aggregate=count&group=author'],
    ['rest/v1', 'ordering=-rank'],
    ['pages/v1', 'search=harbor&ordering=-rank&page=2'],
    ['offsets/v1', 'search=harbor&ordering=-rank&offset=2&limit=3'],
  ])('QUERY answers as GET: %s %s', async (prefix, parameters) => {
    const headers = { 'x-role': 'some', 'content-type': 'application/x-www-form-urlencoded' };
    const path = `/${prefix}/rs/article/`;
    const got = await started.client.get(`${path}?${parameters}`, { headers });
    const queried = await started.client.send('QUERY', path, { raw: parameters, headers });
    expect(queried.status).toBe(got.status);
    expect(withoutLinks(queried.json)).toEqual(withoutLinks(got.json));
    if (parameters !== 'ordering=-rank') expect(JSON.stringify(queried.json)).toContain('author');
  });

  test('grants of rows and fields hold', async () => {
    const seen = (await find('search=harbor&ordering=-rank', 'some')) as readonly number[];
    expect(seen.filter((id) => id !== 6)).toEqual([2, 3, 5, 1]);
    const { json } = await started.client.get('/pages/v1/rs/article/?search=harbor', {
      headers: { 'x-role': 'some' },
    });
    expect(json).toMatchObject({ count: 5 });
    // Without one of the texts there is no search, and no rank.
    expect(await find('search=harbor&ordering=id', 'blind')).toHaveLength(19);
    expect(await find('search=harbor&ordering=-rank', 'blind')).toEqual(
      Array.from({ length: 19 }, (_, index) => index + 1),
    );
  });

  test('nested lists, lists of through objects and expanded lists are searched and ranked', async () => {
    expect(await ask('rest/v1/rs/author/1/articles/?search=harbor&ordering=-rank')).toEqual([4, 3, 1]);
    expect(await ask('rest/v1/rs/author/1/articles/?search=harbor&ordering=-rank', 'some')).toEqual([3, 1]);
    expect(await ask('rest/v1/rs/article/1/tags/?search=lighthouse&ordering=-relevance')).toEqual([2, 1]);
    expect(await ask('rest/v1/rs/mention/?search=lighthouse&ordering=relevance&article=1')).toEqual([1, 2]);
    const { json } = await started.client.get(
      '/rest/v1/rs/author/?expand=articles&articles.search=harbor&articles.ordering=-rank&articles.limit=2&ordering=id',
    );
    const expanded = (json as readonly { readonly articles: readonly { readonly id: number }[] }[]).map(
      ({ articles }) => articles.map(({ id }) => id),
    );
    expect(expanded[0]).toEqual([4, 3]);
    expect(expanded[1]).toContain(2);
    const bare = await started.client.get('/rest/v1/rs/author/?expand=articles&articles.ordering=-rank');
    expect([bare.status, bare.json]).toEqual([
      400,
      { 'articles.ordering': ['Objects have a rank only in a search.'] },
    ]);
  });

  test('aggregates are of the rows that the search finds', async () => {
    const { json } = await started.client.get(
      '/rest/v1/rs/article/?search=harbor&aggregate=count&group=author',
    );
    expect(json).toEqual([
      { author: 1, count: 3 },
      { author: 2, count: 3 },
    ]);
  });

  test('finds what was written, and not what was changed', async () => {
    const fresh = { title: 'Fresh', text: 'periwinkle', author: 2 };
    const { json } = await started.client.post('/rest/v1/rs/article/', fresh);
    const { id } = json as { readonly id: number };
    expect(await find('search=periwinkle&ordering=-rank')).toEqual([id]);
    await started.client.patch(`/rest/v1/rs/article/${id}/`, { text: 'snail' });
    expect(await find('search=periwinkle')).toEqual([]);
    expect(await find('search=snail')).toEqual([id]);
    await started.client.delete(`/rest/v1/rs/article/${id}/`);
    expect(await find('search=snail')).toEqual([]);
  });

  test('a description names the order, where the caller has it', async () => {
    const options = async (role: string): Promise<unknown> => {
      const { json } = await started.client.send('OPTIONS', '/rest/v1/rs/article/', {
        headers: { 'x-role': role },
      });
      const { ordering, search: searched } = json as {
        readonly ordering: { readonly fields: readonly string[]; readonly rank?: string };
        readonly search?: unknown;
      };
      return {
        fields: ordering.fields.includes('rank'),
        rank: ordering.rank,
        searched: searched !== undefined,
      };
    };
    expect(await options('all')).toEqual({ fields: true, rank: 'rank', searched: true });
    expect(await options('blind')).toEqual({ fields: false, rank: undefined, searched: false });
  });
});

describe('a list without a pagination', () => {
  onEachDatabase('is read in pages by rank', (database) => {
    test('in which each object stands once', async () => {
      const started = await startApp({
        database: indexedDatabase(database, ENTITIES, INDEXES),
        entities: ENTITIES,
        dataSource: { synchronize: false },
      });
      try {
        const { manager } = started.dataSource;
        await manager.insert(Author, { name: 'Ann' });
        const rows = Array.from({ length: 2600 }, (_, index) => ({
          title: `T${index}`,
          text: index % 2 === 0 ? harbors((index % 10) / 2 + 1) : 'none of it',
          author: { id: 1 },
        }));
        for (let at = 0; at < rows.length; at += 200) await manager.insert(Article, rows.slice(at, at + 200));
        for (const [order, sign] of [
          ['-rank', -1],
          ['rank', 1],
          ['rank,-title', 1],
        ] as const) {
          const { json } = await started.client.get(`/rest/v1/rs/article/?search=harbor&ordering=${order}`);
          const found = json as readonly { readonly id: number; readonly text: string }[];
          expect(new Set(found.map(({ id }) => id)).size).toBe(1300);
          expect(found).toHaveLength(1300);
          const times = found.map(({ text }) => text.split('harbor').length - 1);
          expect(times).toEqual([...times].sort((one, other) => sign * (one - other)));
        }
      } finally {
        await started.close();
      }
    });
  });
});
