// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CursorPagination, PageNumberPagination, Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Stored JSON whose form changes when JavaScript reads and writes it, and JSON whose form does not. */
const TEXTS = [
  '{"color":"red","size":5,"tags":["a","b"]}',
  '{ "size" : 5,\n\t"color": "red, \\"dark\\": [x]" , "tags": [ ] }',
  '{"b":1,"a":2,"10":3,"9":4}',
  '{"a":1,"b":2,"a":3}',
  '{"__proto__":{"a":1},"toJSON":1}',
  '[9007199254740993,123456789012345678901234567890,-0,-0.0,1.0,1.50,1e2,1e21,1e-7,0.1]',
  '[0.1234567890123456789,1e400,-1e400,2.5e-324,1e-400]',
  '["\\u0041\\/","\\u00e9\\u2028","\\ud83d\\ude00","\\b\\f\\n\\r\\t"]',
  '"},{\\"id\\":9,\\"first\\":[]"',
  '"\\"first\\":[]"',
  '"é😀"',
  '""',
  '[]',
  '{}',
  'null',
  'true',
  '7',
];

class Part {
  @Column({ type: 'simple-json', nullable: true }) first: unknown;
}

class Values {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'simple-json', nullable: true }) first: unknown;
  @Column({ nullable: true }) label: string;
  @Column(() => Part) part: Part;
  @Column({ type: 'simple-json', nullable: true }) last: unknown;
}

@Restify('stored')
@Entity('stored_list')
class Listed extends Values {}

@Restify({
  app: 'stored',
  pagination: new PageNumberPagination({ pageSize: 3 }),
})
@Entity('stored_paged')
class Paged extends Values {}

@Restify({
  app: 'stored',
  pagination: new CursorPagination({ pageSize: 3, secret: 'a secret of this spec, 32 letters or more' }),
  ordering: ['-label', 'id'],
})
@Entity('stored_cursor')
class Followed extends Values {}

/** What JavaScript reads of it. */
function written(text: string | undefined): unknown {
  return text === undefined ? null : JSON.parse(text);
}

/** The numbers of the texts, as they are stored. */
const NUMBERS = [
  '[9007199254740993,123456789012345678901234567890,-0,-0.0,1.0,1.50,1e2,1e21,1e-7,0.1]',
  '[0.1234567890123456789,1e400,-1e400,2.5e-324,1e-400]',
];

onEachDatabase('stored JSON', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Listed, Paged, Followed], database, undescribed: 'all' });
    const { dataSource } = started;
    for (const [index, text] of TEXTS.entries()) {
      const values = {
        first: text,
        label: `"first":[] ${index % 3}`,
        partFirst: TEXTS.at(index - 1),
        last: index % 4 === 0 ? null : TEXTS.at(index - 2),
      };
      for (const entity of [Listed, Paged, Followed]) {
        // The texts are stored as they are, as another program may write them.
        const columns = dataSource
          .getMetadata(entity)
          .columns.filter(({ propertyName }) => propertyName !== 'id');
        const names = columns.map(({ databaseName }) => dataSource.driver.escape(databaseName));
        const stored = columns.map(({ propertyPath }) =>
          propertyPath === 'part.first'
            ? values.partFirst
            : values[propertyPath as 'first' | 'label' | 'last'],
        );
        const places = columns.map((_, at) => (database.name === 'postgres' ? `$${at + 1}` : '?'));
        await dataSource.query(
          `INSERT INTO ${dataSource.driver.escape(dataSource.getMetadata(entity).tableName)} (${names.join(', ')}) VALUES (${places.join(', ')})`,
          stored,
        );
      }
    }
  });
  afterAll(() => started.close());

  const expected = TEXTS.map((text, index) => ({
    id: index + 1,
    first: written(text),
    label: `"first":[] ${index % 3}`,
    part: { first: written(TEXTS.at(index - 1)) },
    last: index % 4 === 0 ? null : written(TEXTS.at(index - 2)),
  }));

  test('is written in lists as in objects', async () => {
    const list = await started.client.get('/rest/v1/stored/listed/');
    expect(list.json).toEqual(expected);
    const rows: string[] = [];
    for (const { id } of expected)
      rows.push((await started.client.get(`/rest/v1/stored/listed/${id}/`)).text);
    expect(list.text).toBe(`[${rows.join(',')}]`);
    for (const text of NUMBERS) expect(list.text).toContain(`"first":${text},`);
  });

  test('is written in pages by number', async () => {
    const seen: unknown[] = [];
    for (let page = 1; page <= 6; page++)
      seen.push(...((await started.client.get(`/rest/v1/stored/paged/?page=${page}`)).json as Page).results);
    expect(seen).toEqual(expected);
  });

  test('is written in pages by cursor, forward and backward', async () => {
    const follow = async (link: 'next' | 'previous', from: string): Promise<[unknown[], string]> => {
      const seen: unknown[] = [];
      let [url, last]: [string | null, string] = [from, from];
      while (url !== null) {
        const page = (await started.client.get(url.replace(/^https?:\/\/[^/]+/, ''))).json as Page;
        if (link === 'next') seen.push(...page.results);
        else seen.unshift(...page.results);
        [url, last] = [page[link], url];
      }
      return [seen, last];
    };
    const [forward, last] = await follow('next', '/rest/v1/stored/followed/');
    expect(forward).toEqual([...expected].sort((a, b) => b.label.localeCompare(a.label) || a.id - b.id));
    expect((await follow('previous', last))[0]).toEqual(forward);
  });
});

interface Page {
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: unknown[];
}

onEachDatabase('texts that are not JSON', (database) => {
  test.each([
    ['of which one continues another', ['[1', '2]', '3,4']],
    ['empty', ['']],
    ...(database.name === 'postgres' ? [] : [['with a zero byte', ['1\u0000,2', '3']] as const]),
    ['with the character that separates them', ['1\u001e2', '"a\u001eb"']],
    ['of two values', ['1,2']],
    ['with a line break in a string', ['"a\nb"']],
    ['of JSON5', ["{a:'b'}"]],
  ])('%s are shown as they are stored', async (_, texts) => {
    const started = await startApp({ entities: [Listed], database, undescribed: 'all' });
    try {
      const { client, dataSource } = started;
      const place = database.name === 'postgres' ? '$1' : '?';
      for (const text of [...texts, '{"a":1}'])
        await dataSource.query(`INSERT INTO stored_list(first) VALUES (${place})`, [text]);
      const shown = [...texts.map((text) => (text === '3' ? 3 : text)), { a: 1 }];
      const list = await client.get('/rest/v1/stored/listed/');
      expect([list.status, (list.json as { first: unknown }[]).map(({ first }) => first)]).toEqual([
        200,
        shown,
      ]);
      expect(await client.get('/rest/v1/stored/listed/1/')).toMatchObject({
        status: 200,
        json: { first: shown[0] },
      });
    } finally {
      await started.close();
    }
  });
});

describe('SQLite', () => {
  test.each(['7', '5.0', '1e300', '9007199254740993', "'5.0'", "x'35'", 'NULL'])(
    '%s in a column without a type is read as the process reads it',
    async (value) => {
      const started = await startApp({ entities: [Untyped], undescribed: 'all' });
      try {
        const { client, dataSource } = started;
        await dataSource.query('CREATE TABLE stored_untyped (id INTEGER PRIMARY KEY, value)');
        await dataSource.query(`INSERT INTO stored_untyped(value) VALUES (${value})`);
        const before = started.compared.rows;
        expect((await client.get('/rest/v1/stored/untyped/1/')).status).toBe(200);
        expect((await client.get('/rest/v1/stored/untyped/')).status).toBe(200);
        expect(started.compared.rows - before).toBe(1);
      } finally {
        await started.close();
      }
    },
  );
});

@Restify('stored')
@Entity('stored_untyped', { synchronize: false })
class Untyped {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'simple-json', nullable: true }) value: unknown;
}
