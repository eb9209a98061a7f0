// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import {
  Column,
  DataSource,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import type { TestDatabase } from '../support/databases.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { NOT_FOUND, noSuchPk, seen } from './nested-answers.js';

/** Outside of the Basic Multilingual Plane, which is all that utf8mb3 holds. */
const FACE = '😀';
const CHARSETS = ['utf8mb3', 'latin1', 'sjis'] as const;

@Entity('cs_town')
class CsTown {
  @PrimaryColumn({ length: 20 }) name: string;
  @Column({ length: 20, default: '' }) mayor: string;
  @OneToMany(() => CsPerson, (person) => person.town) people: Relation<CsPerson[]>;
  @ManyToMany(() => CsTag) @JoinTable({ name: 'cs_pair' }) tags: Relation<CsTag[]>;
}

@Entity('cs_tag')
class CsTag {
  @PrimaryColumn({ length: 20 }) name: string;
}

@Entity('cs_person')
class CsPerson {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @ManyToOne(() => CsTown, (town) => town.people, { nullable: true }) town: Relation<CsTown> | null;
}

restify<CsTown>(CsTown, {
  app: 'cs',
  filterFields: {
    mayor: ['exact', 'ne', 'in', 'gte', 'lt', 'iexact', 'icontains', 'startswith', 'range'],
    name: ['exact', 'in', 'gt'],
  },
  searchFields: ['mayor', '^name', '=name'],
  bulk: { upsert: ['name'] },
});
restify(CsTag, 'cs');
restify<CsPerson>(CsPerson, {
  app: 'cs',
  filterFields: { town: ['exact', 'ne', 'in'], 'town.mayor': ['exact', 'contains'], name: ['exact'] },
  bulk: { upsert: ['name'] },
});

/** The database, whose tables have this character set. */
async function openWith(database: TestDatabase, charset: string): ReturnType<TestDatabase['open']> {
  const opened = await database.open();
  const dataSource = await new DataSource(opened.options).initialize();
  await dataSource.query(`ALTER DATABASE CHARACTER SET ${charset}`);
  await dataSource.destroy();
  return opened;
}

onEachDatabase(
  "a value outside of a column's character set",
  (database) => {
    describe.each(CHARSETS)('%s', (charset) => {
      let started: StartedApp;
      let client: StartedApp['client'];
      const url = '/rest/v1/cs';
      beforeAll(async () => {
        started = await startApp({
          entities: [CsTown, CsTag, CsPerson],
          database: { ...database, open: () => openWith(database, charset) },
        });
        client = started.client;
        expect((await client.post(`${url}/cstown/`, { name: 'a', mayor: 'b' })).status).toBe(201);
        expect((await client.post(`${url}/csperson/`, { name: 'p', town: 'a' })).status).toBe(201);
      });
      afterAll(() => started.close());

      test.each([
        'cstown/?mayor=F',
        'cstown/?mayor__in=F,x',
        'cstown/?mayor__icontains=F',
        'cstown/?mayor__startswith=F',
        'cstown/?mayor__iexact=F',
        'cstown/?search=F',
        'csperson/?town=F',
        'csperson/?town__in=F',
        'csperson/?town__mayor=F',
        'csperson/?town__mayor__contains=F',
        'cstown/?name=F',
        'csperson/?name=F',
      ])('filters nothing out: %s', async (query) => {
        expect(seen(await client.get(`${url}/${query.replace('F', encodeURIComponent(FACE))}`))).toEqual([
          200,
          [],
        ]);
      });

      test.each([
        'cstown/?mayor__gte=F',
        'cstown/?mayor__lt=F',
        'cstown/?mayor__ne=F',
        'cstown/?name__gt=F',
        'csperson/?town__ne=F',
        'cstown/?mayor__range=F,F',
        'cstown/?mayor__in=b,F',
      ])('compares: %s', async (query) => {
        expect((await client.get(`${url}/${query.replaceAll('F', encodeURIComponent(FACE))}`)).status).toBe(
          200,
        );
      });

      test('is 404 as a key in the URL', async () => {
        const face = encodeURIComponent(FACE);
        for (const each of [
          `cstown/${face}/`,
          `cstown/${face}/people/`,
          `cstown/${face}/tags/`,
          `cstown/a/tags/${face}/`,
        ])
          expect([each, ...seen(await client.get(`${url}/${each}`))]).toEqual([each, ...NOT_FOUND]);
        expect(seen(await client.patch(`${url}/cstown/${face}/`, { mayor: 'x' }))).toEqual(NOT_FOUND);
        expect(seen(await client.put(`${url}/cstown/${face}/`, { mayor: 'x' }))).toEqual(NOT_FOUND);
        expect(seen(await client.delete(`${url}/cstown/${face}/`))).toEqual(NOT_FOUND);
        expect(seen(await client.post(`${url}/cstown/${face}/tags/`, { tag: 'x' }))).toEqual(NOT_FOUND);
        expect(seen(await client.delete(`${url}/cstown/a/tags/${face}/`))).toEqual(NOT_FOUND);
      });

      test('is the key of no object', async () => {
        const none = [400, { town: noSuchPk(FACE) }];
        expect(seen(await client.post(`${url}/csperson/`, { name: 'q', town: FACE }))).toEqual(none);
        expect(seen(await client.patch(`${url}/csperson/1/`, { town: FACE }))).toEqual(none);
        expect(seen(await client.post(`${url}/cstown/a/tags/`, { cstag: FACE }))).toEqual([
          400,
          { cstag: noSuchPk(FACE) },
        ]);
        expect(seen(await client.post(`${url}/csperson/`, [{ name: 'q', town: FACE }]))).toEqual([
          400,
          [{ town: noSuchPk(FACE) }],
        ]);
      });

      test('is an error of the field that is written', async () => {
        const held = ['The database cannot hold this value.'];
        expect(seen(await client.post(`${url}/cstown/`, { name: 'x', mayor: FACE }))).toEqual([
          400,
          { mayor: held },
        ]);
        expect(seen(await client.post(`${url}/cstown/`, { name: FACE, mayor: 'x' }))).toEqual([
          400,
          { name: held },
        ]);
        expect(seen(await client.patch(`${url}/cstown/a/`, { mayor: FACE }))).toEqual([400, { mayor: held }]);
        expect(seen(await client.put(`${url}/cstown/a/`, { mayor: FACE }))).toEqual([400, { mayor: held }]);
        expect(
          seen(await client.post(`${url}/cstown/`, [{ name: 'x' }, { name: 'y', mayor: FACE }])),
        ).toEqual([400, [{}, { mayor: held }]]);
        expect(
          seen(await client.post(`${url}/cstown/?upsert=true`, [{ name: 'x' }, { name: FACE }])),
        ).toEqual([400, [{}, { name: held }]]);
        expect(seen(await client.patch(`${url}/cstown/`, [{ name: 'a', mayor: FACE }]))).toEqual([
          400,
          [{ mayor: held }],
        ]);
      });
    });
  },
  ['mariadb'],
);

@Entity('cm_shelf')
class CmShelf {
  @PrimaryColumn({ length: 20, collation: 'utf8mb4_unicode_ci' }) code: string;
  @OneToMany(() => CmBook, (book) => book.shelf) books: Relation<CmBook[]>;
}

@Entity('cm_book')
class CmBook {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, collation: 'utf8mb4_general_ci' }) shelfCode: string;
  @Column({ length: 20, collation: 'latin1_swedish_ci', charset: 'latin1' }) title: string;
  @ManyToOne(() => CmShelf, (shelf) => shelf.books, { createForeignKeyConstraints: false, nullable: false })
  @JoinColumn({ name: 'shelfCode' })
  shelf: Relation<CmShelf>;
}

restify<CmShelf>(CmShelf, {
  app: 'cm',
  expandable: ['books'],
  shape: true,
  filterFields: { 'books.title': ['exact', 'contains'] },
});
restify<CmBook>(CmBook, {
  app: 'cm',
  expandable: ['shelf'],
  shape: true,
  filterFields: { shelf: ['exact', 'in'], 'shelf.code': ['exact', 'contains', 'gte'], title: ['exact'] },
});

onEachDatabase(
  'columns of different collations',
  (database) => {
    let started: StartedApp;
    let client: StartedApp['client'];
    const url = '/rest/v1/cm';
    beforeAll(async () => {
      started = await startApp({ entities: [CmShelf, CmBook], database });
      client = started.client;
    });
    afterAll(() => started.close());

    test('are compared with each other and with every value', async () => {
      expect((await client.post(`${url}/cmshelf/`, { code: 'A' })).status).toBe(201);
      const book = { id: 1, shelfCode: 'A', title: 'é', shelf: 'A' };
      expect(seen(await client.post(`${url}/cmbook/`, { shelf: 'A', title: 'é' }))).toEqual([201, book]);
      for (const query of [
        'cmbook/?shelf=A',
        'cmbook/?shelf__code=A',
        'cmbook/?shelf__code__contains=A',
        'cmbook/?shelf__code__gte=A',
        'cmbook/?title=é',
        'cmshelf/A/books/',
      ])
        expect([query, ...seen(await client.get(`${url}/${encodeURI(query)}`))]).toEqual([
          query,
          200,
          [book],
        ]);
      for (const query of [
        'cmbook/?expand=shelf',
        'cmshelf/?expand=books',
        'cmshelf/?books__title=é',
        'cmshelf/?books__title__contains=é',
        'cmbook/?search=é',
      ])
        expect([query, (await client.get(`${url}/${encodeURI(query)}`)).json]).toEqual([
          query,
          [expect.anything()],
        ]);
      expect(seen(await client.delete(`${url}/cmbook/1/`))).toEqual([204, undefined]);
    });
  },
  ['mariadb'],
);
