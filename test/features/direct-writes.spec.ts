// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import type { RestifyOptions } from 'nestjs-restify';
import { IsOptional, MaxLength } from 'class-validator';
import {
  Column,
  CreateDateColumn,
  Entity,
  JoinColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import { ManyToOne, PrimaryColumn } from 'typeorm';
import type { ColumnOptions, EntitySubscriberInterface, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { inProcessZone } from '../support/process-zone.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const OPTIONS: RestifyOptions = { app: 'direct', conditional: true };

@Restify(OPTIONS)
@Entity('direct_owner')
class Owner {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Restify(OPTIONS)
@Entity('direct_stamped')
class Stamped {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @Column({ type: 'int', nullable: true }) count: number | null;
  @ManyToOne(() => Owner, { nullable: true }) owner: Relation<Owner> | null;
  @CreateDateColumn() created_at: Date;
  @UpdateDateColumn() updated_at: Date;
}

/** The caller does not see the version. */
@Restify({ app: 'direct', exclude: ['version'] })
@Entity('direct_hidden_version')
class HiddenVersion {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @VersionColumn() version: number;
}

@Restify(OPTIONS)
@Entity('direct_versioned')
class Versioned {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @Column({ type: 'simple-json', nullable: true }) facts: unknown;
  @Column({ type: 'simple-array', nullable: true }) words: string[] | null;
  @UpdateDateColumn() updated_at: Date;
  @VersionColumn() version: number;
}

/** The secret is written, and never read. */
@Restify({ app: 'direct', conditional: true, writeOnly: ['secret'] })
@Entity('direct_secretive')
class Secretive {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @Column({ type: 'varchar', nullable: true, select: false }) secret: string | null;
  @VersionColumn() version: number;
}

/** The foreign key is a column, too. */
@Restify(OPTIONS)
@Entity('direct_assigned')
class Assigned {
  @PrimaryGeneratedColumn() id: number;
  @MaxLength(5) @Column() title: string;
  @Column({ type: 'int', nullable: true }) ownerId: number | null;
  @ManyToOne(() => Owner, { nullable: true }) @JoinColumn({ name: 'ownerId' }) owner: Relation<Owner> | null;
  @VersionColumn() version: number;
}

/** Neither version nor date: JSON alone. */
@Restify(OPTIONS)
@Entity('direct_document')
class Document {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'simple-json', nullable: true }) facts: unknown;
  @Column({ type: 'json', nullable: true }) data: unknown;
  @Column({ type: 'simple-array', nullable: true }) words: string[] | null;
  @Column({ type: 'simple-enum', enum: ['draft', 'open'], default: 'draft' }) state: string;
}

const ENTITIES = [Owner, Stamped, HiddenVersion, Versioned, Secretive, Assigned, Document];
const URL = '/rest/v1/direct/';
const LONG_AGO = '2001-02-03 04:05:06';

onEachDatabase('a write by one statement', (database) => {
  let started: StartedApp;
  let wasCompared = 0;
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database: inProcessZone(database) });
  });
  afterAll(() => started.close());
  beforeEach(() => {
    wasCompared = started.compared.compared;
  });

  const quote = (name: string): string => started.dataSource.driver.escape(name);
  const run = (sql: string): Promise<unknown> => started.dataSource.query(sql);
  const create = async (model: string, body: object): Promise<Record<string, unknown>> => {
    const { status, json } = await started.client.post(`${URL}${model}/`, body);
    expect([status, json]).toEqual([201, expect.objectContaining(body)]);
    return json as Record<string, unknown>;
  };
  const change = async (model: string, id: unknown, body: object): Promise<Record<string, unknown>> => {
    const { status, json } = await started.client.patch(`${URL}${model}/${String(id)}/`, body);
    expect([status, json]).toEqual([200, expect.objectContaining({ id })]);
    return json as Record<string, unknown>;
  };
  /** MariaDB has no UPDATE … RETURNING. */
  const expectDirect = (updates: number): void => {
    expect(started.compared.compared - wasCompared).toBe(database.name === 'mariadb' ? 0 : updates);
  };
  const makeOld = (table: string): Promise<unknown> =>
    run(`UPDATE ${quote(table)} SET ${quote('updated_at')} = '${LONG_AGO}'`);

  test('sets the date of the last update if a value changes, and only then', async () => {
    const { id, created_at } = await create('stamped', { title: 'a', count: 1 });
    await makeOld('direct_stamped');
    const before = await change('stamped', id, { title: 'a', count: 1, owner: null });
    expect(String(before['updated_at'])).toMatch(/^2001-02-0[234]T/);
    const after = await change('stamped', id, { title: 'a', count: 2 });
    expect(Math.abs(Date.now() - Date.parse(String(after['updated_at'])))).toBeLessThan(60_000);
    expect(after).toMatchObject({ title: 'a', count: 2, created_at });
    expectDirect(2);
  });

  test.each([
    ['a related key', { owner: 1 }, { owner: 2 }],
    ['no related key', { owner: 1 }, { owner: null }],
    ['null', { count: 7 }, { count: null }],
    ['a text of another case', { title: 'b' }, { title: 'B' }],
  ])('takes %s for a change', async (_, first, second) => {
    for (const name of ['x', 'y']) await create('owner', { name });
    const { id } = await create('stamped', { title: 'a', ...first });
    await makeOld('direct_stamped');
    expect(String((await change('stamped', id, first))['updated_at'])).toMatch(/^2001/);
    expect(String((await change('stamped', id, second))['updated_at'])).not.toMatch(/^2001/);
    expectDirect(2);
  });

  test('counts the versions of a row, from 1', async () => {
    const { id, version } = await create('versioned', { title: 'a' });
    expect(version).toBe(1);
    expect(await change('versioned', id, { title: 'b' })).toMatchObject({ title: 'b', version: 2 });
    expect(await change('versioned', id, { title: 'b' })).toMatchObject({ title: 'b', version: 2 });
    expect(await change('versioned', id, { title: 'c' })).toMatchObject({ title: 'c', version: 3 });
    expectDirect(3);
  });

  test('counts a hidden version', async () => {
    const { id } = await create('hiddenversion', { title: 'a' });
    await change('hiddenversion', id, { title: 'b' });
    expectDirect(1);
    const [row] = (await run(
      `SELECT ${quote('version')} AS v FROM ${quote('direct_hidden_version')} WHERE id = ${String(id)}`,
    )) as readonly { v: number }[];
    expect(Number(row?.v)).toBe(2);
  });

  test('does not reveal whether a column that is not selected had the written value', async () => {
    const { id } = await create('secretive', { title: 'a' });
    const versions: unknown[] = [];
    for (const secret of ['x', 'x', 'y', 'y', null, null])
      versions.push((await change('secretive', id, { secret }))['version']);
    expect(versions).toEqual([2, 3, 4, 5, 6, 7]);
    expect(await change('secretive', id, { title: 'b' })).toMatchObject({ version: 8 });
    expectDirect(1);
  });

  test('counts a version for a related row that is set by the relation and by its column', async () => {
    const [first, second, third] = [
      (await create('owner', { name: 'a' }))['id'],
      (await create('owner', { name: 'b' }))['id'],
      (await create('owner', { name: 'c' }))['id'],
    ];
    const { id, version } = await create('assigned', { title: 'a', owner: first, ownerId: first });
    expect(version).toBe(1);
    const url = `${URL}assigned/${String(id)}/`;
    for (const [body, owner, count] of [
      [{ owner: first, ownerId: first }, first, 1],
      [{ owner: second, ownerId: first }, second, 2],
      [{ owner: second, ownerId: third, title: 'b' }, third, 3],
      [{ owner: null, ownerId: third }, null, 4],
      [{ owner: null, ownerId: null, title: 'b' }, null, 4],
    ] as const)
      expect((await started.client.patch(url, body)).json).toMatchObject({
        owner,
        ownerId: owner,
        version: count,
      });
    for (const body of [
      { owner: first, ownerId: second },
      { owner: 987_654, ownerId: null },
      { owner: null, ownerId: 987_654 },
      { owner: first, ownerId: null, title: 'too long' },
    ])
      expect([body, (await started.client.patch(url, body)).status]).toEqual([body, 400]);
    expect((await started.client.get(url)).json).toMatchObject({ owner: null, title: 'b', version: 4 });
  });

  test('meets the precondition on the version, once of several simultaneous ones', async () => {
    const { id } = await create('versioned', { title: 'a' });
    const headers = { 'if-match': '"1"' };
    const tag = (await started.client.get(`${URL}versioned/${String(id)}/`)).headers['etag'] ?? '';
    const answers = await Promise.all(
      ['b', 'c', 'd'].map((title) =>
        started.client.patch(
          `${URL}versioned/${String(id)}/`,
          { title },
          { headers: { ...headers, 'if-match': tag } },
        ),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    expect((await change('versioned', id, { title: 'e' }))['version']).toBe(3);
  });

  test('stores JSON and lists, and takes equal ones for no change', async () => {
    const facts = { b: [1, null, { c: 'ü"\\' }], a: true };
    const { id } = await create('versioned', { title: 'a', facts, words: ['x', 'y'] });
    expect(await change('versioned', id, { facts, words: ['x', 'y'] })).toMatchObject({ version: 1 });
    expect(await change('versioned', id, { facts: { ...facts, a: false } })).toMatchObject({ version: 2 });
    expect(await change('versioned', id, { words: ['x'] })).toMatchObject({ words: ['x'], version: 3 });
    expect(await change('versioned', id, { facts: null, words: null })).toMatchObject({
      facts: null,
      words: null,
      version: 4,
    });
    expect(await change('versioned', id, { facts: [], words: [] })).toMatchObject({ facts: [], words: [] });
    expectDirect(5);
  });

  test('keeps the stored order of the keys of JSON that is equal', async () => {
    const { id } = await create('document', { data: { b: 1, a: 2 } });
    const changed = await change('document', id, { data: { a: 2, b: 1 } });
    expect(JSON.stringify(changed['data'])).toBe('{"b":1,"a":2}');
    const other = await change('document', id, { data: { a: 3, b: 1 } });
    expect(JSON.stringify(other['data'])).toBe('{"a":3,"b":1}');
    expectDirect(database.name === 'sqlite' ? 0 : 2);
  });

  test('stores enums and lists without a version', async () => {
    const { id } = await create('document', { facts: 'text', words: ['a b', 'ü'], state: 'open' });
    expect(await change('document', id, { facts: 1.5, words: ['c'], state: 'draft' })).toMatchObject({
      facts: 1.5,
      words: ['c'],
      state: 'draft',
    });
    expectDirect(1);
  });

  test('leaves the row to TypeORM as soon as a subscriber listens', async () => {
    const { id } = await create('versioned', { title: 'a' });
    const seen: string[] = [];
    const subscriber: EntitySubscriberInterface<Versioned> = {
      listenTo: () => Versioned,
      beforeUpdate: ({ entity }) => void seen.push(String(entity?.['title'])),
    };
    started.dataSource.subscribers.push(subscriber);
    expect(await change('versioned', id, { title: 'b' })).toMatchObject({ title: 'b', version: 2 });
    started.dataSource.subscribers.splice(started.dataSource.subscribers.indexOf(subscriber), 1);
    expect(await change('versioned', id, { title: 'c' })).toMatchObject({ title: 'c', version: 3 });
    expect(seen).toEqual(['b']);
    expectDirect(1);
  });

  test('leaves an update without fields to TypeORM, which changes nothing', async () => {
    const { id } = await create('versioned', { title: 'a' });
    expect(await change('versioned', id, {})).toMatchObject({ version: 1 });
    expectDirect(0);
  });
});

onEachDatabase('simultaneous changes of a row', (database) => {
  test('count a version each', async () => {
    const started = await startApp({ entities: ENTITIES, database: inProcessZone(database), compare: false });
    const { client } = started;
    try {
      await client.post(`${URL}versioned/`, { title: 'a' });
      const titles = ['b', 'c', 'd', 'e', 'f', 'g'];
      const answers = await Promise.all(titles.map((title) => client.patch(`${URL}versioned/1/`, { title })));
      expect(answers.map(({ json }) => (json as { version: number }).version).sort()).toEqual([
        2, 3, 4, 5, 6, 7,
      ]);
    } finally {
      await started.close();
    }
  });
});

/** Columns of every type whose change TypeORM detects in its own way. */
const KINDS: Readonly<
  Record<string, readonly [options: ColumnOptions, values: readonly unknown[], design?: unknown]>
> = {
  whole: [{ type: 'int' }, [1, -2]],
  large: [{ type: 'bigint' }, ['9007199254740993', '5'], String],
  large_number: [{ type: 'bigint' }, ['5', '6'], Number],
  large_native: [{ type: 'bigint' }, ['5', '6'], BigInt],
  price: [{ type: 'decimal', precision: 10, scale: 2 }, ['1.50', '1.51'], String],
  price_number: [{ type: 'decimal', precision: 10, scale: 2 }, ['1.50', '1.51'], Number],
  ratio: [{ type: 'double precision' }, [0.1, -2.5]],
  open: [{ type: 'boolean' }, [true, false]],
  text: [{ type: 'varchar' }, ['a', 'A']],
  day: [{ type: 'date' }, ['2022-02-03', '2022-02-04'], String],
  day_object: [{ type: 'date' }, ['2022-02-03', '2022-02-04'], Date],
  state: [{ type: 'simple-enum', enum: ['draft', 'open'] }, ['draft', 'open']],
  facts: [{ type: 'simple-json' }, [{ a: 1 }, { a: 2 }]],
  words: [{ type: 'simple-array' }, [['a', 'b'], ['a']]],
};
const SQLITE_KINDS: typeof KINDS = {
  moment: [{ type: 'datetime' }, ['2022-10-02T09:23:28.000Z', '2022-10-02T09:23:28.297Z'], Date],
  bytes: [{ type: 'blob' }, ['AAEC', 'AAED']],
};
const POSTGRES_KINDS: typeof KINDS = {
  moment: [{ type: 'timestamp' }, ['2022-10-02T09:23:28.123456Z', '2022-10-02T09:23:28.297000Z'], Date],
  zoned: [
    { type: 'timestamptz', precision: 3 },
    ['2022-10-02T09:23:28.123Z', '2022-10-02T09:23:28.297Z'],
    Date,
  ],
  single: [{ type: 'real' }, [0.1, 2.5]],
  padded: [{ type: 'char', length: 4 }, ['a', 'b']],
  name: [{ type: 'uuid' }, ['0b5a1c9e-7f70-4a0e-8f0e-6e7b3a2f4c11', '0b5a1c9e-7f70-4a0e-8f0e-6e7b3a2f4c12']],
  kind: [{ type: 'enum', enum: [1, 2] }, [1, 2]],
  data: [{ type: 'jsonb' }, [{ a: [1, { b: null }] }, { a: [] }]],
  document: [{ type: 'json' }, [{ b: 1, a: 'x' }, 'text']],
  numbers: [{ type: 'int', array: true }, [[1, 2], []]],
  texts: [{ type: 'text', array: true }, [['a"b', 'c,d'], ['e']]],
  moments: [{ type: 'timestamptz', array: true }, [['2022-10-02T09:23:28.123456Z'], []]],
  documents: [{ type: 'jsonb', array: true }, [[{ a: 1 }, 'b'], []]],
  bytes: [{ type: 'bytea' }, ['AAEC', 'AAED']],
  time: [{ type: 'time' }, ['10:11:12', '10:11:13.5']],
  span: [{ type: 'interval' }, ['P1DT2H', 'P2D']],
};

const MODELS = ['counted', 'judged', 'plain'] as const;

/** An entity with nullable columns of these kinds: `counted` with a version, `judged` with a version and a validator. */
function entityOf(kinds: typeof KINDS, name: (typeof MODELS)[number], table: string): new () => object {
  // eslint-disable-next-line @typescript-eslint/no-extraneous-class -- its columns are declared below
  class Kinds {}
  PrimaryColumn({ type: 'int' })(Kinds.prototype, 'id');
  for (const [name, [options, , design = Object]] of Object.entries(kinds)) {
    Reflect.defineMetadata('design:type', design, Kinds.prototype, name);
    Column({ ...options, nullable: true })(Kinds.prototype, name);
  }
  if (name === 'judged') {
    IsOptional()(Kinds.prototype, 'text');
    MaxLength(9)(Kinds.prototype, 'text');
  }
  if (name !== 'plain') {
    VersionColumn()(Kinds.prototype, 'version');
    UpdateDateColumn({ precision: 3 })(Kinds.prototype, 'updated_at');
  }
  Entity(table)(Kinds);
  Restify({ app: 'direct', name })(Kinds);
  return Kinds;
}

onEachDatabase(
  'a value that is written again',
  (database) => {
    const kinds = { ...KINDS, ...(database.name === 'postgres' ? POSTGRES_KINDS : SQLITE_KINDS) };
    const cases = Object.entries(kinds).map(([name, [, values]]) => [name, values] as const);
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({
        entities: MODELS.map((name) => entityOf(kinds, name, `direct_${name}_${database.name}`)),
        database: inProcessZone(database),
      });
    });
    afterAll(() => started.close());

    // The comparison of the application fails if the version, a stored value or the entity for validators differs from TypeORM's.
    test.each(cases)('is a change of %s exactly if it is one for TypeORM', async (name, [first, second]) => {
      for (const model of MODELS) {
        const url = `/rest/v1/direct/${model}/`;
        const id = cases.findIndex(([each]) => each === name) + 1;
        expect((await started.client.post(url, { id, [name]: first })).status).toBe(201);
        for (const value of [first, second, second, null, null, first]) {
          const { status, json } = await started.client.patch(`${url}${id}/`, { [name]: value });
          expect([status, json]).toEqual([200, expect.objectContaining({ [name]: value })]);
        }
      }
    });

    test('is compared with TypeORM for each kind that one statement writes', () => {
      expect(started.compared.compared).toBeGreaterThan(cases.length * 12);
    });
  },
  ['sqlite', 'postgres'],
);
