// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { IsOptional, MaxLength, Min, ValidatorConstraint, Validate } from 'class-validator';
import type { ValidationArguments, ValidatorConstraintInterface } from 'class-validator';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn, UpdateDateColumn, VersionColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { inProcessZone } from '../support/process-zone.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** What the validator of the entity has seen, and what it does meanwhile. */
const seen: object[] = [];
let meanwhile: (() => Promise<unknown>) | undefined;

@ValidatorConstraint({ name: 'observed', async: true })
class Observed implements ValidatorConstraintInterface {
  async validate(_: unknown, { object }: ValidationArguments = {} as ValidationArguments): Promise<boolean> {
    // Columns that validators are not shown are own properties of a view, whose prototype is the entity.
    const entity = (Object.getPrototypeOf(object) ?? {}) as object;
    const names = new Set([...Object.keys(object), ...Object.keys(entity)]);
    const values = [...names].map((name): [string, unknown] => [name, Reflect.get(object, name)]);
    seen.push({ ...Object.fromEntries(values), isProduct: object instanceof Product });
    const action = meanwhile;
    meanwhile = undefined;
    await action?.();
    return true;
  }
}

@Restify('validated')
@Entity('validated_maker')
class Maker {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'validated', bulk: true })
@Entity('validated_product')
class Product {
  @PrimaryGeneratedColumn() id: number;

  @MaxLength(5)
  @Validate(Observed)
  @Column()
  name: string;

  @Min(0)
  @Column({ type: 'int' })
  price: number;

  @Column({ unique: true, type: 'varchar', nullable: true }) code: string | null;
  @Column({ type: 'date', nullable: true }) day: string | null;
  @Column({ type: 'simple-json', nullable: true }) facts: unknown;
  @Column({ type: 'varchar', nullable: true, select: false }) secret: string | null;
  @ManyToOne(() => Maker, { nullable: true }) maker: Relation<Maker> | null;
  @ManyToOne(() => Maker, { nullable: true }) seller: Relation<Maker> | null;
  @UpdateDateColumn() updated_at: Date;
  @VersionColumn() version: number;
}

/** A model whose validators are all class-validator's own. */
@Restify('validated')
@Entity('validated_ware')
class Ware {
  @PrimaryGeneratedColumn() id: number;

  @MaxLength(5)
  @Column()
  name: string;

  @IsOptional()
  @Min(0)
  @Column({ type: 'int', nullable: true })
  price: number | null;

  @ManyToOne(() => Maker, { nullable: true }) maker: Relation<Maker> | null;
  @ManyToOne(() => Maker, { nullable: true }) seller: Relation<Maker> | null;
}

const PRODUCTS = '/rest/v1/validated/product/';
const WARES = '/rest/v1/validated/ware/';

onEachDatabase('a validated write', (database) => {
  let started: StartedApp;
  let maker: number;
  let wasChanged = 0;
  beforeAll(async () => {
    started = await startApp({ entities: [Maker, Product], database: inProcessZone(database) });
    const { json } = await started.client.post('/rest/v1/validated/maker/', { name: 'm' });
    maker = (json as { id: number }).id;
  });
  afterAll(() => started.close());
  beforeEach(() => {
    seen.length = 0;
    wasChanged = started.compared.changed;
  });

  const create = async (body: object): Promise<Record<string, unknown>> => {
    const { status, json } = await started.client.post(PRODUCTS, { name: 'a', price: 1, ...body });
    expect([status, json]).toEqual([201, expect.objectContaining(body)]);
    return json as Record<string, unknown>;
  };
  /** MariaDB writes through TypeORM. */
  const expectDirect = (writes: number): void => {
    expect(started.compared.changed - wasChanged).toBe(database.name === 'mariadb' ? 0 : writes);
  };

  test('is one statement if the entity is valid', async () => {
    const { id } = await create({ maker });
    const { status, json } = await started.client.patch(`${PRODUCTS}${String(id)}/`, { price: 2 });
    expect([status, json]).toEqual([200, expect.objectContaining({ price: 2, version: 2, maker })]);
    const again = await started.client.patch(`${PRODUCTS}${String(id)}/`, { price: 2 });
    expect(again.json).toMatchObject({ price: 2, version: 2 });
    expectDirect(3);
  });

  test('reports the errors of validators, of keys and of the body together', async () => {
    const { id } = await create({});
    const wrong = { name: 'too long', maker: 99_999, price: -1 };
    const expected = {
      name: ['name must be shorter than or equal to 5 characters'],
      price: ['price must not be less than 0'],
      maker: ['Invalid pk "99999" - object does not exist.'],
    };
    const created = await started.client.post(PRODUCTS, wrong);
    expect([created.status, created.json]).toEqual([400, expected]);
    const changed = await started.client.patch(`${PRODUCTS}${String(id)}/`, wrong);
    expect([changed.status, changed.json]).toEqual([400, expected]);
    const missing = await started.client.patch(`${PRODUCTS}99999/`, wrong);
    expect(missing.status).toBe(404);
    expect((await started.client.get(`${PRODUCTS}${String(id)}/`)).json).toMatchObject({
      price: 1,
      version: 1,
    });
  });

  test('shows the validators the stored entity with its changes and the keys of its relations', async () => {
    const { id } = await create({ maker, day: '2022-02-03', facts: { a: 1 } });
    seen.length = 0;
    await started.client.patch(`${PRODUCTS}${String(id)}/`, { price: 3, facts: null });
    expect(seen.at(-1)).toEqual({
      isProduct: true,
      id,
      name: 'a',
      price: 3,
      code: undefined,
      // West of UTC, TypeORM loads the day before from MariaDB.
      day: database.name === 'mariadb' ? expect.any(String) : '2022-02-03',
      facts: null,
      maker: { id: maker },
      seller: undefined,
      updated_at: expect.any(Date),
      version: 1,
    });
  });

  test('reports a duplicate as a write without validators does', async () => {
    const [{ id }] = [await create({ code: 'x' }), await create({ code: 'y' })];
    const expected = { code: ['This field must be unique.'] };
    const created = await started.client.post(PRODUCTS, { name: 'a', price: 1, code: 'y' });
    expect([created.status, created.json]).toEqual([400, expected]);
    const changed = await started.client.patch(`${PRODUCTS}${String(id)}/`, { code: 'y' });
    expect([changed.status, changed.json]).toEqual([400, expected]);
  });

  test('validates the rows of a bulk write too', async () => {
    const [{ id: one }, { id: other }] = [await create({}), await create({})];
    const both = (price: number): object[] => [
      { id: one, price: 4 },
      { id: other, price },
    ];
    const refused = await started.client.patch(PRODUCTS, both(-1));
    expect([refused.status, refused.json]).toEqual([400, [{}, { price: ['price must not be less than 0'] }]]);
    expect((await started.client.get(`${PRODUCTS}${String(one)}/`)).json).toMatchObject({
      price: 1,
      version: 1,
    });
    const { status, json } = await started.client.patch(PRODUCTS, both(5));
    expect([status, json]).toMatchObject([
      200,
      [
        { id: one, price: 4, version: 2 },
        { id: other, price: 5, version: 2 },
      ],
    ]);
  });
});

onEachDatabase(
  'the statements of a validated write',
  (database) => {
    const log = new StatementLog();
    let started: StartedApp;
    let maker: number;
    beforeAll(async () => {
      started = await startApp({
        entities: [Maker, Product, Ware],
        database: inProcessZone(database),
        dataSource: { logging: ['query'], logger: log },
        compare: false,
      });
      const { json } = await started.client.post('/rest/v1/validated/maker/', { name: 'm' });
      maker = (json as { id: number }).id;
      // The first write of a model reads whether its table has triggers.
      await started.client.post(PRODUCTS, { name: 'first', price: 1 });
      await started.client.post(WARES, { name: 'first', price: 1 });
    });
    beforeEach(() => {
      seen.length = 0;
      log.clear();
    });
    afterAll(() => started.close());

    const verbs = (): readonly string[] => log.statements.map((each) => /^\w+/.exec(each)?.[0] ?? each);
    const unknown = (pk: number): string => `Invalid pk "${pk}" - object does not exist.`;

    test('do not look keys up beforehand', async () => {
      const body = { name: 'a', price: 1, maker, seller: maker };
      const { status, json } = await started.client.post(WARES, body);
      expect([status, json]).toEqual([201, expect.objectContaining(body)]);
      expect(verbs()).toEqual(['INSERT']);
      log.clear();
      const { id } = json as { id: number };
      const changed = await started.client.patch(`${WARES}${id}/`, { seller: null, maker });
      expect([changed.status, changed.json]).toEqual([200, expect.objectContaining({ maker, seller: null })]);
      expect(verbs()).toEqual(['SELECT', 'UPDATE']);
    });

    test('look them up if one does not exist, and write nothing', async () => {
      const body = { name: 'a', price: 1, maker: 99_998, seller: 99_999 };
      const expected = { maker: [unknown(99_998)], seller: [unknown(99_999)] };
      const created = await started.client.post(WARES, body);
      expect([created.status, created.json]).toEqual([400, expected]);
      expect(verbs()).toEqual(['INSERT', 'SELECT']);
      const { json } = await started.client.post(WARES, { name: 'a', price: 1, maker });
      const { id } = json as { id: number };
      const changed = await started.client.patch(`${WARES}${id}/`, { price: 2, seller: 99_999 });
      expect([changed.status, changed.json]).toEqual([400, { seller: expected.seller }]);
      const all = await started.client.patch(`${WARES}${id}/`, { price: -2, seller: 99_999 });
      expect(all.json).toEqual({ ...expected, maker: undefined, price: ['price must not be less than 0'] });
      expect((await started.client.get(`${WARES}${id}/`)).json).toMatchObject({ price: 1, seller: null });
    });

    test('look them up before validators of the application see them', async () => {
      const body = { name: 'a', price: 1, maker, seller: maker };
      const { status, json } = await started.client.post(PRODUCTS, body);
      expect([status, json]).toEqual([201, expect.objectContaining(body)]);
      expect(verbs()).toEqual(['SELECT', 'INSERT']);
      expect(seen).toMatchObject([{ maker: { id: maker }, seller: { id: maker } }]);
      log.clear();
      const { id } = json as { id: number };
      const changed = await started.client.patch(`${PRODUCTS}${id}/`, { seller: null, maker });
      expect(changed.json).toMatchObject({ maker, seller: null, version: 2 });
      expect(verbs()).toEqual(['SELECT', 'SELECT', 'UPDATE']);
      expect(seen).toMatchObject([{}, { maker: { id: maker }, seller: null }]);
    });

    test('let the validators run once if the database rejects the row', async () => {
      await started.client.post(PRODUCTS, { name: 'a', price: 1, code: 'once', maker });
      seen.length = 0;
      const { status, json } = await started.client.post(PRODUCTS, {
        name: 'b',
        price: 1,
        code: 'once',
        maker,
      });
      expect([status, json]).toEqual([400, { code: ['This field must be unique.'] }]);
      expect(seen).toMatchObject([{ name: 'b', maker: { id: maker } }]);
    });
  },
  ['sqlite', 'postgres'],
);

onEachDatabase(
  'a row that changes while its entity is validated',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({
        entities: [Maker, Product],
        database: inProcessZone(database),
        compare: false,
      });
    });
    afterAll(() => started.close());

    const makeMaker = async (): Promise<number> =>
      ((await started.client.post('/rest/v1/validated/maker/', { name: 'm' })).json as { id: number }).id;

    test('may not refer to a row that was deleted meanwhile', async () => {
      const makers = [await makeMaker(), await makeMaker()] as const;
      const { json } = await started.client.post(PRODUCTS, { name: 'a', price: 1 });
      const { id } = json as { id: number };
      meanwhile = () => run(`DELETE FROM "validated_maker" WHERE id = ${makers[0]}`);
      const created = await started.client.post(PRODUCTS, { name: 'a', price: 1, maker: makers[0] });
      expect([created.status, created.json]).toEqual([
        400,
        { maker: [`Invalid pk "${makers[0]}" - object does not exist.`] },
      ]);
      meanwhile = () => run(`DELETE FROM "validated_maker" WHERE id = ${makers[1]}`);
      const changed = await started.client.patch(`${PRODUCTS}${id}/`, { price: 2, seller: makers[1] });
      expect([changed.status, changed.json]).toEqual([
        400,
        { seller: [`Invalid pk "${makers[1]}" - object does not exist.`] },
      ]);
      expect((await started.client.get(`${PRODUCTS}${id}/`)).json).toMatchObject({
        price: 1,
        seller: null,
        version: 1,
      });
    });

    const table = '"validated_product"';
    const run = (sql: string): Promise<unknown> => started.dataSource.query(sql);

    test('is validated again', async () => {
      const { json } = await started.client.post(PRODUCTS, { name: 'a', price: 1 });
      const { id } = json as { id: number };
      seen.length = 0;
      meanwhile = () => run(`UPDATE ${table} SET price = 9 WHERE id = ${id}`);
      const changed = await started.client.patch(`${PRODUCTS}${id}/`, { name: 'b' });
      expect([changed.status, changed.json]).toEqual([
        200,
        expect.objectContaining({ name: 'b', price: 9, version: 2 }),
      ]);
      expect(seen).toMatchObject([
        { name: 'b', price: 1 },
        { name: 'b', price: 9 },
      ]);
      meanwhile = () => run(`UPDATE ${table} SET price = -9 WHERE id = ${id}`);
      const refused = await started.client.patch(`${PRODUCTS}${id}/`, { name: 'c' });
      expect([refused.status, refused.json]).toEqual([400, { price: ['price must not be less than 0'] }]);
      expect((await started.client.get(`${PRODUCTS}${id}/`)).json).toMatchObject({ name: 'b', version: 2 });
    });

    test('keeps each of several simultaneous changes', async () => {
      const { json } = await started.client.post(PRODUCTS, { name: 'a', price: 1 });
      const { id } = json as { id: number };
      const bodies = [
        { name: 'b' },
        { price: 7 },
        { day: '2022-02-03' },
        { facts: [1] },
        { code: 'together' },
      ];
      const answers = await Promise.all(
        bodies.map((body) => started.client.patch(`${PRODUCTS}${id}/`, body)),
      );
      expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200));
      expect((await started.client.get(`${PRODUCTS}${id}/`)).json).toMatchObject({
        name: 'b',
        price: 7,
        day: '2022-02-03',
        facts: [1],
        code: 'together',
        version: 6,
      });
    });

    test('is missing if it has been deleted', async () => {
      const { json } = await started.client.post(PRODUCTS, { name: 'a', price: 1 });
      const { id } = json as { id: number };
      meanwhile = () => run(`DELETE FROM ${table} WHERE id = ${id}`);
      expect((await started.client.patch(`${PRODUCTS}${id}/`, { name: 'b' })).status).toBe(404);
    });
  },
  ['sqlite', 'postgres'],
);
