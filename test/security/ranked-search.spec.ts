// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, PageNumberPagination, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { fullTextTable, indexedDatabase } from '../support/indexed-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** `outsider` sees no secret rows, `reader` no bodies. */
class Papers implements Permission {
  decide({ request }: AccessContext): Grant {
    const role = (request as { readonly headers: Readonly<Record<string, string>> }).headers['x-role'];
    if (role === 'reader') return allow({ readable: ['id', 'title'] });
    return role === 'outsider' ? allow({ rows: where('secret', false) }) : allow();
  }
}

@Restify({
  app: 'rsa',
  permissions: [Papers],
  filterFields: ['title'],
  searchFields: ['@title', '@body'],
  orderingFields: ['title'],
  fullText: { table: 'rsa_paper_text' },
  pagination: new PageNumberPagination({ pageSize: 100 }),
})
@Entity('rsa_paper')
class Paper {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 40 }) title: string;
  @Column({ length: 80 }) body: string;
  @Column({ default: false }) secret: boolean;
}

const INDEXES = {
  sqlite: fullTextTable('rsa_paper_text', { table: 'rsa_paper', columns: ['title', 'body'] }),
  postgres: [
    "CREATE INDEX rsa_paper_text ON rsa_paper USING gin (to_tsvector('simple', title || ' ' || body))",
  ],
  mariadb: ['CREATE FULLTEXT INDEX rsa_paper_text ON rsa_paper (title, body)'],
};

onEachDatabase('S1, S17 terms of a ranked search', (database) => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      database: indexedDatabase(database, [Paper], INDEXES),
      entities: [Paper],
      dataSource: { synchronize: false },
    });
    await started.dataSource.getRepository(Paper).insert([
      { title: 'alpha', body: 'bravo charlie' },
      { title: 'delta', body: 'echo foxtrot' },
      { title: 'hidden', body: 'golf alpha', secret: true },
      { title: 'other', body: 'quebec' },
      { title: 'another', body: 'romeo' },
    ]);
  });

  afterAll(() => started.close());

  async function find(text: string, { order = '', role = 'all' } = {}): Promise<unknown> {
    const path = `/rest/v1/rsa/paper/?search=${encodeURIComponent(text)}${order}`;
    const { status, json } = await started.client.get(path, { headers: { 'x-role': role } });
    if (status !== 200) return status;
    const { count, results } = json as {
      readonly count: number;
      readonly results: readonly { readonly id: number }[];
    };
    expect(count).toBe(results.length);
    return results.map(({ id }) => id).sort();
  }

  // Each is a text, or ignored: none is an operator.
  test.each<readonly [string, readonly number[]]>([
    ['-alpha', [1, 3]],
    ['!alpha', [1, 3]],
    ['alpha -bravo', [1]],
    ['+alpha -"bravo charlie"', [1]],
    ['alpha*', [1, 3]],
    ['alph*', []],
    ['"alph"*', []],
    ['alph:*', []],
    ['alpha | delta', []],
    ['alpha OR delta', []],
    ['alpha or delta', []],
    ['NOT alpha', []],
    ['alpha AND delta', []],
    ['alpha & bravo', [1]],
    ['(alpha)', [1, 3]],
    ['((((', []],
    ['alpha)', [1, 3]],
    ['"alpha', [1, 3]],
    ['alpha"', [1, 3]],
    ["al'pha", []],
    ["'alpha'", [1, 3]],
    ["alpha' OR '1'='1", []],
    ["alpha'; DROP TABLE rsa_paper; --", []],
    ['title:alpha', []],
    ['{title}:alpha', []],
    ['title : alpha', []],
    ['^alpha', [1, 3]],
    ['NEAR(alpha bravo, 5)', []],
    ['"alpha bravo"@5', []],
    ['alpha @5', []],
    ['>alpha <delta ~echo', []],
    ['alpha\\', [1, 3]],
    ['\\alpha', [1, 3]],
    ['alpha\nbravo', [1]],
    ['"bravo\ncharlie"', [1]],
    ['"bravo\r\n\tcharlie"', [1]],
    ['"bravo\u0001charlie"', [1]],
    ['%', []],
    ['a_pha', []],
    ['alpha;', [1, 3]],
    ['$1', []],
    ['?', []],
    [':name', []],
    ['\u{1F600} \u202E \uFEFF', []],
    ['--', []],
    ['/*alpha*/', [1, 3]],
    ['rank', []],
    ['rsa_paper_text', []],
  ])('%j is a text and no syntax', async (text, ids) => {
    for (const order of ['', '&ordering=-rank', '&ordering=rank,title'])
      expect({ order, found: await find(text, { order }) }).toEqual({ order, found: ids });
  });

  test('long terms and many words find nothing, and are no error of the server', async () => {
    const phrase = (count: number): string => `"${'alpha '.repeat(count)}"`;
    for (const order of ['', '&ordering=-rank']) {
      for (const text of ['z'.repeat(8000), '\u00e4'.repeat(1200), '!'.repeat(5000), phrase(100)])
        expect(await find(text, { order })).toEqual([]);
      for (const text of [phrase(101), `"${'a '.repeat(3500)}"`, 'alpha '.repeat(1200)])
        expect(await find(text, { order })).toBe(400);
    }
    const { json } = await started.client.get(
      `/rest/v1/rsa/paper/?search=${encodeURIComponent(phrase(101))}`,
    );
    expect(json).toEqual({ search: ['Ensure a phrase has no more than 100 words.'] });
    expect(await find('alpha\0')).toBe(400);
    expect(await find(Array.from({ length: 21 }, (_, index) => `w${index}`).join(' '))).toBe(400);
  });

  test('S2, S13 hidden rows and hidden fields are neither found, counted nor ranked', async () => {
    for (const order of ['', '&ordering=-rank']) {
      expect(await find('alpha', { order, role: 'outsider' })).toEqual([1]);
      expect(await find('golf', { order, role: 'outsider' })).toEqual([]);
      // The search of a model without search fields has no effect, and its rank is no name.
      expect(await find('foxtrot', { order, role: 'reader' })).toEqual([1, 2, 3, 4, 5]);
      expect(await find('nothing at all', { order, role: 'reader' })).toEqual([1, 2, 3, 4, 5]);
    }
  });

  test('S3 the name of the order takes nothing else', async () => {
    const plain = await started.client.get('/rest/v1/rsa/paper/?search=alpha');
    for (const name of [
      'rank desc',
      'rank;--',
      'rank)',
      ' rank.nullsfirst',
      '--rank',
      'RANK',
      'ranked',
      '%20rank%00x',
    ]) {
      const order = name.startsWith('%') ? name : encodeURIComponent(name);
      const answer = await started.client.get(`/rest/v1/rsa/paper/?search=alpha&ordering=${order}`);
      if (answer.status === 200) expect(answer.json).toEqual(plain.json);
      else expect(answer.status).toBe(400);
    }
  });

  test('two searches at once have terms of their own', async () => {
    const terms = ['alpha', 'delta', 'quebec', 'romeo', 'nothing'];
    const asked = Array.from({ length: 40 }, (_, index) => terms[index % terms.length] ?? '');
    const found = await Promise.all(asked.map((text) => find(text, { order: '&ordering=-rank' })));
    const each: Readonly<Record<string, readonly number[]>> = {
      alpha: [1, 3],
      delta: [2],
      quebec: [4],
      romeo: [5],
      nothing: [],
    };
    expect(found).toEqual(asked.map((text) => each[text]));
    // A value of another condition that is equal to the terms.
    const { json } = await started.client.get(
      '/rest/v1/rsa/paper/?title=alpha&search=alpha&ordering=-rank&page_size=1',
    );
    expect(json).toMatchObject({ count: 1, results: [{ id: 1 }] });
    const other = await started.client.get('/rest/v1/rsa/paper/?title=delta&search=echo&ordering=-rank');
    expect(other.json).toMatchObject({ count: 1, results: [{ id: 2 }] });
  });
});
