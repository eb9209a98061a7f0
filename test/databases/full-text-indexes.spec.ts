// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import type { RestifyOptions } from 'nestjs-restify';
import { readFileSync } from 'node:fs';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { indexedDatabase } from '../support/indexed-database.js';
import { ReadLog } from '../support/read-costs.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const ROWS = 4000;
/** So many rows have the same word. */
const OFTEN = 4;

/** The statements of a block of the section on ranked searches, found by a part of its text. */
function documented(part: string): readonly string[] {
  const text = readFileSync('docs/reference/queries.md', 'utf8');
  const section = text.slice(text.indexOf('## Ranked search'), text.indexOf('## Ordering'));
  const blocks = [...section.matchAll(/```sql\n([^`]*)```/g)].map(([, sql = '']) => sql);
  const found = blocks.find((sql) => sql.includes(part)) ?? '';
  // Those of a trigger are indented.
  return found.split(/;\n(?!\s|END)/).filter((sql) => sql.trim() !== '');
}

const UNACCENT =
  'SELECT pg_advisory_lock(7); CREATE EXTENSION IF NOT EXISTS unaccent SCHEMA public; SELECT pg_advisory_unlock(7)';

const ANALYZE: Readonly<Record<TestDatabase['name'], string>> = {
  sqlite: 'ANALYZE',
  postgres: 'VACUUM ANALYZE article',
  mariadb: 'ANALYZE TABLE article',
};

interface Variant {
  readonly title: string;
  readonly fullText: RestifyOptions['fullText'];
  readonly statements: readonly string[];
  /** What its plan has. */
  readonly index: RegExp;
  /** Whether a text is found by its words without accents, and by those with other ones. */
  readonly ignoresAccents: boolean;
  /** Whether a word of the title counts more than one of the text. */
  readonly weighs?: true;
  readonly stems?: true;
}

const EXPRESSION = "title || ' ' || coalesce(text, '')";

const VARIANTS: Readonly<Record<TestDatabase['name'], readonly Variant[]>> = {
  sqlite: [
    {
      title: 'an FTS5 table',
      fullText: { table: 'article_text' },
      statements: documented('CREATE VIRTUAL TABLE'),
      index: /SCAN (t\d|article_text) VIRTUAL TABLE INDEX 0:M/,
      ignoresAccents: true,
    },
  ],
  postgres: [
    {
      title: 'an index of an expression',
      fullText: { configuration: 'english' },
      statements: documented('USING gin (to_tsvector'),
      index: /Bitmap Index Scan on article_text/,
      ignoresAccents: false,
      stems: true,
    },
    {
      title: 'a stored column',
      fullText: { configuration: 'english', column: 'words' },
      statements: documented('ADD words tsvector'),
      index: /Bitmap Index Scan on article_words/,
      ignoresAccents: false,
      weighs: true,
      stems: true,
    },
    {
      title: 'a column that a trigger fills without accents',
      fullText: { column: 'words', unaccent: true },
      statements: [
        UNACCENT,
        'ALTER TABLE article ADD words tsvector',
        `CREATE FUNCTION fill_words() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.words := to_tsvector('simple', unaccent(${EXPRESSION.replace(/\b(title|text)\b/g, 'new.$1')})); RETURN new; END $$`,
        'CREATE TRIGGER fill_words BEFORE INSERT OR UPDATE ON article FOR EACH ROW EXECUTE FUNCTION fill_words()',
        'CREATE INDEX article_words ON article USING gin (words)',
      ],
      index: /Bitmap Index Scan on article_words/,
      ignoresAccents: true,
    },
    {
      title: 'a configuration with the dictionary unaccent',
      fullText: { configuration: 'plain_english' },
      statements: [
        UNACCENT,
        'CREATE TEXT SEARCH CONFIGURATION plain_english (COPY = english)',
        'ALTER TEXT SEARCH CONFIGURATION plain_english ALTER MAPPING FOR hword, hword_part, word WITH unaccent, english_stem',
        `CREATE INDEX article_text ON article USING gin (to_tsvector('plain_english', ${EXPRESSION}))`,
      ],
      index: /Bitmap Index Scan on article_text/,
      ignoresAccents: true,
      stems: true,
    },
  ],
  mariadb: [
    {
      title: 'a full-text index',
      fullText: true,
      statements: documented('FULLTEXT'),
      index: /"type":"fulltext".*"key":"article_text"/,
      ignoresAccents: true,
    },
  ],
};

onEachDatabase('a ranked search with', (database) => {
  describe.each(VARIANTS[database.name])('$title', (variant) => {
    const { fullText, statements, index, ignoresAccents } = variant;

    @Restify({
      app: 'docs',
      searchFields: ['@title', '@text'],
      ...(fullText !== undefined && { fullText }),
    })
    @Entity('article')
    class Article {
      @PrimaryGeneratedColumn() id: number;
      @Column({ length: 60 }) title: string;
      @Column({ type: 'text', nullable: true }) text: string | null;
    }

    const log = new ReadLog();
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({
        database: indexedDatabase(database, [Article], { [database.name]: statements }),
        entities: [Article],
        compare: false,
        dataSource: { synchronize: false, logging: ['query'], logger: log },
      });
      const rows = Array.from({ length: ROWS }, (_, at) => ({
        title: `title of ${at}`,
        text: `some words about thing${at % (ROWS / OFTEN)} and nothing else`,
      }));
      for (let at = 0; at < ROWS; at += 200)
        await started.dataSource.getRepository(Article).insert(rows.slice(at, at + 200));
      await started.dataSource.getRepository(Article).insert([
        { title: 'Ports', text: 'many harbors lie at this coast, one after the other, until the sea' },
        { title: 'Harbors', text: 'many ports lie at this coast, one after the other, until the sea' },
        { title: 'Café', text: null },
      ]);
      // PostgreSQL keeps fresh words in a list that it reads as a whole.
      await started.dataSource.query(ANALYZE[database.name]);
    });
    afterAll(() => started.close());

    const find = async (query: string): Promise<readonly string[]> => {
      const { status, json } = await started.client.get(`/rest/v1/docs/article/?${query}`);
      expect(status).toBe(200);
      return (json as readonly { readonly title: string }[]).map(({ title }) => title);
    };
    const plan = async (query: string): Promise<string> => {
      log.clear();
      await find(query);
      const read = log.reads.find(({ sql }) => sql.includes('article'));
      const explain = database.name === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
      return JSON.stringify(
        await started.dataSource.query(`${explain} ${read?.sql ?? ''}`, [...(read?.parameters ?? [])]),
      );
    };

    test.each(['search=thing77&ordering=-rank', 'search=thing77&ordering=rank', 'search=thing77'])(
      '?%s reads the index, and not the table',
      async (query) => {
        const found = await plan(query);
        expect(found).toMatch(index);
        expect(found).not.toMatch(/Seq Scan|SCAN (t\d|article)(?! VIRTUAL|_)|"type":"ALL"/);
        expect((await find(query)).length).toBe(OFTEN);
      },
    );

    test('finds words with and without accents, if it ignores them', async () => {
      expect(await find('search=Caf%C3%A9&ordering=-rank')).toEqual(['Café']);
      expect(await find('search=cafe&ordering=-rank')).toEqual(ignoresAccents ? ['Café'] : []);
      expect(await find('search=c%C3%A0f%C3%A9')).toEqual(ignoresAccents ? ['Café'] : []);
    });

    test('finds other forms of a word, if its configuration has stems', async () => {
      expect((await find('search=harbor')).length).toBe(variant.stems ? 2 : 0);
    });

    test('ranks by the weights of a stored column', async () => {
      const found = await find('search=harbors&ordering=-rank');
      expect([...found].sort()).toEqual(['Harbors', 'Ports']);
      if (variant.weighs) expect(found).toEqual(['Harbors', 'Ports']);
    });
  });
});
