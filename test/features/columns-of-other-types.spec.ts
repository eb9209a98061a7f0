// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CsvRenderer, CursorPagination, PageNumberPagination, Restify, restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Columns that the entity declares of a type each, and that all hold text, as while a migration changes them. */
class Declared {
  @PrimaryColumn({ type: 'integer' }) id: number;
  @Column({ type: 'int', nullable: true }) whole: number | null;
  @Column({ type: 'bigint', nullable: true }) big: string | null;
  @Column({ type: 'decimal', nullable: true }) price: string | null;
  @Column({ type: 'float', nullable: true }) ratio: number | null;
  @Column({ type: 'boolean', nullable: true }) open: boolean | null;
  @Column({ type: 'uuid', nullable: true }) uuid: string | null;
  @Column({ type: 'varchar', nullable: true }) word: string | null;
  @Column({ type: 'simple-enum', enum: ['a', 'b'], nullable: true }) kind: string | null;
  @Column({ type: 'simple-json', nullable: true }) data: unknown;
  @Column({ type: 'simple-array', nullable: true }) tags: string[] | null;
  @Column({ type: 'time', nullable: true }) at: string | null;
}

@Restify({ app: 'other', renderers: [new CsvRenderer()], shape: true, filterFields: { id: ['exact'] } })
@Entity('other_all', { synchronize: false })
class All extends Declared {
  @ManyToOne(() => Owner, { nullable: true, createForeignKeyConstraints: false })
  owner: Relation<Owner> | null;
}

/** One column each, so that none is read otherwise for the sake of another one. */
const KINDS = [
  'whole',
  'big',
  'price',
  'ratio',
  'open',
  'uuid',
  'word',
  'kind',
  'data',
  'tags',
  'at',
] as const;

@Restify({ app: 'other', pagination: new PageNumberPagination({ pageSize: 3 }) })
@Entity('other_all', { synchronize: false })
class Paged extends Declared {}

@Restify({
  app: 'other',
  pagination: new CursorPagination({ pageSize: 3, secret: 'a secret of this spec, 32 letters or more' }),
})
@Entity('other_all', { synchronize: false })
class Followed extends Declared {}

/** Keys that are no numbers. */
@Restify('other')
@Entity('other_owner', { synchronize: false })
class Owner {
  @PrimaryColumn({ type: 'integer' }) id: number;
  @OneToMany(() => Thing, (thing) => thing.owner) things: Relation<Thing[]>;
}

@Restify('other')
@Entity('other_thing', { synchronize: false })
class Thing {
  @PrimaryColumn({ type: 'integer' }) id: number;
  @ManyToOne(() => Owner, (owner) => owner.things, { createForeignKeyConstraints: false })
  owner: Relation<Owner>;
}

const TEXTS = [
  '1,"admin":true',
  'v7',
  '7',
  '-1.50',
  '"',
  '\\',
  '',
  'null',
  'true',
  '0',
  '{"a":1}',
  '7},{"id":9',
  '"x":[]',
  'é',
] as const;

const NUMBER = /^-?\d+(\.\d+)?$/;

function orText(read: (text: string) => unknown): (text: string) => unknown {
  return (text) => {
    try {
      return read(text);
    } catch {
      return text;
    }
  };
}

/** What is shown of a stored text: the value that it is the text of, else the text. */
const SHOWN: Readonly<Record<(typeof KINDS)[number], (text: string) => unknown>> = {
  whole: (text) => (NUMBER.test(text) ? Number(text) : text),
  ratio: (text) => (NUMBER.test(text) ? Number(text) : text),
  open: (text) => ({ true: true, '0': false })[text] ?? text,
  big: String,
  price: String,
  uuid: String,
  word: String,
  kind: String,
  data: orText((text) => JSON.parse(text) as unknown),
  tags: (text) => (text === '' ? [] : text.split(',')),
  at: (text) => text.replace('-1.50', '-1.5'),
};

onEachDatabase('columns of text that the entity declares otherwise', (database) => {
  const start = async (entities: (new () => object)[]): Promise<StartedApp> => {
    const started = await startApp({ entities, database, undescribed: 'all' });
    const { dataSource } = started;
    const quote = (name: string): string => dataSource.driver.escape(name);
    const place = (at: number): string => (database.name === 'postgres' ? `$${at}` : '?');
    await dataSource.query(
      `CREATE TABLE other_all (id INTEGER PRIMARY KEY, ${KINDS.map((kind) => `${quote(kind)} text`).join(', ')}, ${quote('ownerId')} text)`,
    );
    await dataSource.query(`CREATE TABLE other_owner (id VARCHAR(40) PRIMARY KEY)`);
    await dataSource.query(
      `CREATE TABLE other_thing (id INTEGER PRIMARY KEY, ${quote('ownerId')} VARCHAR(40))`,
    );
    for (const [index, text] of TEXTS.entries()) {
      const values = [index + 1, ...KINDS.map(() => text), text];
      await dataSource.query(
        `INSERT INTO other_all VALUES (${values.map((_, at) => place(at + 1)).join(', ')})`,
        values,
      );
      await dataSource.query(`INSERT INTO other_owner VALUES (${place(1)})`, [text]);
      await dataSource.query(`INSERT INTO other_thing VALUES (${place(1)}, ${place(2)})`, [index + 1, text]);
    }
    return started;
  };

  const expected = TEXTS.map((text, index) => ({
    id: index + 1,
    ...Object.fromEntries(KINDS.map((kind) => [kind, SHOWN[kind](text)])),
  }));

  describe('of all kinds', () => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await start([All, Owner, Thing]);
    });
    afterAll(() => started.close());

    test('are shown as they are stored, in lists and by key', async () => {
      const { client } = started;
      const list = await client.get('/rest/v1/other/all/');
      const rows = expected.map((row, index) => ({ ...row, owner: SHOWN.whole(TEXTS[index] ?? '') }));
      expect([list.status, list.json]).toEqual([200, rows]);
      const texts: string[] = [];
      for (const { id } of expected) texts.push((await client.get(`/rest/v1/other/all/${id}/`)).text);
      expect(list.text).toBe(`[${texts.join(',')}]`);
    });

    test.each([...KINDS, 'owner'])('%s alone is JSON', async (kind) => {
      const { client } = started;
      const list = await client.get(`/rest/v1/other/all/?fields=id,${kind}`);
      const show = kind === 'owner' ? SHOWN.whole : SHOWN[kind as (typeof KINDS)[number]];
      expect([list.status, list.json]).toEqual([
        200,
        TEXTS.map((text, index) => ({ id: index + 1, [kind]: show(text) })),
      ]);
    });

    test('a key that is no number is an escaped segment of a link', async () => {
      const { status, json } = await started.client.get('/rest/v1/other/owner/');
      expect(status).toBe(200);
      expect(json).toHaveLength(TEXTS.length);
      for (const owner of json as readonly { id: unknown; things: string }[])
        expect(owner).toEqual({
          id: owner.id,
          things: `/rest/v1/other/owner/${encodeURIComponent(String(owner.id))}/things/`,
        });
    });

    test('a nested list has a parent all the same', async () => {
      const { client } = started;
      expect(await client.get('/rest/v1/other/owner/99/things/')).toMatchObject({ status: 404 });
      // MariaDB and SQLite compare a number with a text by rules of their own.
      if (database.name !== 'postgres') return;
      expect(await client.get('/rest/v1/other/owner/7/things/')).toMatchObject({
        status: 200,
        json: [{ id: TEXTS.indexOf('7') + 1, owner: 7 }],
      });
    });

    test('a related key that is no number is shown as it is stored', async () => {
      const { status, json } = await started.client.get('/rest/v1/other/thing/');
      expect([status, json]).toEqual([
        200,
        TEXTS.map((text, index) => ({ id: index + 1, owner: SHOWN.whole(text) })),
      ]);
    });
  });

  test('are shown in pages by number and by cursor', async () => {
    const started = await start([Paged, Followed]);
    try {
      for (const path of ['paged', 'followed']) {
        const seen: unknown[] = [];
        for (let url: string | null = `/rest/v1/other/${path}/`; url !== null;) {
          const { status, json } = await started.client.get(url.replace(/^https?:\/\/[^/]+/, ''));
          expect(status).toBe(200);
          const page = json as { readonly next: string | null; readonly results: readonly unknown[] };
          seen.push(...page.results);
          url = page.next;
        }
        expect(seen).toEqual(expected);
      }
    } finally {
      await started.close();
    }
  });
});

/** Values of types of PostgreSQL that the entity declares otherwise, as SQL. */
const POSTGRES_VALUES: readonly (readonly [type: string, value: string])[] = [
  ['smallint', '7'],
  ['bigint', '9007199254740991'],
  ['bigint', '9007199254740993'],
  ['numeric', "'NaN'"],
  ['numeric', '1.50'],
  ['double precision', "'Infinity'"],
  ['real', '0.1'],
  ['boolean', 'true'],
  ['varchar(60)', `'1,"admin":true'`],
  ['char(60)', `'1,"admin":true'`],
  ['name', `'1,"admin":true'`],
  ['citext_like', `'1,"admin":true'`],
  ['label_like', `'1,"admin":true'`],
  ['json', `'{ "a":\n1 }'`],
  ['jsonb', `'[1, "b"]'`],
  ['text[]', `ARRAY['a"b', '1,"admin":true']`],
  ['integer[]', 'ARRAY[1, 2]'],
  ['bytea', `'\\x2231'`],
  ['interval', "'1 day 2 hours'"],
  ['date', "'2022-10-02'"],
  ['timestamp', "'2022-10-02 09:23:28.297'"],
  ['timestamptz', "'2022-10-02 09:23:28.297+00'"],
  ['time', "'09:23:28'"],
  ['uuid', "'0b0b6dd2-7a26-4a0c-8f53-3c0a1a2f3b4c'"],
  ['inet', "'10.0.0.1'"],
  ['point', "'(1,2)'"],
  ['money', "'1.50'"],
  ['bit(3)', "B'101'"],
  ['oid', "'7'"],
  ['xml', `'<a b="c"/>'`],
];

function ofType(at: number): new () => object {
  class Typed extends Declared {
    readonly day: string | null;
    readonly moment: Date | null;
    readonly span: string | null;
    readonly list: unknown;
  }
  Column({ type: 'date', nullable: true })(Typed.prototype, 'day');
  Column({ type: 'timestamp', nullable: true })(Typed.prototype, 'moment');
  Column({ type: 'interval', nullable: true })(Typed.prototype, 'span');
  Column({ type: 'int', array: true, nullable: true })(Typed.prototype, 'list');
  Entity({ name: `other_typed${at}`, synchronize: false })(Typed);
  restify(Typed, { app: 'other', name: `typed${at}`, shape: true });
  return Typed;
}

onEachDatabase(
  'columns of another type of PostgreSQL',
  (database) => {
    const names = [...KINDS, 'day', 'moment', 'span', 'list'];
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({
        entities: POSTGRES_VALUES.map((_, at) => ofType(at)),
        database,
        undescribed: 'all',
      });
      const { dataSource } = started;
      await dataSource.query(`CREATE DOMAIN citext_like AS varchar(60)`);
      await dataSource.query(`CREATE TYPE label_like AS ENUM ('1,"admin":true')`);
      for (const [at, [type, value]] of POSTGRES_VALUES.entries()) {
        await dataSource.query(
          `CREATE TABLE other_typed${at} (id INTEGER PRIMARY KEY, ${names.map((name) => `"${name}" ${type}`).join(', ')})`,
        );
        await dataSource.query(
          `INSERT INTO other_typed${at} VALUES (1, ${names.map(() => value).join(', ')}), (2, ${names.map(() => 'NULL').join(', ')})`,
        );
      }
    });
    afterAll(() => started.close());

    test.each(POSTGRES_VALUES.map(([type, value], at) => [type, value, at] as const))(
      'of %s: %s',
      async (_, __, at) => {
        const { client } = started;
        for (const name of names) {
          const list = await client.get(`/rest/v1/other/typed${at}/?fields=id,${name}`);
          const object = await client.get(`/rest/v1/other/typed${at}/1/?fields=id,${name}`);
          expect([name, object.status, object.status < 500 || MAY_FAIL.includes(name)]).toEqual([
            name,
            list.status,
            true,
          ]);
          if (list.status !== 200) continue;
          expect(list.text).toBe(`[${object.text},{"id":2,"${name}":null}]`);
          expect(Object.keys(object.json as object)).toEqual(['id', name]);
        }
      },
    );
  },
  ['postgres'],
);

@Restify('other')
@Entity('other_changed')
class Changed {
  @PrimaryColumn({ type: 'integer' }) id: number;
  @Column({ type: 'int' }) whole: number;
  @Column() word: string;
}

onEachDatabase(
  'a migration that changes the type of a column',
  (database) => {
    test('shows in lists and by key what is stored', async () => {
      const started = await startApp({ entities: [Changed], database, undescribed: 'all' });
      const { client, dataSource } = started;
      const rows = async (): Promise<unknown> => {
        const list = await client.get('/rest/v1/other/changed/');
        const object = await client.get('/rest/v1/other/changed/1/');
        expect([list.status, object.status, list.json]).toEqual([200, 200, [object.json]]);
        return list.json;
      };
      try {
        const migrate = (type: string): Promise<unknown> =>
          dataSource.query(`ALTER TABLE other_changed ALTER COLUMN whole TYPE ${type} USING whole::${type}`);
        await dataSource.query(`INSERT INTO other_changed VALUES (1, 7, 'a')`);
        for (let times = 0; times < 3; times++)
          expect(await rows()).toEqual([{ id: 1, whole: 7, word: 'a' }]);
        await migrate('text');
        expect(await rows()).toEqual([{ id: 1, whole: 7, word: 'a' }]);
        await dataSource.query(`UPDATE other_changed SET whole = '1,"admin":true'`);
        for (let times = 0; times < 3; times++)
          expect(await rows()).toEqual([{ id: 1, whole: '1,"admin":true', word: 'a' }]);
        await dataSource.query(`UPDATE other_changed SET whole = '8'`);
        await migrate('integer');
        for (let times = 0; times < 3; times++)
          expect(await rows()).toEqual([{ id: 1, whole: 8, word: 'a' }]);
      } finally {
        await started.close();
      }
    });
  },
  ['postgres'],
);

/** What is read by functions that other types do not have. */
const MAY_FAIL: readonly string[] = ['day', 'moment', 'span', 'list'];
