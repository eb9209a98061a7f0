// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import {
  and,
  FieldFilter,
  InvalidInput,
  not,
  or,
  OrderingFilter,
  Restify,
  SearchFilter,
  where,
} from 'nestjs-restify';
import type { FilterBackend, FilterContext, FilterResult, RowFilter } from 'nestjs-restify';
import {
  Column,
  Entity,
  Generated,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Address {
  @Column({ length: 50 })
  city: string;

  @Column({ type: 'int', nullable: true })
  zip: number | null;

  @Column({ default: 'by the river', select: false })
  directions: string;
}

@Restify({ app: 'shop', exclude: ['tax_number'] })
@Entity('shop_maker')
class Maker {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 40 })
  name: string;

  @Column({ default: 0 })
  tax_number: number;

  @OneToMany(() => Gadget, (gadget) => gadget.maker)
  gadgets: Relation<Gadget[]>;
}

@Restify('shop')
@Entity('shop_tag')
class Tag {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 40 })
  word: string;
}

@Restify('shop')
@Entity('shop_manual')
class Manual {
  @PrimaryColumn({ length: 20 })
  isbn: string;

  @Column()
  pages: number;
}

/** Every plain type; filters by default. */
@Restify({ app: 'shop', exclude: ['token'], writeOnly: ['password'] })
@Entity('shop_gadget')
class Gadget {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 60 })
  name: string;

  @Column({ default: 0 })
  votes: number;

  @Column({ type: 'bigint', default: '0' })
  serial: string;

  @Column({ type: 'decimal', precision: 10, scale: 2, default: 0 })
  price: string;

  @Column({ type: 'decimal', precision: 40, scale: 0, nullable: true })
  mass: string | null;

  @Column({ type: 'double precision', default: 0 })
  score: number;

  @Column({ type: 'float', default: 0 })
  ratio: number;

  @Column({ default: false })
  active: boolean;

  @Column({ type: 'date', nullable: true })
  made: string | null;

  @Column({ type: 'time', nullable: true })
  opened: string | null;

  @Column({ type: Date, precision: 6, nullable: true })
  seen: Date | null;

  @Column()
  @Generated('uuid')
  code: string;

  @Column({ type: 'simple-enum', enum: ['toy', 'tool'], default: 'toy' })
  kind: string;

  @Column(() => Address)
  address: Address;

  @Column({ default: 7 })
  token: number;

  @Column({ default: 7 })
  password: number;

  @Column({ default: 7, select: false })
  pin: number;

  @ManyToOne(() => Maker, (maker) => maker.gadgets, { nullable: true })
  maker: Relation<Maker> | null;

  @OneToOne(() => Manual, { nullable: true })
  @JoinColumn()
  manual: Relation<Manual> | null;

  @ManyToMany(() => Tag)
  @JoinTable({ name: 'shop_gadget_tags' })
  tags: Relation<Tag[]>;
}

const INSTANT_LOOKUPS = ['exact', 'gt', 'gte', 'lt', 'lte', 'in', 'range', 'ne'] as const;

@Restify({ app: 'shop', filterFields: { id: ['exact'], at: INSTANT_LOOKUPS, filled: INSTANT_LOOKUPS } })
@Entity('shop_sighting')
class Sighting {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  label: string;

  @Column({ type: Date, precision: 6, nullable: true })
  at: Date | null;

  @Column({ precision: 6, default: () => 'CURRENT_TIMESTAMP' })
  filled: Date;
}

const SHOP = [Maker, Tag, Manual, Gadget];
const GADGETS = '/rest/v1/shop/gadget/';
const CODE = '11111111-2222-4333-8444-55555555abcd';

function expectOk(answer: Answer): readonly Record<string, unknown>[] {
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.stringMatching(/^\[/)]);
  return answer.json as Record<string, unknown>[];
}

function valuesOf(answer: Answer, field: string): readonly unknown[] {
  return expectOk(answer).map((row) => row[field]);
}

function gadget(name: string, rest: Partial<Gadget> = {}): Partial<Gadget> {
  return { name, address: Object.assign(new Address(), { city: 'Basel', zip: null }), ...rest };
}

onEachDatabase('filters over the fields that a model shows', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: SHOP, database });
    const { dataSource } = started;
    await dataSource.getRepository(Maker).save([{ name: 'Acme' }, { name: 'Zeta' }]);
    await dataSource.getRepository(Manual).save([{ isbn: 'a/1', pages: 3 }]);
    const repository = dataSource.getRepository(Gadget);
    await repository.save(
      repository.create([
        gadget('Ada', {
          votes: 3,
          serial: '9007199254740993',
          price: '10.50',
          mass: '12345678901234567890123456789012345678',
          score: 0.1,
          ratio: 0.1,
          active: true,
          made: '2022-10-02',
          opened: '09:23:28',
          seen: new Date('2022-10-02T09:23:28.297Z'),
          code: CODE,
          kind: 'tool',
          address: Object.assign(new Address(), { city: 'Bern', zip: 3000 }),
          maker: { id: 1 } as Maker,
          manual: { isbn: 'a/1' } as Manual,
        }),
        gadget('ada', {
          votes: 3,
          serial: '9007199254740992',
          maker: { id: 2 } as Maker,
          seen: new Date('2022-10-02T09:23:28.000Z'),
        }),
        gadget('Adá'),
        gadget('Ada '),
        gadget(' Ada'),
      ]),
    );
  });
  afterAll(() => started.close());
  const names = async (query: string): Promise<readonly unknown[]> =>
    valuesOf(await started.client.get(`${GADGETS}?${query}`), 'name');

  test.each([
    ['id=1'],
    ['id__exact=1'],
    ['serial=9007199254740993'],
    ['price=10.5'],
    ['price=10.50'],
    ['price=%2B10.500'],
    ['mass=12345678901234567890123456789012345678'],
    ['score=0.1'],
    ['score=1e-1'],
    ['ratio=0.1'],
    ['active=true'],
    ['active=True'],
    ['active=TRUE'],
    ['active=1'],
    ['made=2022-10-02'],
    ['opened=09:23:28'],
    ['seen=2022-10-02T09:23:28.297Z'],
    [`code=${CODE}`],
    [`code=${CODE.toUpperCase()}`],
    ['kind=tool'],
    ['address__city=Bern'],
    ['address__zip=3000'],
    ['address__zip__exact=3000'],
    ['maker=1'],
    ['manual=a/1'],
    ['manual=a%2F1'],
    ['votes=3&maker=1'],
  ])('?%s keeps the equal object alone', async (query) => {
    expect(await names(query)).toEqual(['Ada']);
  });

  test.each([
    ['Ada', ['Ada']],
    ['ada', ['ada']],
    ['ADA', []],
    ['Ad%C3%A1', ['Adá']],
    ['Ada%20', ['Ada ']],
    ['Ada+', ['Ada ']],
    ['+Ada', [' Ada']],
    ['Ada++', []],
    ['Ad%25', []],
    ['Ad_', []],
  ])('?name=%s is exact in case, accents and blanks', async (value, expected) => {
    expect(await names(`name=${value}`)).toEqual(expected);
  });

  test('compares related keys that are texts as the database compares the foreign key', async () => {
    const found = database.name === 'mariadb' ? ['Ada'] : [];
    expect(await names('manual=A/1')).toEqual(found);
    expect(await names('manual=a/1%20')).toEqual(found);
    expect(await names('manual=a/2')).not.toContain('Ada');
  });

  test.each([
    ['votes=abc', { votes: ['Enter a number.'] }],
    ['votes=1.5', { votes: ['Enter a number.'] }],
    ['votes=1e2', { votes: ['Enter a number.'] }],
    ['votes=%E0%A5%A7', { votes: ['Enter a number.'] }],
    ['votes__exact=abc', { votes__exact: ['Enter a number.'] }],
    ['serial=0x10', { serial: ['Enter a number.'] }],
    ['price=ten', { price: ['Enter a number.'] }],
    ['price=NaN', { price: ['Enter a number.'] }],
    ['score=Infinity', { score: ['Enter a number.'] }],
    ['score=NaN', { score: ['Enter a number.'] }],
    ['active=maybe', { active: ['Must be a valid boolean.'] }],
    ['made=2022-13-01', { made: ['Enter a valid date.'] }],
    ['made=2022-02-30', { made: ['Enter a valid date.'] }],
    ['opened=25:00', { opened: ['Enter a valid time.'] }],
    ['seen=2022-10-02', { seen: ['Enter a valid date/time.'] }],
    ['seen=2022-10-02T24:00Z', { seen: ['Enter a valid date/time.'] }],
    ['seen=1664702608', { seen: ['Enter a valid date/time.'] }],
    ['code=1111', { code: ['Must be a valid UUID.'] }],
    ['kind=weapon', { kind: ['"weapon" is not a valid choice.'] }],
    ['address__zip=x', { address__zip: ['Enter a number.'] }],
    ['maker=x', { maker: ['Enter a number.'] }],
    ['votes=abc&made=x&name=Ada', { votes: ['Enter a number.'], made: ['Enter a valid date.'] }],
  ])('?%s is 400 with the message under the parameter', async (query, body) => {
    const answer = await started.client.get(`${GADGETS}?${query}`);
    expect([answer.status, answer.json]).toEqual([400, body]);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers.allow).toBe('GET, POST, HEAD, OPTIONS');
  });

  test.each([
    'serial=9223372036854775808',
    'serial=-99999999999999999999',
    'price=123456789.00',
    'price=1.555',
  ])('?%s does not fit the column: 400 under the field', async (query) => {
    const answer = await started.client.get(`${GADGETS}?${query}`);
    const [field = ''] = query.split('=');
    expect([answer.status, answer.json]).toEqual([400, { [field]: [expect.stringMatching(/^Ensure /)] }]);
  });

  test('an empty value filters nothing, a key of no row gives an empty list, and several fields are AND-ed', async () => {
    expect(await names('name=&votes=&maker=&seen=')).toHaveLength(5);
    expect(await names('name')).toHaveLength(5);
    expect(await names('maker=999')).toEqual([]);
    expect(await names('manual=none')).toEqual([]);
    expect(await names('votes=3')).toEqual(['Ada', 'ada']);
    expect(await names('votes=3&name=Ad%C3%A1')).toEqual([]);
  });

  test('the last value of a repeated parameter counts, and the others are not looked at', async () => {
    expect(await names('name=ada&name=Ada')).toEqual(['Ada']);
    expect(await names('votes=abc&votes=3')).toEqual(['Ada', 'ada']);
    expect(await names('name=Ada&name=')).toHaveLength(5);
    expect((await started.client.get(`${GADGETS}?votes=3&votes=abc`)).json).toEqual({
      votes: ['Enter a number.'],
    });
  });

  test.each([
    'nonsense=1',
    'Votes=1',
    'VOTES=1',
    'maker_id=1',
    'makerId=1',
    'tags=1',
    'address=1',
    'address.city=Bern',
    '__exact=1',
    '=1',
    'gadgets=1',
    'page=2',
    'limit=1',
  ])('?%s names no filter and is ignored', async (query) => {
    expect(await names(query)).toHaveLength(5);
  });

  test.each([
    ['votes__gt', 'Known here: "votes".'],
    ['votes__regex', 'Known here: "votes".'],
    ['name__icontains', 'Known here: "name".'],
    ['maker__name', 'Known here: "maker".'],
    ['maker__tax_number', 'Known here: "maker".'],
    ['address__citty', 'Did you mean "address__city"?'],
    ['address__directions', 'Known here: "address__city", "address__zip".'],
    ['tags__word', 'There is none to name here.'],
  ])('?%s is no filter of a field that is shown: 400 in place of all rows', async (name, repair) => {
    for (const value of ['1', '']) {
      const answer = await started.client.get(`${GADGETS}?${name}=${value}`);
      expect([answer.status, answer.json]).toEqual([400, { [name]: [`There is no such filter. ${repair}`] }]);
    }
  });

  test('ten misspelt filters are reported, and a long one without a suggestion', async () => {
    const many = Array.from({ length: 50 }, (_, index) => `votes__x${index}=1`).join('&');
    expect(Object.keys((await started.client.get(`${GADGETS}?${many}`)).json as object)).toHaveLength(10);
    const long = `votes__${'x'.repeat(200)}`;
    expect((await started.client.get(`${GADGETS}?${long}=1`)).json).toEqual({
      [long]: ['There is no such filter.'],
    });
  });

  test('a hidden, write-only or select: false field answers to the byte like a name that does not exist', async () => {
    for (const value of ['7', '8', 'abc', '', '%27', '1,2']) {
      const unknown = await started.client.get(`${GADGETS}?nothing=${value}`);
      for (const hidden of ['token', 'password', 'pin', 'pin__exact', 'tax_number']) {
        const answer = await started.client.get(`${GADGETS}?${hidden}=${value}`);
        expect([answer.status, answer.text]).toEqual([unknown.status, unknown.text]);
      }
    }
    expect((await started.client.get(`${GADGETS}?token=8`)).json).toHaveLength(5);
  });

  test('NUL, lone surrogates and broken escapes are 400 in every parameter', async () => {
    for (const name of ['name', 'votes', 'search', 'ordering', 'nonsense', 'token', 'maker']) {
      const nul = await started.client.get(`${GADGETS}?${name}=a%00b`);
      expect([nul.status, nul.json]).toEqual([400, { [name]: ['Null characters are not allowed.'] }]);
      for (const broken of ['%ED%A0%80', '%', '%zz', '%C3', '%C0%AF', '%F5%80%80%80']) {
        const answer = await started.client.get(`${GADGETS}?${name}=${broken}`);
        expect([answer.status, answer.json]).toEqual([400, { [name]: [expect.any(String)] }]);
      }
    }
  });

  test.each(['%00', 'na%00me', '%ED%A0%80', '%', '%C3'])(
    'a parameter that is named %s is 400',
    async (name) => {
      const answer = await started.client.get(`${GADGETS}?${name}=1`);
      expect([answer.status, answer.headers['content-type']]).toEqual([400, 'application/json']);
    },
  );

  test('a number is found by the text that the object shows', async () => {
    const { client, dataSource } = started;
    const { id } = await dataSource.getRepository(Maker).save({ name: 'Numbers' });
    const repository = dataSource.getRepository(Gadget);
    const scores = [
      9.142857551574707,
      9.857142448425293,
      1 / 3,
      -2.5e-10,
      1.7976931348623157e308,
      123456789.12345679,
      0,
    ];
    await repository.save(
      repository.create(scores.map((score) => gadget('number', { score, maker: { id } as Maker }))),
    );
    const shown = valuesOf(await client.get(`${GADGETS}?maker=${id}`), 'score');
    expect(shown).toEqual(scores);
    for (const score of shown)
      expect(
        valuesOf(
          await client.get(`${GADGETS}?maker=${id}&score=${encodeURIComponent(String(score))}`),
          'score',
        ),
      ).toEqual([score]);
    await repository.delete({ maker: { id } });
  });

  test('the list of a parent takes the filters of the children, and only narrows', async () => {
    const { client } = started;
    expect(valuesOf(await client.get('/rest/v1/shop/maker/1/gadgets/?name=Ada'), 'name')).toEqual(['Ada']);
    expect(valuesOf(await client.get('/rest/v1/shop/maker/1/gadgets/?name=ada'), 'name')).toEqual([]);
    expect(valuesOf(await client.get('/rest/v1/shop/maker/1/gadgets/?maker=2'), 'name')).toEqual([]);
    expect(valuesOf(await client.get('/rest/v1/shop/maker/1/gadgets/?maker=1'), 'name')).toEqual(['Ada']);
    const wrong = await client.get('/rest/v1/shop/maker/1/gadgets/?votes=x');
    expect([wrong.status, wrong.json]).toEqual([400, { votes: ['Enter a number.'] }]);
    expect((await client.get('/rest/v1/shop/maker/99/gadgets/?votes=x')).status).toBe(404);
  });

  test('a plain junction is filtered by its id and both sides', async () => {
    const { client, dataSource } = started;
    await dataSource.getRepository(Tag).save([{ word: 'red' }, { word: 'blue' }]);
    await dataSource.createQueryBuilder().relation(Gadget, 'tags').of(1).add([1, 2]);
    const url = '/rest/v1/shop/gadget/1/tags/';
    const both = [
      { id: 1, gadget: 1, tag: 1 },
      { id: 2, gadget: 1, tag: 2 },
    ];
    expect(expectOk(await client.get(url))).toEqual(both);
    expect(expectOk(await client.get(`${url}?tag=2`))).toEqual([both[1]]);
    expect(expectOk(await client.get(`${url}?id=1`))).toEqual([both[0]]);
    expect(expectOk(await client.get(`${url}?gadget=1`))).toEqual(both);
    expect(expectOk(await client.get(`${url}?gadget=2`))).toEqual([]);
    expect((await client.get(`${url}?tag=x`)).json).toEqual({ tag: ['Enter a number.'] });
  });
});

onEachDatabase('filters by date and time', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Sighting], database });
    await started.dataSource.getRepository(Sighting).save([
      { label: 'before', at: new Date('2022-10-02T09:23:27.999Z') },
      { label: 'whole', at: new Date('2022-10-02T09:23:28.000Z') },
      { label: 'fraction', at: new Date('2022-10-02T09:23:28.297Z') },
      { label: 'after', at: new Date('2022-10-02T09:24:00.000Z') },
    ]);
  });
  afterAll(() => started.close());
  const labels = async (query: string): Promise<readonly unknown[]> =>
    valuesOf(await started.client.get(`/rest/v1/shop/sighting/?${query}`), 'label');

  test.each([
    '2022-10-02T09:23:28Z',
    '2022-10-02T09:23:28',
    '2022-10-02%2009:23:28',
    '2022-10-02+09:23:28Z',
    '2022-10-02t09:23:28z',
    '2022-10-02T09:23:28.0Z',
    '2022-10-02T09:23:28.000000Z',
    '2022-10-02T11:23:28%2B02:00',
    '2022-10-02T11:23:28%2B0200',
    '2022-10-02T11:23:28%2B02',
    '2022-10-02T00:53:28-08:30',
    '2022-10-03T00:08:28%2B14:45',
  ])('at=%s is the same instant in every form', async (text) => {
    expect(await labels(`at=${text}`)).toEqual(['whole']);
  });

  test('without seconds', async () => {
    expect(await labels('at=2022-10-02T09:24Z')).toEqual(['after']);
    expect(await labels('at=2022-10-02T11:24%2B02:00')).toEqual(['after']);
  });

  test.each([
    ['at__gt=2022-10-02T11:23:28%2B02:00', ['fraction', 'after']],
    ['at__gte=2022-10-02T11:23:28%2B02:00', ['whole', 'fraction', 'after']],
    ['at__lt=2022-10-02T09:23:28Z', ['before']],
    ['at__lte=2022-10-02T09:23:28Z', ['before', 'whole']],
    ['at__ne=2022-10-02T09:23:28Z', ['before', 'fraction', 'after']],
    ['at__in=2022-10-02T09:23:28Z,2022-10-02T11:23:28.297%2B02:00', ['whole', 'fraction']],
    ['at__range=2022-10-02T09:23:28Z,2022-10-02T09:24Z', ['whole', 'fraction', 'after']],
    ['at__range=2022-10-02T09:23:27.999Z,2022-10-02T09:23:28Z', ['before', 'whole']],
    ['at__gt=0001-01-01T00:00Z', ['before', 'whole', 'fraction', 'after']],
    ['at__lt=9999-12-31T23:59:59.999999Z', ['before', 'whole', 'fraction', 'after']],
  ])('%s compares instants', async (query, expected) => {
    expect(await labels(query)).toEqual(expected);
  });

  test('a value that is finer than the column is not taken for the one before it', async () => {
    expect(await labels('at__lt=2022-10-02T09:23:28.297500Z')).toEqual(['before', 'whole', 'fraction']);
    expect(await labels('at__gte=2022-10-02T09:23:28.297500Z')).toEqual(['after']);
    expect(await labels('at=2022-10-02T09:23:28.297500Z')).toEqual([]);
  });

  test('a default that the database fills in compares as the instant that is shown', async () => {
    const { client, dataSource } = started;
    const { id } = await dataSource.getRepository(Sighting).save({ label: 'default' });
    const shown = String(
      (
        await client
          .get(`/rest/v1/shop/sighting/${id}/`)
          .then((answer) => answer.json as Record<string, unknown>)
      ).filled,
    );
    expect(shown).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/);
    const own = `id=${id}&`;
    expect(await labels(`${own}filled=${shown}`)).toEqual(['default']);
    expect(await labels(`${own}filled__gte=${shown}`)).toEqual(['default']);
    expect(await labels(`${own}filled__lte=${shown}`)).toEqual(['default']);
    expect(await labels(`${own}filled__in=${shown}`)).toEqual(['default']);
    expect(await labels(`${own}filled__range=${shown},${shown}`)).toEqual(['default']);
    expect(await labels(`${own}filled__gt=${shown}`)).toEqual([]);
    expect(await labels(`${own}filled__lt=${shown}`)).toEqual([]);
    expect(await labels(`${own}filled__ne=${shown}`)).toEqual([]);
    const moment = new Date(shown).getTime();
    expect(await labels(`${own}filled__gt=${new Date(moment - 1).toISOString()}`)).toEqual(['default']);
    expect(await labels(`${own}filled__lt=${new Date(moment + 1).toISOString()}`)).toEqual(['default']);
    expect(await labels(`${own}filled__lte=${new Date(moment - 1).toISOString()}`)).toEqual([]);
  });
});

const TEXT_LOOKUPS = [
  'exact',
  'iexact',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'range',
  'contains',
  'icontains',
  'startswith',
  'istartswith',
  'endswith',
  'iendswith',
  'isnull',
  'ne',
] as const;

@Restify('music')
@Entity('music_house')
class House {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

@Restify('music')
@Entity('music_album')
class Album {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;

  @Column({ type: Date, precision: 6 })
  released: Date;

  @ManyToOne(() => House, { nullable: true })
  house: Relation<House> | null;
}

@Restify({
  app: 'music',
  filterFields: {
    title: TEXT_LOOKUPS,
    votes: ['gt', 'gte', 'lt', 'lte', 'in', 'range', 'isnull', 'ne'],
    price: ['gt', 'in', 'range'],
    active: ['ne'],
    album: ['exact', 'in', 'ne', 'isnull'],
    'album.title': ['exact', 'icontains', 'ne'],
    'album.released': ['gte', 'lt'],
    'album.house': ['exact', 'isnull'],
    'album.house.name': ['exact'],
  },
})
@Entity('music_song')
class Song {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'varchar', length: 60, nullable: true })
  title: string | null;

  @Column({ type: 'int', nullable: true })
  votes: number | null;

  @Column({ type: 'decimal', precision: 8, scale: 2, nullable: true })
  price: string | null;

  @Column({ type: 'boolean', nullable: true })
  active: boolean | null;

  @ManyToOne(() => Album, { nullable: true })
  album: Relation<Album> | null;
}

onEachDatabase('lookups that a model names', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [House, Album, Song], database });
    const { dataSource } = started;
    await dataSource.getRepository(House).save([{ name: 'Blue' }, { name: 'blue' }]);
    await dataSource.getRepository(Album).save([
      { title: 'First', released: new Date('2020-01-01T00:00:00.000Z'), house: { id: 1 } },
      { title: 'first', released: new Date('2021-01-01T00:00:00.000Z'), house: { id: 2 } },
      { title: 'Third', released: new Date('2022-01-01T00:00:00.000Z') },
    ]);
    await dataSource
      .getRepository(Song)
      .save([
        { title: 'apple', votes: 1, price: '9.50', active: true, album: { id: 1 } },
        { title: 'Apple', votes: 5, price: '10.00', active: false, album: { id: 2 } },
        { title: 'apple pie', votes: 10, price: '10.50', active: true, album: { id: 3 } },
        { title: 'pine_apple' },
        { title: 'pineXapple' },
        { title: '100%' },
        { title: 'zebra' },
        { title: String.raw`back\slash!` },
        { title: 'apple ' },
        {},
      ]);
  });
  afterAll(() => started.close());
  const SONGS = '/rest/v1/music/song/';
  const titles = async (query: string): Promise<readonly unknown[]> =>
    valuesOf(await started.client.get(`${SONGS}?${query}`), 'title');

  test.each([
    ['title=apple', ['apple']],
    ['title__exact=apple', ['apple']],
    ['title__iexact=APPLE', ['apple', 'Apple']],
    ['title__iexact=pine_APPLE', ['pine_apple']],
    ['title__contains=apple', ['apple', 'apple pie', 'pine_apple', 'pineXapple', 'apple ']],
    ['title__icontains=APPLE', ['apple', 'Apple', 'apple pie', 'pine_apple', 'pineXapple', 'apple ']],
    ['title__startswith=apple', ['apple', 'apple pie', 'apple ']],
    ['title__istartswith=APPLE', ['apple', 'Apple', 'apple pie', 'apple ']],
    ['title__endswith=apple', ['apple', 'pine_apple', 'pineXapple']],
    ['title__iendswith=APPLE', ['apple', 'Apple', 'pine_apple', 'pineXapple']],
    ['title__endswith=a+much+longer+text+than+any+apple', []],
    ['title__contains=e_a', ['pine_apple']],
    ['title__icontains=E_A', ['pine_apple']],
    ['title__contains=0%25', ['100%']],
    ['title__startswith=%25', []],
    ['title__istartswith=%25', []],
    ['title__endswith=%25', ['100%']],
    ['title__iendswith=_', []],
    ['title__contains=%5C', [String.raw`back\slash!`]],
    ['title__icontains=%5CS', [String.raw`back\slash!`]],
    ['title__iendswith=H!', [String.raw`back\slash!`]],
    ['title__iendswith=!', [String.raw`back\slash!`]],
    ['title__isnull=true', [null]],
    ['title__isnull=1', [null]],
    ['title__isnull=False&title__lt=2', ['100%']],
    ['title__ne=apple&votes__isnull=false', ['Apple', 'apple pie']],
    ['title__ne=zebra&title__isnull=true', [null]],
    ['title__in=apple,100%25', ['apple', '100%']],
    ['title__in=APPLE,', []],
    ['title__gt=q', ['zebra']],
    ['title__gte=zebra', ['zebra']],
    ['title__lt=5', ['100%']],
    ['title__lte=100%25', ['100%']],
    ['title__range=q,zz', ['zebra']],
    ['title__range=zz,q', []],
    ['votes__gt=5', ['apple pie']],
    ['votes__gte=5', ['Apple', 'apple pie']],
    ['votes__lt=5', ['apple']],
    ['votes__lte=5', ['apple', 'Apple']],
    ['votes__in=1,10,99', ['apple', 'apple pie']],
    ['votes__range=1,5', ['apple', 'Apple']],
    ['votes__isnull=false', ['apple', 'Apple', 'apple pie']],
    ['votes__ne=5&title__istartswith=apple', ['apple', 'apple pie', 'apple ']],
    ['price__gt=9.99', ['Apple', 'apple pie']],
    ['price__in=9.5,10.50', ['apple', 'apple pie']],
    ['price__range=9.6,10', ['Apple']],
    ['active__ne=true&votes__isnull=false', ['Apple']],
    ['votes__gt=1&votes__lt=10', ['Apple']],
  ])('?%s', async (query, expected) => {
    expect(await titles(query)).toEqual(expected);
  });

  test.each([
    ['album=1', ['apple']],
    ['album__exact=1', ['apple']],
    ['album__in=1,3', ['apple', 'apple pie']],
    ['album__isnull=false', ['apple', 'Apple', 'apple pie']],
    ['album__ne=1&album__isnull=false', ['Apple', 'apple pie']],
    ['album__title=first', ['Apple']],
    ['album__title=First', ['apple']],
    ['album__title__icontains=FIRST', ['apple', 'Apple']],
    ['album__title__ne=first&votes__isnull=false', ['apple', 'apple pie']],
    ['album__released__gte=2021-01-01T00:00Z', ['Apple', 'apple pie']],
    ['album__released__gte=2021-01-01T01:00:00%2B01:00', ['Apple', 'apple pie']],
    ['album__released__lt=2021-01-01T00:00:00.000Z', ['apple']],
    ['album__house=2', ['Apple']],
    ['album__house__isnull=true&album__isnull=false', ['apple pie']],
    ['album__house__name=Blue', ['apple']],
    ['album__house__name__exact=blue', ['Apple']],
    ['album__house__name=BLUE', []],
  ])('?%s goes over forward relations', async (query, expected) => {
    expect(await titles(query)).toEqual(expected);
  });

  test.each(['votes=1', 'price=1', '__contains=q', 'album.title=x', 'active=x', 'id=1'])(
    '?%s names no lookup of the model and is ignored',
    async (query) => {
      expect(await titles(query)).toHaveLength(10);
    },
  );

  test.each([
    'votes__exact=1',
    'votes__contains=1',
    'price__gte=99',
    'album__gt=2',
    'album__released=x',
    'album__released__gt=x',
    'album__id=1',
    'album__house__id=1',
    'album__house__name__icontains=x',
    'title__regex=(',
    'title__iregex=(',
    'title__contains__contains=q',
    'title__=q',
    'title__Contains=q',
  ])('?%s is no lookup of the model, and is 400', async (query) => {
    const [name = ''] = query.split('=');
    const answer = await started.client.get(`${SONGS}?${query}`);
    expect([answer.status, answer.json]).toEqual([
      400,
      { [name]: [expect.stringMatching(/^There is no such filter\. /)] },
    ]);
  });

  test.each([
    ['votes__in=1,x', { votes__in: ['Enter a number.'] }],
    ['votes__range=1', { votes__range: [expect.any(String)] }],
    ['votes__range=1,2,3', { votes__range: [expect.any(String)] }],
    ['votes__range=x,2', { votes__range: ['Enter a number.'] }],
    ['votes__gte=x', { votes__gte: ['Enter a number.'] }],
    ['votes__isnull=maybe', { votes__isnull: ['Must be a valid boolean.'] }],
    ['active__ne=maybe', { active__ne: ['Must be a valid boolean.'] }],
    ['album__released__gte=yesterday', { album__released__gte: ['Enter a valid date/time.'] }],
    ['album__in=1,x', { album__in: ['Enter a number.'] }],
    ['album__isnull=x', { album__isnull: ['Must be a valid boolean.'] }],
  ])('?%s is 400', async (query, body) => {
    const answer = await started.client.get(`${SONGS}?${query}`);
    expect([answer.status, answer.json]).toEqual([400, body]);
  });

  test('an empty value of any lookup filters nothing', async () => {
    for (const lookup of TEXT_LOOKUPS) expect(await titles(`title__${lookup}=`)).toHaveLength(10);
    expect(await titles('votes__in=&votes__range=&album__released__gte=&album__house__name=')).toHaveLength(
      10,
    );
  });
});

/** A column whose own comparison is not exact. */
function looselyComparedEntity(type: 'char' | 'character' | 'varchar', collation?: string): Type {
  @Restify({
    app: 'loose',
    filterFields: { code: ['exact', 'ne', 'in', 'contains', 'startswith', 'endswith'] },
  })
  @Entity('loose_coded')
  class Coded {
    @PrimaryGeneratedColumn()
    id: number;

    @Column({ type, length: 5, ...(collation === undefined ? {} : { collation }) })
    code: string;
  }
  return Coded;
}

onEachDatabase('exact filters over columns that compare loosely', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    const entity = {
      sqlite: () => looselyComparedEntity('varchar', 'NOCASE'),
      postgres: () => looselyComparedEntity('character'),
      mariadb: () => looselyComparedEntity('char'),
    }[database.name]();
    started = await startApp({ entities: [entity], database });
    await started.dataSource.getRepository(entity).save([{ code: 'ab' }, { code: 'AB' }, { code: 'cd' }]);
  });
  afterAll(() => started.close());
  const ids = async (query: string): Promise<readonly unknown[]> =>
    valuesOf(await started.client.get(`/rest/v1/loose/coded/?${query}`), 'id');

  test('= finds the text that the object shows, and no other', async () => {
    const shown = expectOk(await started.client.get('/rest/v1/loose/coded/')).map((row) => String(row.code));
    for (const [index, text] of shown.entries())
      expect(await ids(`code=${encodeURIComponent(text)}`)).toEqual([index + 1]);
    expect(await ids('code=Ab')).toEqual([]);
    expect(await ids('code=ab%20')).toEqual([]);
  });

  test('ne and in are as exact as =', async () => {
    const shown = expectOk(await started.client.get('/rest/v1/loose/coded/')).map((row) =>
      encodeURIComponent(String(row.code)),
    );
    expect(await ids(`code__ne=${shown[0] ?? ''}`)).toEqual([2, 3]);
    expect(await ids('code__ne=Ab')).toEqual([1, 2, 3]);
    expect(await ids(`code__in=Ab,${shown[1] ?? ''}`)).toEqual([2]);
  });

  test('contains and startswith have regard for case', async () => {
    expect(await ids('code__contains=b')).toEqual([1]);
    expect(await ids('code__startswith=A')).toEqual([2]);
    expect(await ids('code__contains=ABa')).toEqual([]);
  });
});

@Injectable()
class Rules {
  private readonly rules: Readonly<Record<string, RowFilter>> = {
    'no filter': and(),
    nothing: or(),
    'two arguments': where('votes', 5),
    'three arguments': where('votes', 'gte', 5),
    and: and(where('votes', 'gte', 1), where('votes', 'lte', 5)),
    or: or(where('votes', 1), where('votes', 10)),
    not: not(where('votes', 5)),
    'not of null': not(where('votes', 'gt', 5)),
    'not of not': not(not(where('votes', 'gt', 5))),
    nested: or(
      and(where('votes', 1), where('hidden', true)),
      not(or(where('votes', 'lt', 10), where('votes', 'isnull', true))),
    ),
    null: where('votes', null),
    'not null': where('votes', 'ne', null),
    hidden: where('hidden', true),
    'hidden as text': where('hidden', 'true'),
    'to one': where('poet.name', 'Ann'),
    'to one, null': where('poet', null),
    'to one, key': where('poet', 2),
    'to one, not': not(where('poet.name', 'Ann')),
    'to many': where('verses.line', 'icontains', 'RAIN'),
    'to many, not': not(where('verses.line', 'icontains', 'rain')),
    'to many, key': where('verses', 3),
    'many to many': where('themes.word', 'love'),
    'many to many, key': where('themes', 'in', [2]),
    'many to many, not': not(where('themes.word', 'love')),
    'to one, to many': where('poet.poems.votes', 10),
    'to many, to one': where('verses.poem.poet.name', 'Ann'),
    'instant with an offset': where('written', '2022-10-02T11:23:28+02:00'),
    'instant without a fraction': where('written', '2022-10-02T09:23:28Z'),
    'instant from': where('written', 'gte', '2022-10-02T11:23:28+02:00'),
    'instant canonical': where('written', '2022-10-02T09:23:28.000Z'),
    in: where('votes', 'in', [1, 5]),
    'in nothing': where('votes', 'in', []),
    range: where('votes', 'range', [2, 10]),
    quotes: where('title', "x' OR '1'='1"),
  };

  named(name: string): RowFilter {
    const rule = this.rules[name];
    if (!rule) throw InvalidInput.ofNoField(`No rule "${name}".`);
    return rule;
  }
}

@Injectable()
class RuleBackend implements FilterBackend {
  constructor(private readonly rules: Rules) {}

  async filter({ parameters }: FilterContext): Promise<FilterResult> {
    const name = parameters.get('rule');
    return Promise.resolve(name === undefined ? {} : { rows: this.rules.named(name) });
  }

  parameters(): string[] {
    return ['rule'];
  }
}

@Restify('verse')
@Entity('verse_poet')
class Poet {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @OneToMany(() => Poem, (poem) => poem.poet)
  poems: Relation<Poem[]>;
}

@Restify('verse')
@Entity('verse_theme')
class Theme {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  word: string;
}

@Entity('verse_verse')
class Verse {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  line: string;

  @ManyToOne(() => Poem, (poem) => poem.verses)
  poem: Relation<Poem>;
}

@Restify({
  app: 'verse',
  filterBackends: [FieldFilter, RuleBackend, SearchFilter, OrderingFilter],
  strict: true,
  exclude: ['hidden'],
})
@Entity('verse_poem')
class Poem {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: '' })
  title: string;

  @Column({ type: 'int', nullable: true })
  votes: number | null;

  @Column({ default: false })
  hidden: boolean;

  @Column({ type: Date, precision: 6, nullable: true })
  written: Date | null;

  @ManyToOne(() => Poet, (poet) => poet.poems, { nullable: true })
  poet: Relation<Poet> | null;

  @OneToMany(() => Verse, (verse) => verse.poem)
  verses: Relation<Verse[]>;

  @ManyToMany(() => Theme)
  @JoinTable({ name: 'verse_poem_themes' })
  themes: Relation<Theme[]>;
}

onEachDatabase('filter backends of the application', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Poet, Theme, Verse, Poem],
      database,
      providers: [Rules, RuleBackend],
    });
    const { dataSource } = started;
    await dataSource.getRepository(Poet).save([{ name: 'Ann' }, { name: 'Bea' }]);
    await dataSource.getRepository(Theme).save([{ word: 'love' }, { word: 'loss' }]);
    await dataSource
      .getRepository(Poem)
      .save([
        { votes: 1, hidden: true, poet: { id: 1 }, themes: [{ id: 1 }, { id: 2 }] },
        { votes: 5, poet: { id: 1 }, written: new Date('2022-10-02T09:23:28.000Z'), themes: [{ id: 2 }] },
        { votes: 10, poet: { id: 2 }, written: new Date('2022-10-02T09:23:28.500Z'), themes: [{ id: 1 }] },
        { written: new Date('2022-10-02T09:23:27.000Z') },
      ]);
    await dataSource.getRepository(Verse).save([
      { line: 'rain, rain', poem: { id: 1 } },
      { line: 'more Rain', poem: { id: 1 } },
      { line: 'sun', poem: { id: 2 } },
    ]);
  });
  afterAll(() => started.close());
  const ids = async (query: string): Promise<readonly unknown[]> =>
    valuesOf(await started.client.get(`/rest/v1/verse/poem/?${query}`), 'id');

  test.each([
    ['no filter', [1, 2, 3, 4]],
    ['nothing', []],
    ['two arguments', [2]],
    ['three arguments', [2, 3]],
    ['and', [1, 2]],
    ['or', [1, 3]],
    ['not', [1, 3, 4]],
    ['not of null', [1, 2, 4]],
    ['not of not', [3]],
    ['nested', [1, 3]],
    ['null', [4]],
    ['not null', [1, 2, 3]],
    ['hidden', [1]],
    ['hidden as text', [1]],
    ['to one', [1, 2]],
    ['to one, null', [4]],
    ['to one, key', [3]],
    ['to one, not', [3, 4]],
    ['to many', [1]],
    ['to many, not', [2, 3, 4]],
    ['to many, key', [2]],
    ['many to many', [1, 3]],
    ['many to many, key', [1, 2]],
    ['many to many, not', [2, 4]],
    ['to one, to many', [3]],
    ['to many, to one', [1, 2]],
    ['instant with an offset', [2]],
    ['instant without a fraction', [2]],
    ['instant from', [2, 3]],
    ['instant canonical', [2]],
    ['in', [1, 2]],
    ['in nothing', []],
    ['range', [2, 3]],
    ['quotes', []],
  ])('a rule of the application keeps its rows: %s', async (rule, expected) => {
    expect(await ids(`rule=${encodeURIComponent(rule)}`)).toEqual(expected);
  });

  test('narrow together with what the client filters, searches and orders by', async () => {
    expect(await ids('rule=or&votes=1')).toEqual([1]);
    expect(await ids('rule=or&votes=5')).toEqual([]);
    expect(await ids('rule=or&ordering=-votes')).toEqual([3, 1]);
    expect(await ids('rule=or&search=zzz')).toEqual([]);
    expect(valuesOf(await started.client.get('/rest/v1/verse/poet/1/poems/?rule=or'), 'id')).toEqual([1]);
    expect(
      valuesOf(await started.client.get('/rest/v1/verse/poet/2/poems/?rule=two%20arguments'), 'id'),
    ).toEqual([]);
  });

  test('refuse with an error of their own', async () => {
    const answer = await started.client.get('/rest/v1/verse/poem/?rule=none');
    expect([answer.status, answer.json]).toEqual([400, { non_field_errors: ['No rule "none".'] }]);
  });

  test('are the parameters of a strict model, and every other one is 400', async () => {
    const { client } = started;
    expect(await ids('rule=or&votes=1&search=&ordering=&id=1&poet=1&written=')).toEqual([1]);
    for (const name of ['nonsense', 'hidden', 'Votes', 'votes__gt', 'page', '__proto__', 'constructor']) {
      const answer = await client.get(`/rest/v1/verse/poem/?${name}=1`);
      expect([answer.status, answer.text]).toEqual([400, `{"${name}":["Unknown parameter."]}`]);
    }
    expect((await client.get('/rest/v1/verse/poem/?nonsense')).status).toBe(400);
    expect((await client.get('/rest/v1/verse/poet/1/poems/?nonsense=1')).json).toEqual({
      nonsense: ['Unknown parameter.'],
    });
    expect((await client.get('/rest/v1/verse/poet/?nonsense=1')).status).toBe(200);
  });
});

@Restify({ app: 'taken', filterBackends: [FieldFilter, SearchFilter] })
@Entity('taken_ordering')
class FreeOrdering {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  ordering: string;
}

describe('a column that is named like a parameter', () => {
  test('is a filter like any other where its backend is left out', async () => {
    const started = await startApp({ entities: [FreeOrdering] });
    await started.dataSource.getRepository(FreeOrdering).save([{ ordering: 'tall' }, { ordering: 'small' }]);
    const answer = await started.client.get('/rest/v1/taken/freeordering/?ordering=small');
    await started.close();
    expect([answer.status, answer.json]).toEqual([200, [{ id: 2, ordering: 'small' }]]);
  });
});
