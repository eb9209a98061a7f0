// @tags db nest
import { expect, test } from '@jest/globals';
import { CursorPagination } from 'nestjs-restify';
import type { RestifyOptions } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { fullTextTable, indexedDatabase } from '../support/indexed-database.js';
import { startApp } from '../support/start-app.js';
import { declareUnchecked, problemsOf } from './refused-start.js';

@Entity('boot_ft_page')
class Page {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 40 }) title: string;
  @Column({ length: 40 }) body: string;
  @Column({ length: 40, default: '' }) secret: string;
  @Column({ default: 0 }) rank: number;
  @ManyToOne(() => Page) above: Relation<Page>;
}

@Entity('boot_ft_word')
class Word {
  @PrimaryColumn({ length: 20 }) name: string;
  @Column({ length: 40 }) meaning: string;
}

const SEARCHED = { searchFields: ['@title', '@body'] };

test.each<[string, RestifyOptions, readonly string[]]>([
  [
    'something else than an object',
    { ...SEARCHED, fullText: 'english' as unknown as true },
    [
      "Page.fullText: \"english\" does not configure a full-text search. Write true, or an object such as { configuration: 'english', table: 'article_text' }.",
    ],
  ],
  [
    'a configuration that is no name',
    { ...SEARCHED, fullText: { configuration: "english') --", table: 't', rank: 'relevance' } },
    [
      "Page.fullText.configuration: \"english') --\" is not the name of a text search configuration. Write its name, such as 'english'.",
    ],
  ],
  [
    'an order that no parameter can name',
    { ...SEARCHED, fullText: { table: 't', rank: 'by__rank' } },
    [
      'Page.fullText.rank: "by__rank" is not a name for an order. Write letters, digits and single underscores, such as \'relevance\', or false for none.',
    ],
  ],
  [
    'no search fields',
    { fullText: { table: 't', rank: 'relevance' } },
    ["Page.fullText: the model names no search fields. Name them: searchFields: ['@title', '@text']."],
  ],
  [
    'search fields that are no part of one text',
    { searchFields: ['@title', 'body', '@above.title'], fullText: { table: 't', rank: 'relevance' } },
    [
      'Page.searchFields[1]: "body" cannot be searched with the others as one text. With fullText, name columns of the model itself, each with "@" before it.',
      'Page.searchFields[2]: "@above.title" cannot be searched with the others as one text. With fullText, name columns of the model itself, each with "@" before it.',
    ],
  ],
  [
    'no table on SQLite',
    { ...SEARCHED, fullText: { rank: 'relevance' } },
    [
      "Page.fullText: SQLite searches by an FTS5 table, and none is named. Create one, and name it: fullText: { table: 'article_text' }.",
    ],
  ],
  [
    'an extension of another database',
    { ...SEARCHED, fullText: { table: 't', unaccent: true, rank: false } },
    [
      'Page.fullText.unaccent: this database has no extension unaccent. Leave it out: the tokenizer of the FTS5 table decides on accents.',
    ],
  ],
  [
    'an order with the name of a field',
    { ...SEARCHED, fullText: { table: 't' } },
    [
      'Page.fullText: "rank" is the order by rank, and a field of the model. Give the order another name: fullText: { rank: \'relevance\' }.',
    ],
  ],
  [
    'an order by rank in pages with cursors',
    {
      ...SEARCHED,
      fullText: { table: 't', rank: 'relevance' },
      pagination: new CursorPagination({ secret: 'x'.repeat(32) }),
    },
    [
      'Page.fullText: pages with cursors have no order by rank, which changes with other rows. Write fullText: { rank: false } for a search without it, or give the model another pagination.',
    ],
  ],
])('rejects %s', async (_, options, problems) => {
  declareUnchecked(Page, { app: 'boot', ...options });
  expect(await problemsOf({ entities: [Page] })).toEqual(problems);
});

test('rejects a model of SQLite whose key is no integer', async () => {
  declareUnchecked(Word, { app: 'boot', searchFields: ['@meaning'], fullText: { table: 't' } });
  expect(await problemsOf({ entities: [Word] })).toEqual([
    'Word.fullText: the rows of an FTS5 table are those of an integer key, and this model has another one. Give the model an integer key, or leave fullText out.',
  ]);
});

const fts = (...columns: readonly string[]): readonly string[] =>
  fullTextTable('boot_ft_text', { table: 'boot_ft_page', columns });
const generated = (expression: string): readonly string[] => [
  `ALTER TABLE boot_ft_page ADD words tsvector GENERATED ALWAYS AS (to_tsvector('simple', ${expression})) STORED`,
];

/** What the database has, the options, and what is wrong; without it the application starts. */
const CASES: Readonly<
  Record<TestDatabase['name'], readonly (readonly [readonly string[], object, string?])[]>
> = {
  sqlite: [
    [fts('title', 'body'), { table: 'boot_ft_text' }],
    [
      [],
      { table: 'boot_ft_text' },
      'Page.fullText.table: the database has no FTS5 table "boot_ft_text". CREATE VIRTUAL TABLE "boot_ft_text" USING fts5(title, body, content=\'…\', content_rowid=\'id\'), with triggers that keep it up to date.',
    ],
    [
      [],
      { table: 'boot_ft_page' },
      'Page.fullText.table: the database has no FTS5 table "boot_ft_page". CREATE VIRTUAL TABLE "boot_ft_page" USING fts5(title, body, content=\'…\', content_rowid=\'id\'), with triggers that keep it up to date.',
    ],
    [
      fts('title', 'body', 'secret'),
      { table: 'boot_ft_text' },
      'Page.fullText.table: the FTS5 table "boot_ft_text" has the columns title, body, secret, and the search fields are title, body. CREATE VIRTUAL TABLE "boot_ft_text" USING fts5(title, body, content=\'…\', content_rowid=\'id\'), with triggers that keep it up to date.',
    ],
  ],
  postgres: [
    [[], {}],
    [[], { configuration: 'english' }],
    [[], { configuration: 'pg_catalog.german' }],
    [generated("title || ' ' || body"), { column: 'words' }],
    [
      [],
      { configuration: 'klingon' },
      'Page.fullText.configuration: the database has no text search configuration "klingon". SELECT cfgname FROM pg_ts_config lists those that it has.',
    ],
    [
      [],
      { column: 'title' },
      'Page.fullText.column: the table has no column "title" of the type tsvector. Add the column to the table, or leave the option out.',
    ],
    [
      generated('title || secret'),
      { column: 'words' },
      'Page.fullText.column: the column "words" is also made of "secret", which the search would disclose. Add what it is made of to searchFields, with "@", or generate it from the search fields alone.',
    ],
  ],
  mariadb: [
    [['CREATE FULLTEXT INDEX boot_ft_text ON boot_ft_page (body, title)'], {}],
    [
      [
        'CREATE FULLTEXT INDEX boot_ft_text ON boot_ft_page (title)',
        'CREATE INDEX other ON boot_ft_page (title, body)',
      ],
      {},
      'Page.fullText: the table has no full-text index of exactly the search fields. CREATE FULLTEXT INDEX boot_ft_page_text ON `boot_ft_page` (`title`, `body`), or @Index([…], { fulltext: true }) on the entity.',
    ],
    [
      [],
      { unaccent: true },
      'Page.fullText.unaccent: this database has no extension unaccent. Leave it out: the collation of the columns decides on accents.',
    ],
  ],
};

onEachDatabase('a full-text search', (database) => {
  test.each(CASES[database.name].map(([has, options, wrong]) => [has, options, wrong] as const))(
    'has what it needs in the database, or does not start: %#',
    async (statements, options, wrong) => {
      declareUnchecked(Page, { app: 'boot', ...SEARCHED, fullText: { ...options, rank: 'relevance' } });
      const settings = {
        database: indexedDatabase(database, [Page], { [database.name]: statements }),
        entities: [Page],
        dataSource: { synchronize: false },
      };
      const error = await startApp(settings).then(
        (app) => app.close().then(() => undefined),
        (reason: unknown) => reason,
      );
      if (wrong === undefined) expect(error).toBeUndefined();
      else expect(String(error)).toContain(`- ${wrong}`);
    },
  );
});

onEachDatabase(
  'unaccent',
  (database) => {
    test('is a function in the search path, or the application does not start', async () => {
      declareUnchecked(Page, { app: 'boot', ...SEARCHED, fullText: { unaccent: true, rank: 'relevance' } });
      const open = async (): Promise<unknown> => {
        const bare = indexedDatabase(database, [Page], {});
        const opened = await bare.open();
        const { schema } = opened.options as { readonly schema?: string };
        const options = { ...opened.options, extra: { options: `-c search_path=${schema ?? ''}`, max: 2 } };
        const onlyOwn = { ...bare, open: () => Promise.resolve({ ...opened, options: options as never }) };
        return startApp({ database: onlyOwn, entities: [Page], dataSource: { synchronize: false } }).then(
          (app) => app.close(),
          (reason: unknown) => reason,
        );
      };
      expect(String(await open())).toContain(
        'Page.fullText.unaccent: the database has no function unaccent(text) in its search path. CREATE EXTENSION unaccent, or leave the option out.',
      );
    });
  },
  ['postgres'],
);
