// @tags db nest
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { MaxLength } from 'class-validator';
import { allow, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import {
  AfterLoad,
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
  Unique,
} from 'typeorm';
import type { ColumnOptions, Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import type { TestDatabase } from '../support/databases.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Callers with the header `x-country` see and write the cities of that country. */
class OwnCountry implements Permission {
  decide({ request }: AccessContext): Grant {
    const { headers } = request as { readonly headers: Readonly<Record<string, string | undefined>> };
    const country = headers['x-country'];
    return country === undefined ? allow() : allow({ rows: where('country', country) });
  }
}

type KeyOptions = Pick<ColumnOptions, 'type' | 'length' | 'collation'>;

/** A country whose key has these options, and what refers to it. */
function entitiesWith(key: KeyOptions, regex: boolean): readonly Type[] {
  @Restify({ app: 'geo', expandable: ['cities'], shape: true })
  @Entity('geo_country')
  class Country {
    @PrimaryColumn(key) code: string;
    @Column({ length: 20 }) name: string;
    @OneToMany(() => City, (city) => city.country) cities: Relation<City[]>;
    @ManyToMany(() => Label, (label) => label.countries)
    @JoinTable({ name: 'geo_country_label' })
    labels: Relation<Label[]>;
  }

  @Restify({ app: 'geo' })
  @Entity('geo_label')
  class Label {
    @PrimaryColumn(key) code: string;
    @ManyToMany(() => Country, (country) => country.labels) countries: Relation<Country[]>;
  }

  @Restify({
    app: 'geo',
    permissions: [OwnCountry],
    expandable: ['country'],
    shape: true,
    filterGroups: true,
    bulk: { upsert: ['country', 'name'] },
    filterFields: {
      country: ['exact', 'ne', 'in', 'isnull'],
      'country.name': ['exact'],
      name: ['exact', 'ne', 'in', 'gte', 'contains', 'iexact', 'istartswith', 'iendswith'],
    },
  })
  @Entity('geo_city')
  @Unique(['country', 'name'])
  class City {
    @PrimaryGeneratedColumn() id: number;
    @MaxLength(20) @Column(key) name: string;
    @ManyToOne(() => Country, (country) => country.cities)
    country: Relation<Country> | null;
    @OneToMany(() => Street, (street) => street.city) streets: Relation<Street[]>;
  }

  @Restify({ app: 'geo', filterFields: { 'city.country': ['exact'] } })
  @Entity('geo_street')
  class Street {
    @PrimaryGeneratedColumn() id: number;
    @ManyToOne(() => City, (city) => city.streets) city: Relation<City>;
  }

  /** The plain column of the foreign key beside the relation. */
  @Restify({ app: 'geo', bulk: { upsert: ['code'] }, searchFields: [regex ? '$code' : 'code'] })
  @Entity('geo_river')
  class River {
    @PrimaryGeneratedColumn() id: number;
    @Column({ ...key, unique: true }) code: string;
    @Column({ default: 0 }) km: number;
    @Column({ ...key, nullable: true }) mouthCode: string | null;
    @ManyToOne(() => Country) @JoinColumn({ name: 'mouthCode' }) mouth: Relation<Country> | null;
  }
  return [Country, Label, City, Street, River];
}

interface Variant {
  readonly title: string;
  readonly key: KeyOptions;
  /** Statements before the application starts. */
  readonly before?: readonly string[];
  /** Whether those make the tables. */
  readonly hasTables?: boolean;
}

/** The keys compare without case, the columns that refer to them as they are; the entities do not say so. */
const MIGRATED = [
  'CREATE TABLE geo_country (code varchar(8) COLLATE NOCASE PRIMARY KEY, name varchar(20) NOT NULL)',
  'CREATE TABLE geo_label (code varchar(8) COLLATE NOCASE PRIMARY KEY)',
  `CREATE TABLE geo_city (id integer PRIMARY KEY AUTOINCREMENT, name varchar(8) NOT NULL,
    countryCode varchar(8) REFERENCES geo_country (code))`,
  'CREATE UNIQUE INDEX geo_city_name ON geo_city (countryCode COLLATE NOCASE, name COLLATE NOCASE)',
  'CREATE TABLE geo_street (id integer PRIMARY KEY AUTOINCREMENT, cityId integer REFERENCES geo_city (id))',
  `CREATE TABLE geo_river (id integer PRIMARY KEY AUTOINCREMENT, code varchar(8) NOT NULL, km integer NOT NULL DEFAULT 0,
    mouthCode varchar(8) REFERENCES geo_country (code))`,
  'CREATE UNIQUE INDEX geo_river_code ON geo_river (code COLLATE NOCASE)',
  `CREATE TABLE geo_country_label (geoCountryCode varchar(8) COLLATE NOCASE REFERENCES geo_country (code) ON DELETE CASCADE,
    geoLabelCode varchar(8) COLLATE NOCASE REFERENCES geo_label (code) ON DELETE CASCADE,
    PRIMARY KEY (geoCountryCode, geoLabelCode))`,
];

const TEXT = { type: 'varchar', length: 8 } as const;

const VARIANTS: Readonly<Record<TestDatabase['name'], readonly Variant[]>> = {
  sqlite: [
    { title: 'NOCASE', key: { ...TEXT, collation: 'NOCASE' } },
    { title: 'NOCASE in the database alone', key: TEXT, before: MIGRATED, hasTables: true },
  ],
  postgres: [
    {
      title: 'citext',
      key: { type: 'citext' },
      before: [
        'SELECT pg_advisory_lock(7); CREATE EXTENSION IF NOT EXISTS citext SCHEMA public; SELECT pg_advisory_unlock(7)',
      ],
    },
    {
      title: 'a nondeterministic collation',
      key: { ...TEXT, collation: 'any_case' },
      before: [
        `CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
      ],
    },
  ],
  mariadb: [
    { title: 'the default collation', key: TEXT },
    { title: 'CHAR', key: { type: 'char', length: 8 } },
  ],
};

/** The database after these statements. */
function after(database: TestDatabase, statements: readonly string[], folder: string): TestDatabase {
  return {
    ...database,
    open: async () => {
      const opened = await database.open();
      const options =
        opened.options.type === 'better-sqlite3'
          ? { ...opened.options, database: `${folder}/${randomUUID()}.sqlite` }
          : opened.options;
      const dataSource = await new DataSource(options).initialize();
      for (const statement of statements) await dataSource.query(statement);
      await dataSource.destroy();
      return { ...opened, options };
    },
  };
}

const LIST = '/rest/v1/geo';

onEachDatabase('keys that the database compares without case', (database) => {
  describe.each(VARIANTS[database.name])('$title', ({ key, before = [], hasTables = false }) => {
    let started: StartedApp;
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(`${tmpdir()}/restify-`);
      started = await startApp({
        entities: [...entitiesWith(key, database.name !== 'sqlite')],
        database: after(database, before, folder),
        dataSource: { synchronize: !hasTables },
      });
    });
    afterAll(async () => {
      await started.close();
      await rm(folder, { recursive: true });
    });

    const sql = (statement: string): Promise<unknown> => started.dataSource.query(statement);
    /** A quoted name. */
    const q = (name: string): string => started.dataSource.driver.escape(name);
    const pairs = (): readonly [table: string, country: string, label: string] => [
      q('geo_country_label'),
      q('geoCountryCode'),
      q('geoLabelCode'),
    ];
    beforeEach(async () => {
      const [table, country, label] = pairs();
      for (const each of [
        'geo_street',
        'geo_city',
        'geo_river',
        'geo_country_label',
        'geo_label',
        'geo_country',
      ])
        await sql(`DELETE FROM ${q(each)}`);
      await sql(
        `INSERT INTO geo_country (code, name) VALUES ('DE', 'Germany'), ('FR', 'France'), ('IT', 'Italy')`,
      );
      await sql(`INSERT INTO geo_label (code) VALUES ('EU'), ('G7')`);
      await sql(`INSERT INTO ${table} (${country}, ${label}) VALUES ('de', 'eu'), ('FR', 'G7')`);
      await sql(
        `INSERT INTO geo_city (id, name, ${q('countryCode')}) VALUES (11, 'Bonn', 'de'), (12, 'Ulm', 'DE'), (13, 'Metz', 'FR'), (14, 'Oz', NULL)`,
      );
      await sql(`INSERT INTO geo_street (id, ${q('cityId')}) VALUES (21, 11), (22, 13)`);
      await sql(
        `INSERT INTO geo_river (id, code, ${q('mouthCode')}) VALUES (31, 'Oder', 'de'), (32, 'Lahn', NULL), (33, 'Po', 'IT')`,
      );
    });

    const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
      started.client.get(`${LIST}${path}`, { headers });
    const idsOf = async (path: string, headers: Record<string, string> = {}): Promise<unknown> => {
      const answer = await get(path, headers);
      return answer.status === 200
        ? (answer.json as readonly { readonly id: unknown }[]).map(({ id }) => id)
        : answer.json;
    };

    test('a nested list has the objects whose key is in another case', async () => {
      expect(await idsOf('/country/DE/cities/')).toEqual([11, 12]);
      expect((await get('/country/DE/?expand=cities')).json).toMatchObject({
        cities: [{ id: 11 }, { id: 12 }],
      });
      expect(await idsOf('/country/DE/labels/')).toEqual(['eu']);
      expect(await idsOf('/label/EU/countries/')).toEqual(['de']);
    });

    test('a filter by a relation finds what expansion and a filter over it find', async () => {
      expect(await idsOf('/city/?country__name=Germany')).toEqual([11, 12]);
      for (const text of ['DE', 'de', 'De']) {
        expect(await idsOf(`/city/?country=${text}`)).toEqual([11, 12]);
        expect(await idsOf(`/city/?country__in=${text},fr`)).toEqual([11, 12, 13]);
        expect(await idsOf(`/city/?country!=${text}`)).toEqual([13, 14]);
        expect(await idsOf(`/city/?filter=not(country=${text})`)).toEqual([13, 14]);
        expect(await idsOf(`/street/?city__country=${text}`)).toEqual([21]);
        expect(await idsOf(`/country/DE/labels/?label=${text === 'DE' ? 'EU' : 'Eu'}`)).toEqual(['eu']);
      }
      expect((await get('/city/11/?expand=country')).json).toMatchObject({ country: { code: 'DE' } });
    });

    test('searches and text lookups work over such columns', async () => {
      expect(await idsOf('/city/?search=ON')).toEqual([11]);
      expect(await idsOf('/city/?name__contains=on')).toEqual([11]);
      expect(await idsOf('/city/?name__contains=ON')).toEqual([]);
      expect(await idsOf('/city/?name__istartswith=bO&name__iendswith=NN&name__iexact=BONN')).toEqual([11]);
      expect(await idsOf('/city/?name__gte=Metz&ordering=-name')).toEqual([12, 14, 13]);
      expect(await idsOf('/city/?name__in=bonn,Ulm')).toEqual([12]);
      expect(await idsOf('/city/?name__ne=bonn&country=de')).toEqual([11, 12]);
      if (database.name !== 'sqlite') expect(await idsOf('/river/?search=dE')).toEqual([31]);
    });

    test('a filter by a plain column, and the key in a URL, are exact', async () => {
      expect(await idsOf('/city/?name=bonn')).toEqual([]);
      expect((await get('/country/de/')).status).toBe(404);
      expect((await get('/country/de/cities/')).status).toBe(404);
    });

    test('what was read is accepted as it was read', async () => {
      const read = (await get('/city/11/')).json as Record<string, unknown>;
      expect(read).toMatchObject({ country: 'de' });
      const put = await started.client.put(`${LIST}/city/11/`, read);
      expect([put.status, put.json]).toEqual([200, { ...read, country: 'DE' }]);
      const river = (await get('/river/31/')).json as Record<string, unknown>;
      expect(await started.client.put(`${LIST}/river/31/`, river)).toMatchObject({ status: 200 });
      expect((await get('/river/31/')).json).toMatchObject({ mouth: 'DE', mouthCode: 'DE' });
    });

    test('a key in a body is stored as the related object has it', async () => {
      const made = await started.client.post(`${LIST}/city/`, { name: 'Trier', country: 'dE' });
      expect([made.status, made.json]).toMatchObject([201, { country: 'DE' }]);
      expect(await started.client.patch(`${LIST}/city/13/`, { country: 'de' })).toMatchObject({
        status: 200,
        json: { country: 'DE' },
      });
      expect((await started.client.patch(`${LIST}/city/13/`, { country: 'dx' })).json).toEqual({
        country: ['Invalid pk "dx" - object does not exist.'],
      });
      expect(
        (await started.client.post(`${LIST}/river/`, { code: 'Elbe', mouthCode: 'de' })).json,
      ).toMatchObject({
        mouth: 'DE',
      });
    });

    test('a relation and its plain column agree in any case', async () => {
      const both = { mouth: 'De', mouthCode: 'dE' };
      expect((await started.client.post(`${LIST}/river/`, { code: 'Elbe', ...both })).json).toMatchObject({
        mouth: 'DE',
      });
      expect((await started.client.patch(`${LIST}/river/32/`, both)).json).toMatchObject({ mouth: 'DE' });
      expect((await started.client.patch(`${LIST}/river/31/`, both)).json).toMatchObject({ mouth: 'DE' });
      expect(
        (await started.client.patch(`${LIST}/river/31/`, { mouth: 'fr', mouthCode: 'de' })).json,
      ).toMatchObject({
        mouth: 'FR',
      });
      expect((await started.client.patch(`${LIST}/river/33/`, { mouth: 'fr', mouthCode: 'de' })).status).toBe(
        400,
      );
    });

    test('a pair is one pair in any case', async () => {
      const again = await started.client.post(`${LIST}/country/DE/labels/`, { label: 'Eu' });
      expect([again.status, again.json]).toMatchObject([400, { non_field_errors: [/unique set/] }]);
      const other = await started.client.post(`${LIST}/country/DE/labels/`, { label: 'g7' });
      expect([other.status, other.json]).toMatchObject([201, { id: 'G7', label: 'G7' }]);
      expect(await idsOf('/country/DE/labels/?country=de')).toEqual(expect.arrayContaining(['eu', 'G7']));
      const put = await started.client.put(`${LIST}/country/DE/labels/eu/`, { label: 'eu' });
      expect([put.status, put.json]).toMatchObject([200, { id: 'EU', label: 'EU' }]);
      expect((await started.client.delete(`${LIST}/country/DE/labels/EU/`)).status).toBe(204);
    });

    test('a grant by a relation covers the objects whose key is in another case', async () => {
      for (const country of ['DE', 'de']) {
        const headers = { 'x-country': country };
        expect(await idsOf('/city/', headers)).toEqual([11, 12]);
        expect((await get('/city/13/', headers)).status).toBe(404);
        const post = (body: unknown): Promise<Answer> =>
          started.client.post(`${LIST}/city/`, body, { headers });
        const made = await post({ name: 'Jena', country: 'De' });
        expect([made.status, made.json]).toMatchObject([201, { country: 'DE' }]);
        expect((await post({ name: 'Lyon', country: 'FR' })).status).toBe(403);
        await sql(`DELETE FROM geo_city WHERE name = 'Jena'`);
      }
    });

    const upsert = (model: string, body: unknown): Promise<Answer> =>
      started.client.post(`${LIST}/${model}/?upsert=true`, body);

    test('an upsert finds the object in any case', async () => {
      expect(await upsert('river', [{ code: 'ODER', km: 5 }])).toMatchObject({
        status: 200,
        json: [{ id: 31, code: 'Oder', km: 5 }],
      });
      expect(await upsert('river', { code: 'Rur', km: 6 })).toMatchObject({ status: 201 });
      expect(await upsert('river', { code: 'rUR', km: 7 })).toMatchObject({
        status: 200,
        json: { code: 'Rur', km: 7 },
      });
      expect(
        await upsert('city', [
          { name: 'BONN', country: 'De' },
          { name: 'Bonn', country: 'FR' },
        ]),
      ).toMatchObject({
        status: 201,
        json: [
          { id: 11, name: 'Bonn' },
          { name: 'Bonn', country: 'FR' },
        ],
      });
    });

    test('two spellings in one list of an upsert are the same object', async () => {
      const twice = { code: ['This object is in the list already.'] };
      for (const list of [
        [{ code: 'Oder' }, { code: 'oDER', km: 'no number' }],
        [{ code: 'Isar' }, { code: 'iSAR', km: 'no number' }],
      ]) {
        const answer = await upsert('river', list);
        expect([answer.status, answer.json]).toEqual([400, [{}, twice]]);
      }
      expect(
        await upsert('river', [{ code: 'Isar', km: 'x' }, { code: 'iSAR' }, { code: 'Isar' }]),
      ).toMatchObject({
        status: 400,
        json: [{ km: ['A valid integer is required.'] }, twice, twice],
      });
      expect(await idsOf('/river/')).toEqual([31, 32, 33]);
    });
  });
});

/** A key of fixed length, whose entities are loaded for a listener and validated. */
@Restify({ app: 'pad', bulk: { upsert: ['code'] }, expandable: ['parts'], shape: true, conditional: true })
@Entity('pad_depot')
class Depot {
  @PrimaryColumn({ type: 'char', length: 6 }) code: string;
  @Column({ default: 0 }) size: number;
  @OneToMany(() => Part, (part) => part.depot) parts: Relation<Part[]>;
  loaded = false;
  @AfterLoad() load(): void {
    this.loaded = true;
  }
}

@Restify({ app: 'pad', expandable: ['depot'], shape: true, bulk: true })
@Entity('pad_part')
class Part {
  @PrimaryColumn({ type: 'char', length: 6 }) code: string;
  @PrimaryColumn('int') place: number;
  @MaxLength(3) @Column({ default: '' }) note: string;
  @ManyToOne(() => Depot, (depot) => depot.parts) depot: Relation<Depot> | null;
  @OneToMany(() => Screw, (screw) => screw.part) screws: Relation<Screw[]>;
}

/** It refers to a composite key. */
@Restify('pad')
@Entity('pad_screw')
class Screw {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Part, (part) => part.screws) part: Relation<Part> | null;
}

onEachDatabase(
  'keys of fixed length',
  (database) => {
    let started: StartedApp;
    const at = '/rest/v1/pad';
    beforeAll(async () => {
      started = await startApp({ entities: [Depot, Part, Screw], database });
    });
    afterAll(() => started.close());
    const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const { status, json } = await started.client.send(method, at + path, { body });
      return json === undefined ? status : [status, json];
    };

    test('are written, read and named without padding', async () => {
      const depot = { code: 'ab', size: 0, parts: '/rest/v1/pad/depot/ab/parts/' };
      expect(await call('POST', '/depot/', { code: 'ab' })).toEqual([201, depot]);
      expect(await call('GET', '/depot/')).toEqual([200, [depot]]);
      expect(await call('GET', '/depot/ab/')).toEqual([200, depot]);
      expect(await call('GET', '/depot/ab%20/')).toEqual([404, { detail: 'Not found.' }]);
      expect(await call('PATCH', '/depot/ab/', { size: 2 })).toEqual([200, { ...depot, size: 2 }]);
      const part = {
        code: 'x y',
        place: 1,
        note: 'new',
        depot: 'ab',
        screws: '/rest/v1/pad/part/x%20y,1/screws/',
      };
      expect(await call('POST', '/part/', { code: 'x y', place: 1, note: 'new', depot: 'ab' })).toEqual([
        201,
        part,
      ]);
      expect(await call('GET', '/depot/ab/parts/')).toEqual([200, [part]]);
      expect(await call('GET', '/part/?depot=ab')).toEqual([200, [part]]);
      expect(await call('GET', '/part/x%20y,1/?expand=depot&fields=depot')).toEqual([
        200,
        { depot: { ...depot, size: 2 } },
      ]);
      expect(await call('PUT', '/part/x%20y,1/', part)).toEqual([200, part]);
      expect(await call('POST', '/screw/', { part: 'x%20y,1' })).toEqual([201, { id: 1, part: 'x%20y,1' }]);
      expect(await call('GET', '/part/x%20y,1/screws/')).toEqual([200, [{ id: 1, part: 'x%20y,1' }]]);
      expect(await call('GET', '/screw/?part=x%20y,1')).toEqual([200, [{ id: 1, part: 'x%20y,1' }]]);
      expect(await call('PATCH', '/part/', [{ code: 'x y', place: 1, note: 'old' }])).toEqual([
        200,
        [{ ...part, note: 'old' }],
      ]);
      expect(await call('DELETE', '/screw/1/')).toBe(204);
      expect(await call('DELETE', '/part/x%20y,1/')).toBe(204);
    });

    test('name the same object with blanks behind where the database takes them for padding', async () => {
      expect(await call('POST', '/depot/?upsert=true', [{ code: 'up' }])).toMatchObject([
        201,
        [{ code: 'up' }],
      ]);
      const made = await call('POST', '/part/', { code: 'p', place: 1, depot: 'up ' });
      expect(made).toMatchObject([201, { depot: 'up' }]);
      expect(await call('GET', '/part/?depot=up%20')).toMatchObject([200, [{ depot: 'up' }]]);
      expect(await call('POST', '/part/', { code: 'p', place: 2, note: 'long', depot: 'up ' })).toMatchObject(
        [400, { note: ['note must be shorter than or equal to 3 characters'] }],
      );
    });
  },
  ['postgres', 'mariadb'],
);

/** Accents, trailing blanks and characters that the collation ignores. */
@Restify({ app: 'acc', bulk: { upsert: ['word'] } })
@Entity('acc_word')
class Word {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) word: string;
}

onEachDatabase(
  'texts that a collation takes for equal',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ entities: [Word], database });
    });
    afterAll(() => started.close());

    test('are one object of an upsert', async () => {
      const upsert = (body: unknown): Promise<Answer> =>
        started.client.post('/rest/v1/acc/word/?upsert=true', body);
      expect((await upsert([{ word: 'cafe' }, { word: 'caff' }])).status).toBe(201);
      expect((await upsert({ word: 'Café' })).json).toEqual({ id: 1, word: 'cafe' });
      const twice = { word: ['This object is in the list already.'] };
      expect((await upsert([{ word: 'Tür' }, { word: 'Tor' }, { word: 'tuR' }])).json).toEqual([
        {},
        {},
        twice,
      ]);
      expect(
        (await upsert([{ word: 'Tür' }, { word: 'Tor' }, { word: 'TÜR' }, { word: 'TOR' }])).json,
      ).toEqual([{}, {}, twice, twice]);
    });
  },
  ['mariadb'],
);
