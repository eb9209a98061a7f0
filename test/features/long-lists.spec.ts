// @tags db http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { request } from 'node:http';
import {
  Column,
  Entity,
  Generated,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { DataSource, EntityTarget, ObjectLiteral, Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

/** More than three pages of a long list, and no whole number of them. */
const ROWS = 3500;

@Restify('long')
@Entity('long_owner')
class Owner {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'varchar', length: 30, nullable: true })
  name: string | null;

  @OneToMany(() => Item, (item) => item.owner)
  items: Relation<Item[]>;
}

const ORDERED = [
  'small',
  'amount',
  'few',
  'big',
  'price',
  'wide',
  'score',
  'ratio',
  'flag',
  'title',
  'note',
  'day',
  'clock',
  'at',
  'filled',
  'code',
  'kind',
  'owner',
  'owner.name',
] as const;

@Restify({
  app: 'long',
  orderingFields: ['id', ...ORDERED],
  filterFields: { few: ['exact'], id: ['lte', 'gt'] },
})
@Entity('long_item')
class Item {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  small: number;

  @Column({ type: 'int', nullable: true })
  amount: number | null;

  /** Three values. */
  @Column()
  few: number;

  @Column({ type: 'bigint', nullable: true })
  big: string | null;

  @Column({ type: 'decimal', precision: 12, scale: 4, nullable: true })
  price: string | null;

  /** Beyond what a double holds. */
  @Column({ type: 'decimal', precision: 18, scale: 0, nullable: true })
  wide: string | null;

  @Column({ type: 'double precision', nullable: true })
  score: number | null;

  @Column({ type: 'float', nullable: true })
  ratio: number | null;

  @Column({ type: 'boolean', nullable: true })
  flag: boolean | null;

  @Column({ length: 60 })
  title: string;

  @Column({ type: 'text', nullable: true })
  note: string | null;

  @Column({ type: 'date', nullable: true })
  day: string | null;

  @Column({ type: 'time', nullable: true })
  clock: string | null;

  @Column({ type: Date, precision: 6, nullable: true })
  at: Date | null;

  @Column({ type: Date, precision: 6, default: () => 'CURRENT_TIMESTAMP' })
  filled: Date;

  @Column()
  @Generated('uuid')
  code: string;

  @Column({ type: 'simple-enum', enum: ['small', 'medium', 'large', 'Extra'], nullable: true })
  kind: string | null;

  @ManyToOne(() => Owner, (owner) => owner.items, { nullable: true })
  owner: Relation<Owner> | null;
}

@Restify({ app: 'long', computed: { shout: (pair: object) => (pair as Pair).word.toUpperCase() } })
@Entity('long_pair')
class Pair {
  @PrimaryColumn()
  left: number;

  @PrimaryColumn({ length: 10 })
  right: string;

  @Column()
  word: string;
}

@Restify({ app: 'long', computed: { shout: (word: object) => (word as Word).word.toUpperCase() } })
@Entity('long_word')
class Word {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @Column()
  word: string;

  @ManyToMany(() => Shelf, (shelf) => shelf.words)
  shelves: Relation<Shelf[]>;
}

@Restify('long')
@Entity('long_shelf')
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Word, (word) => word.shelves)
  @JoinTable({ name: 'long_shelf_words' })
  words: Relation<Word[]>;
}

@Restify('long')
@Entity('long_scroll')
class Scroll {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'text' })
  body: string;
}

/** The same numbers on every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

const LETTERS = ['a', 'A', 'b', 'B', 'é', 'É', 'z', 'ß', 'ñ', ' ', '_', '%', '1', '😀', '-', "'"];

function items(): Partial<Item>[] {
  const next = numbers(42);
  const maybe = <Value>(value: Value): Value | null => (next(5) === 0 ? null : value);
  const text = (length: number): string =>
    Array.from({ length }, () => LETTERS[next(LETTERS.length)]).join('');
  const two = (below: number): string => String(next(below)).padStart(2, '0');
  return Array.from({ length: ROWS }, (): Partial<Item> => ({
    small: next(1000) - 500,
    amount: maybe(next(1_000_000) - 500_000),
    few: next(3),
    big: maybe(String(9223372036854775000n - BigInt(next(900)))),
    price: maybe(`${next(2000) - 1000}.${String(next(10000)).padStart(4, '0')}`),
    wide: maybe(String(900719925474099000n + BigInt(next(400)))),
    score: maybe((next(100_000) - 50_000) / 7),
    ratio: maybe((next(1000) - 500) / 7),
    flag: maybe(next(2) === 1),
    title: text(1 + next(3)),
    note: maybe(text(next(4))),
    day: maybe(`${1900 + next(200)}-0${1 + next(9)}-${String(1 + next(28)).padStart(2, '0')}`),
    clock: maybe(`${two(24)}:${two(60)}:00`),
    at: maybe(new Date(Date.UTC(2022, 0, 1, 0, 0, next(400), next(2) === 0 ? 0 : next(1000)))),
    kind: maybe(['small', 'medium', 'large', 'Extra'][next(4)] ?? 'small'),
    owner: maybe({ id: 1 + next(6) } as Owner),
  }));
}

async function insert<Entity extends ObjectLiteral>(
  dataSource: DataSource,
  target: EntityTarget<Entity>,
  rows: Partial<Entity>[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += 500) {
    await dataSource
      .createQueryBuilder()
      .insert()
      .into(target)
      .values(rows.slice(at, at + 500))
      .updateEntity(false)
      .execute();
  }
}

function expectOk(answer: Answer): readonly Record<string, unknown>[] {
  expect([answer.status, answer.text.slice(0, 200), answer.text.slice(-1)]).toEqual([
    200,
    expect.stringMatching(/^\[/),
    ']',
  ]);
  expect(() => JSON.parse(answer.text) as unknown).not.toThrow();
  return answer.json as Record<string, unknown>[];
}

async function startLong(database: TestDatabase, settings: Partial<AppSettings>): Promise<StartedApp> {
  const entities = [Owner, Item, Pair, Word, Shelf, Scroll];
  const started = await startApp({ entities, database, ...settings });
  const { dataSource } = started;
  await insert(dataSource, Owner, [
    { name: 'b' },
    { name: null },
    { name: 'a' },
    { name: 'B' },
    { name: 'a' },
    { name: 'é' },
  ]);
  await insert(dataSource, Item, items());
  // Some of what the database has filled in, with and without a fraction.
  const [table, filled, at, id] = ['long_item', 'filled', 'at', 'id'].map((name) =>
    dataSource.driver.escape(name),
  );
  await dataSource.query(
    `UPDATE ${table ?? ''} SET ${filled ?? ''} = ${at ?? ''} WHERE ${at ?? ''} IS NOT NULL AND ${id ?? ''} > 2000`,
  );
  return started;
}

onEachDatabase('a list of 3,500 objects in an order', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    // What each object looks like is compared below: here, for each order, it would take most of the time.
    started = await startLong(database, { compare: false, undescribed: 'all' });
  });
  afterAll(() => started.close());

  /** The keys in the order in which the database itself puts them. */
  async function keysBySql(terms: readonly string[]): Promise<readonly number[]> {
    const { dataSource } = started;
    const quote = (name: string): string => dataSource.driver.escape(name);
    const column = (name: string): string =>
      name === 'owner.name' ? `o.${quote('name')}` : `i.${quote(name === 'owner' ? 'ownerId' : name)}`;
    const key = terms.at(-1)?.startsWith('-') === true ? '-id' : 'id';
    const order = [...terms, ...(terms.some((term) => term.replace('-', '') === 'id') ? [] : [key])];
    const sorted = order
      .map((term) => (term.startsWith('-') ? `${column(term.slice(1))} DESC` : column(term)))
      .join(', ');
    const sql = `SELECT i.${quote('id')} AS id FROM ${quote('long_item')} i LEFT JOIN ${quote('long_owner')} o ON o.${quote('id')} = i.${quote('ownerId')} ORDER BY ${sorted}`;
    return (await dataSource.query<{ id: number }[]>(sql)).map((row) => row.id);
  }

  async function keysByHttp(terms: readonly string[]): Promise<readonly unknown[]> {
    const ordering = terms.join(',').replaceAll('.', '__');
    return expectOk(await started.client.get(`/rest/v1/long/item/?ordering=${ordering}`)).map(
      (row) => row.id,
    );
  }

  const single = ORDERED.flatMap((name) => [[name], [`-${name}`]]);
  const several = [
    ['id'],
    ['-id'],
    ['few', '-small'],
    ['-few', 'title'],
    ['flag', '-kind', 'day'],
    ['-amount', 'price'],
    ['title', 'note'],
    ['-title', '-note', '-id'],
    ['kind', '-at'],
    ['-owner.name', 'ratio'],
    ['owner.name', '-id'],
    ['few', 'flag', 'kind', 'owner'],
    ['big', '-wide', 'score'],
    ['filled', '-clock'],
  ];

  test.each([...single, ...several].map((terms) => [terms.join(','), terms] as const))(
    '%s is complete, and in the order of the database',
    async (_name, terms) => {
      const keys = await keysByHttp(terms);
      expect(keys).toHaveLength(ROWS);
      expect(new Set(keys).size).toBe(ROWS);
      expect(keys).toEqual(await keysBySql(terms));
    },
  );
});

onEachDatabase('a list of 3,500 objects', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startLong(database, {});
  });
  afterAll(() => started.close());

  test.each([['kind', '-at'], ['-owner.name', 'ratio'], ['-id']])(
    'ordered by %s, %s is complete',
    async (...terms) => {
      const ordering = terms.join(',').replaceAll('.', '__');
      const rows = expectOk(await started.client.get(`/rest/v1/long/item/?ordering=${ordering}`));
      expect(new Set(rows.map((row) => row.id)).size).toBe(ROWS);
    },
  );

  test('is complete without any order, and narrows by filters', async () => {
    const { client, dataSource } = started;
    expect(expectOk(await client.get('/rest/v1/long/item/')).map((row) => row.id)).toEqual(
      Array.from({ length: ROWS }, (_, index) => index + 1),
    );
    const few = await dataSource
      .getRepository(Item)
      .find({ where: { few: 1 }, order: { id: 'DESC' }, select: { id: true } });
    expect(few.length).toBeGreaterThan(1000);
    expect(expectOk(await client.get('/rest/v1/long/item/?few=1&ordering=-id')).map((row) => row.id)).toEqual(
      few.map((row) => row.id),
    );
  });

  test.each([999, 1000, 1001, 1999, 2000, 2001])('has no seam at %d objects', async (length) => {
    const rows = expectOk(await started.client.get(`/rest/v1/long/item/?id__lte=${length}&ordering=-id`));
    expect(rows.map((row) => row.id)).toEqual(Array.from({ length }, (_, index) => length - index));
  });

  test('of a parent is complete too', async () => {
    const { client, dataSource } = started;
    const { id } = await dataSource.getRepository(Owner).save({ name: 'rich' });
    await insert(
      dataSource,
      Item,
      items()
        .slice(0, 1500)
        .map((item) => ({ ...item, owner: { id } as Owner })),
    );
    const rows = expectOk(await client.get(`/rest/v1/long/owner/${id}/items/?ordering=-few`));
    const expected = await dataSource
      .getRepository(Item)
      .find({ where: { owner: { id } }, order: { few: 'DESC', id: 'DESC' }, select: { id: true } });
    expect(rows.map((row) => row.id)).toEqual(expected.map((row) => row.id));
    await dataSource.getRepository(Item).delete({ owner: { id } });
  });

  test('has the same headers as a short one, and HEAD has no body', async () => {
    const { client } = started;
    const long = await client.get('/rest/v1/long/item/');
    const head = await client.send('HEAD', '/rest/v1/long/item/');
    const short = await client.get('/rest/v1/long/owner/');
    for (const name of [
      'content-type',
      'allow',
      'vary',
      'x-content-type-options',
      'x-frame-options',
      'referrer-policy',
      'cross-origin-opener-policy',
    ]) {
      expect([name, long.headers[name], head.headers[name]]).toEqual([
        name,
        short.headers[name],
        short.headers[name],
      ]);
    }
    expect([head.status, head.text]).toEqual([200, '']);
  });

  test('with composite keys and values that the application computes is complete', async () => {
    const next = numbers(7);
    await insert(
      started.dataSource,
      Pair,
      Array.from({ length: 2500 }, (_, index) => ({ left: next(50), right: `r${index}`, word: `w${index}` })),
    );
    const rows = expectOk(await started.client.get('/rest/v1/long/pair/'));
    const { driver } = started.dataSource;
    const [table, left, right] = ['long_pair', 'left', 'right'].map((name) => driver.escape(name));
    const expected = await started.dataSource.query<{ l: number; r: string }[]>(
      `SELECT ${left ?? ''} AS l, ${right ?? ''} AS r FROM ${table ?? ''} ORDER BY ${left ?? ''}, ${right ?? ''}`,
    );
    expect(rows.map((row) => [row.left, row.right])).toEqual(expected.map(({ l, r }) => [l, r]));
    expect(rows.every((row) => row.shout === String(row.word).toUpperCase())).toBe(true);
  });

  test('with uuid keys, and of a plain junction, is complete', async () => {
    const { dataSource, client } = started;
    await insert(
      dataSource,
      Word,
      Array.from({ length: 2500 }, (_, index) => ({ word: `w${index % 7}` })),
    );
    await dataSource.getRepository(Shelf).save([{ id: 1 }, { id: 2 }]);
    const { driver } = dataSource;
    const [table, id, word] = [driver.escape('long_word'), driver.escape('id'), driver.escape('word')];
    const keysBy = async (order: string): Promise<readonly string[]> =>
      (await dataSource.query<{ id: string }[]>(`SELECT ${id} AS id FROM ${table} ORDER BY ${order}`)).map(
        (row) => row.id,
      );
    const sorted = await keysBy(`${word} DESC, ${id} DESC`);
    const rows = expectOk(await client.get('/rest/v1/long/word/?ordering=-word'));
    expect(rows.map((row) => row.id)).toEqual(sorted);
    expect(rows[0]?.shout).toBe('W6');
    const pairs = dataSource.getMetadata(Shelf).manyToManyRelations[0]?.junctionEntityMetadata;
    const [near = '', far = ''] = (pairs?.columns ?? []).map((column) => column.propertyName);
    await insert(
      dataSource,
      pairs?.target ?? pairs?.tableName ?? '',
      sorted.flatMap((key, index) => [
        { [near]: 1, [far]: key },
        ...(index < 10 ? [{ [near]: 2, [far]: key }] : []),
      ]),
    );
    const through = expectOk(await client.get('/rest/v1/long/shelf/1/words/'));
    const byKey = await keysBy(id);
    expect(through).toEqual(byKey.map((key) => ({ id: key, shelf: 1, word: key })));
    expect(
      expectOk(await client.get('/rest/v1/long/shelf/1/words/?ordering=-word')).map((row) => row.word),
    ).toEqual([...byKey].reverse());
  });

  test.each(['body', '-body'])(
    'ordered by %s is complete where the texts are long and begin alike',
    async (ordering) => {
      const { dataSource, client } = started;
      const repository = dataSource.getRepository(Scroll);
      await repository.clear();
      const next = numbers(3);
      await insert(
        dataSource,
        Scroll,
        Array.from({ length: 2200 }, () => ({ body: 'x'.repeat(1500) + String(next(1_000_000)) })),
      );
      const rows = expectOk(await client.get(`/rest/v1/long/scroll/?ordering=${ordering}`));
      expect(rows).toHaveLength(2200);
      expect(new Set(rows.map((row) => row.id)).size).toBe(2200);
    },
  );
});

describe('decimals beyond the precision of a double', () => {
  @Restify('long')
  @Entity('long_sum')
  class Sum {
    @PrimaryGeneratedColumn()
    id: number;

    @Column({ type: 'decimal', precision: 18, scale: 0 })
    total: string;
  }

  test('one value that all rows share does not make a list endless', async () => {
    const started = await startApp({ entities: [Sum] });
    await insert(
      started.dataSource,
      Sum,
      Array.from({ length: 1500 }, () => ({ total: '900719925474099201' })),
    );
    const text = await new Promise<string>((resolve, reject) => {
      let received = '';
      const outgoing = request(
        { host: '127.0.0.1', port: started.port, path: '/rest/v1/long/sum/?ordering=total' },
        (incoming) => {
          incoming.on('data', (chunk: Buffer) => {
            received += chunk.toString('latin1');
            if (received.length > 1_000_000) incoming.destroy();
          });
          incoming.on('close', () => {
            resolve(received);
          });
          incoming.on('error', () => undefined);
        },
      );
      outgoing.on('error', reject);
      outgoing.end();
    });
    await started.close();
    expect([...text.matchAll(/"id":(\d+)/g)].map((match) => Number(match[1]))).toHaveLength(1500);
  });
});
