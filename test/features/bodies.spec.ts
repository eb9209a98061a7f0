// @tags db http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  IsEmail,
  IsIn,
  IsInt,
  IsNotEmpty,
  Matches,
  Max,
  Min,
  Validate,
  ValidateNested,
  ValidatorConstraint,
  registerDecorator,
} from 'class-validator';
import type { ValidatorConstraintInterface } from 'class-validator';
import { InvalidInput, Restify } from 'nestjs-restify';
import {
  AfterInsert,
  AfterRemove,
  AfterUpdate,
  BeforeInsert,
  BeforeRemove,
  BeforeUpdate,
  Column,
  CreateDateColumn,
  Entity,
  EventSubscriber,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type {
  DataSource,
  EntitySubscriberInterface,
  InsertEvent,
  Relation,
  RemoveEvent,
  UpdateEvent,
} from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const REQUIRED = ['This field is required.'];
const NOT_NULL = ['This field may not be null.'];
const BLANK = ['This field may not be blank.'];
const NO_INTEGER = ['A valid integer is required.'];
const NO_NUMBER = ['A valid number is required.'];
const NO_STRING = ['Not a valid string.'];
const NOT_UNIQUE = ['This field must be unique.'];

function noSuchKey(key: string | number): string[] {
  return [`Invalid pk "${key}" - object does not exist.`];
}

function wrongType(name: string): string[] {
  return [`Incorrect type. Expected pk value, received ${name}.`];
}

enum Colour {
  Red = 'red',
  Blue = 'blue',
}

@Restify('shop')
@Entity()
class Maker {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;
}

@Restify({ app: 'shop', trim: { motto: false }, optional: ['filled'], readOnly: ['sealed'] })
@Entity()
class Article {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 10 })
  title: string;

  @Column({ type: 'int', default: 0 })
  stock: number;

  @Column({ type: 'decimal', precision: 6, scale: 2, nullable: true })
  price: string | null;

  @Column({ type: 'bigint', nullable: true })
  serial: string | null;

  @Column({ type: 'simple-enum', enum: Colour, default: Colour.Red })
  colour: Colour;

  @Column({ type: 'varchar', length: 20, nullable: true })
  note: string | null;

  @Column({ length: 20, default: 'none' })
  remark: string;

  @Column({ length: 20, default: '' })
  motto: string;

  @Column({ type: 'text', nullable: true })
  story: string | null;

  @Column({ default: false })
  sold: boolean;

  @Column({ type: 'int', default: 1 })
  @Max(5)
  rating: number;

  @Column({ length: 20 })
  filled: string;

  @Column({ length: 20, default: 'by the house' })
  sealed: string;

  @Column({ type: 'simple-json', nullable: true })
  extra: unknown;

  @ManyToOne(() => Maker, { nullable: false })
  maker: Relation<Maker>;

  @ManyToOne(() => Maker, { nullable: true, onDelete: 'SET NULL' })
  importer: Relation<Maker> | null;

  @CreateDateColumn()
  made_at: Date;

  @UpdateDateColumn()
  changed_at: Date;

  @VersionColumn()
  edition: number;

  @BeforeInsert()
  fill(): void {
    this.filled = `filled ${this.title}`.slice(0, 20);
  }
}

const ARTICLE = '/rest/v1/shop/article/';

onEachDatabase('a body', (database) => {
  let started: StartedApp;
  let maker: number;
  beforeAll(async () => {
    started = await startApp({ entities: [Maker, Article], database });
    const created = await started.client.post('/rest/v1/shop/maker/', { name: 'Bell' });
    maker = (created.json as { id: number }).id;
  });
  afterAll(() => started.close());

  async function refused(body: object): Promise<unknown> {
    const before = await started.dataSource.getRepository(Article).count();
    const answer = await started.client.post(ARTICLE, body);
    expect({ status: answer.status, body: answer.json, sent: body }).toEqual({
      status: 400,
      body: answer.json,
      sent: body,
    });
    expect(await started.dataSource.getRepository(Article).count()).toBe(before);
    return answer.json;
  }

  async function accepted(body: object): Promise<Record<string, unknown>> {
    const answer = await started.client.post(ARTICLE, { title: 'Pen', maker, ...body });
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.json as Record<string, unknown>;
  }

  test('gets all errors at once, each under its field', async () => {
    expect(
      await refused({
        title: 'x'.repeat(11),
        stock: 'many',
        price: '12345.67',
        serial: '9223372036854775808',
        colour: 'green',
        note: true,
        remark: null,
        sold: 'maybe',
        rating: 6,
        maker: 9999,
        importer: [],
      }),
    ).toEqual({
      title: ['Ensure this field has no more than 10 characters.'],
      stock: NO_INTEGER,
      price: ['Ensure that there are no more than 6 digits in total.'],
      serial: ['Ensure this value is less than or equal to 9223372036854775807.'],
      colour: ['"green" is not a valid choice.'],
      note: NO_STRING,
      remark: NOT_NULL,
      sold: ['Must be a valid boolean.'],
      rating: ['rating must not be greater than 5'],
      maker: noSuchKey(9999),
      importer: wrongType('list'),
    });
  });

  test('gets the same errors when it changes an object, which keeps its values', async () => {
    const { id } = await accepted({ stock: 3 });
    for (const method of ['PUT', 'PATCH']) {
      const answer = await started.client.send(method, `${ARTICLE}${String(id)}/`, {
        body: { title: null, stock: 7.5, rating: 6, maker: 'x', importer: 9999 },
      });
      expect([method, answer.status, answer.json]).toEqual([
        method,
        400,
        {
          title: NOT_NULL,
          stock: NO_INTEGER,
          rating: ['rating must not be greater than 5'],
          maker: wrongType('str'),
          importer: noSuchKey(9999),
        },
      ]);
    }
    expect((await started.client.get(`${ARTICLE}${String(id)}/`)).json).toMatchObject({
      title: 'Pen',
      stock: 3,
      rating: 1,
      maker,
      importer: null,
    });
  });

  test('must give the required fields, and no others, on POST and PUT', async () => {
    expect(await refused({})).toEqual({ title: REQUIRED, maker: REQUIRED });
    const { id, ...created } = await accepted({});
    expect(created).toMatchObject({
      stock: 0,
      price: null,
      colour: 'red',
      remark: 'none',
      filled: 'filled Pen',
      importer: null,
      edition: 1,
    });
    const put = await started.client.put(`${ARTICLE}${String(id)}/`, { stock: 4 });
    expect([put.status, put.json]).toEqual([400, { title: REQUIRED, maker: REQUIRED }]);
    const whole = await started.client.put(`${ARTICLE}${String(id)}/`, { id: 77, title: 'Ink', maker });
    expect([whole.status, whole.json]).toEqual([
      200,
      expect.objectContaining({ id, title: 'Ink', filled: 'filled Pen' }),
    ]);
  });

  test('gives numbers as strings and strings as numbers, and nothing else for either', async () => {
    expect(
      await accepted({ stock: '3', price: 12.5, serial: 12, title: 5, maker: String(maker) }),
    ).toMatchObject({ stock: 3, price: '12.50', serial: '12', title: '5', maker });
    expect(await accepted({ stock: 7.0 })).toMatchObject({ stock: 7 });
    for (const wrong of [7.5, '1e2', '7.5', true, [1], { a: 1 }, '', ' ', '0x10', 'NaN']) {
      expect([wrong, await refused({ title: 'Pen', maker, stock: wrong })]).toEqual([
        wrong,
        { stock: NO_INTEGER },
      ]);
    }
    for (const wrong of [true, false, ['a'], { a: 1 }]) {
      expect([wrong, await refused({ maker, title: wrong })]).toEqual([wrong, { title: NO_STRING }]);
    }
  });

  test('is refused numbers out of the range of their column under the field', async () => {
    const over = expect.stringMatching(/^Ensure this value is less than or equal to \d+\.$/) as unknown;
    const under = expect.stringMatching(/^Ensure this value is greater than or equal to -\d+\.$/) as unknown;
    expect(await refused({ title: 'Pen', maker, stock: 1e30, serial: '1'.repeat(300) })).toEqual({
      stock: [over],
      serial: [over],
    });
    expect(
      await refused({ title: 'Pen', maker, stock: '-99999999999999999999', serial: '-9223372036854775809' }),
    ).toEqual({ stock: [under], serial: [under] });
    expect(await refused({ title: 'Pen', maker, serial: 9007199254740993 })).toEqual({
      serial: ['Send this number as a string.'],
    });
  });

  test('is refused decimals with too many digits in total, behind or before the point', async () => {
    const cases: readonly (readonly [unknown, string[]])[] = [
      ['1234.567', ['Ensure that there are no more than 6 digits in total.']],
      ['123.456', ['Ensure that there are no more than 2 decimal places.']],
      ['12345', ['Ensure that there are no more than 4 digits before the decimal point.']],
      ['1e6', ['Ensure that there are no more than 6 digits in total.']],
      ['1e-3', ['Ensure that there are no more than 2 decimal places.']],
      [0.1234567890123456, ['Send this number as a string.']],
      [9007199254740993, ['Send this number as a string.']],
      ...['NaN', 'Infinity', '1e', '1e400', '1e1000000', '.', '', 'x', true, [], {}].map(
        (wrong) => [wrong, NO_NUMBER] as const,
      ),
    ];
    for (const [price, messages] of cases)
      expect([price, await refused({ title: 'Pen', maker, price })]).toEqual([price, { price: messages }]);
    expect(await accepted({ price: '-9999.99' })).toMatchObject({ price: '-9999.99' });
    expect(await accepted({ price: '2E+1' })).toMatchObject({ price: '20.00' });
  });

  test('is refused values outside an enum under the field', async () => {
    for (const [wrong, shown] of [
      ['RED', 'RED'],
      ['', ''],
      [1, '1'],
      [true, 'true'],
      [['red'], '["red"]'],
    ] as const) {
      expect([wrong, await refused({ title: 'Pen', maker, colour: wrong })]).toEqual([
        wrong,
        { colour: [`"${shown}" is not a valid choice.`] },
      ]);
    }
    expect(await accepted({ colour: 'blue' })).toMatchObject({ colour: 'blue' });
  });

  test('loses the blanks around its texts before they are measured, unless the field keeps them', async () => {
    expect(await accepted({ title: '  \tPen name \n', motto: '  so  ' })).toMatchObject({
      title: 'Pen name',
      motto: '  so  ',
    });
    expect(await accepted({ title: `   ${'x'.repeat(10)}   ` })).toMatchObject({ title: 'x'.repeat(10) });
    expect(await refused({ title: '   ', maker })).toEqual({ title: BLANK });
    expect(await accepted({ note: ' ', remark: '' })).toMatchObject({ note: '', remark: '' });
  });

  test('has its texts measured in code points', async () => {
    expect(await accepted({ title: '😀'.repeat(10) })).toMatchObject({ title: '😀'.repeat(10) });
    expect(await refused({ title: '😀'.repeat(11), maker })).toEqual({
      title: ['Ensure this field has no more than 10 characters.'],
    });
  });

  test('with a text that is too long for a column without a length is 400 under the field, or is stored whole', async () => {
    const story = 'é'.repeat(40_000);
    const answer = await started.client.post(ARTICLE, { title: 'Pen', maker, story });
    if (database.name === 'mariadb')
      expect([answer.status, answer.json]).toEqual([400, { story: [expect.any(String)] }]);
    else expect([answer.status, (answer.json as Record<string, unknown>).story]).toEqual([201, story]);
  });

  test('is refused related keys of every wrong type, and of no row', async () => {
    const cases: readonly (readonly [unknown, string[]])[] = [
      ['x', wrongType('str')],
      ['1.5', wrongType('str')],
      [1.5, wrongType('float')],
      [true, wrongType('bool')],
      [[maker], wrongType('list')],
      [{ id: maker }, wrongType('dict')],
      [9999, noSuchKey(9999)],
      ['9999', noSuchKey(9999)],
      [-1, noSuchKey(-1)],
      [0, noSuchKey(0)],
      ['99999999999999999999', noSuchKey('99999999999999999999')],
      [null, NOT_NULL],
    ];
    for (const [key, messages] of cases)
      expect([key, await refused({ title: 'Pen', maker: key })]).toEqual([key, { maker: messages }]);
  });

  test('clears a nullable relation with null, and keeps it if the body does not name it', async () => {
    const { id } = await accepted({ importer: maker });
    expect((await started.client.patch(`${ARTICLE}${String(id)}/`, { stock: 1 })).json).toMatchObject({
      importer: maker,
    });
    expect((await started.client.patch(`${ARTICLE}${String(id)}/`, { importer: null })).json).toMatchObject({
      importer: null,
    });
  });

  test('has its read-only and unknown fields ignored', async () => {
    const created = await accepted({
      id: 4711,
      sealed: 'broken',
      edition: 9,
      made_at: '2001-01-01T00:00:00Z',
      changed_at: null,
      nothing: { a: 1 },
      maker_id: 9999,
      makerId: 9999,
    });
    expect(created).toMatchObject({ sealed: 'by the house', edition: 1, maker });
    expect(created.id).not.toBe(4711);
    expect(created.made_at).not.toMatch(/^2001/);
    expect(Object.keys(created)).not.toContain('nothing');
  });

  test('may be empty in a PATCH, which changes nothing', async () => {
    const { id } = await accepted({});
    const before = await started.client.get(`${ARTICLE}${String(id)}/`);
    for (const options of [{ body: {} }, {}, { raw: '', headers: { 'content-type': 'application/json' } }]) {
      const answer = await started.client.send('PATCH', `${ARTICLE}${String(id)}/`, options);
      expect([answer.status, answer.json]).toEqual([200, before.json]);
    }
  });

  test('may hold any JSON in a json column, and null where it is nullable', async () => {
    for (const extra of [{ a: [1, { b: null }] }, [1, 'two'], 'text', 5, true, null]) {
      expect(await accepted({ extra })).toMatchObject({ extra });
    }
  });

  test('is no dictionary: 400 without a field, on POST, PUT and PATCH', async () => {
    const { id } = await accepted({});
    for (const [raw, name] of [
      ['[]', 'list'],
      ['"a"', 'str'],
      ['5', 'int'],
      ['1.5', 'float'],
      ['true', 'bool'],
    ] as const) {
      for (const [method, path] of [
        ['POST', ARTICLE],
        ['PUT', `${ARTICLE}${String(id)}/`],
        ['PATCH', `${ARTICLE}${String(id)}/`],
      ] as const) {
        const answer = await started.client.send(method, path, {
          raw,
          headers: { 'content-type': 'application/json' },
        });
        expect([method, raw, answer.status, answer.json]).toEqual([
          method,
          raw,
          400,
          { non_field_errors: [`Invalid data. Expected a dictionary, but got ${name}.`] },
        ]);
      }
    }
    const nothing = await started.client.send('POST', ARTICLE, {
      raw: 'null',
      headers: { 'content-type': 'application/json' },
    });
    expect([nothing.status, nothing.json]).toEqual([400, { non_field_errors: ['No data provided'] }]);
  });
});

@Restify('limits')
@Entity()
class Gauge {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'real', nullable: true })
  small: number | null;

  @Column({ type: 'float', nullable: true })
  level: number | null;
}

onEachDatabase('a floating-point field', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Gauge], database });
  });
  afterAll(() => started.close());

  test('refuses what is beyond its column under the field', async () => {
    // On each server the column of four bytes: `real` on PostgreSQL, `float` on MariaDB.
    const field = database.name === 'mariadb' ? 'level' : 'small';
    const answer = await started.client.post('/rest/v1/limits/gauge/', { [field]: 1e300 });
    if (database.name === 'sqlite')
      expect([answer.status, answer.json]).toEqual([201, { id: 1, small: 1e300, level: null }]);
    else expect([answer.status, answer.json]).toEqual([400, { [field]: [expect.any(String)] }]);
  });

  test('refuses what is no finite number', async () => {
    for (const raw of ['1e400', '-1e400', '"NaN"', '"Infinity"', '"1e999"', 'true', '[]', '""']) {
      const answer = await started.client.send('POST', '/rest/v1/limits/gauge/', {
        raw: `{"level": ${raw}}`,
        headers: { 'content-type': 'application/json' },
      });
      expect([raw, answer.status, answer.json]).toEqual([raw, 400, { level: NO_NUMBER }]);
    }
  });
});

class Seat {
  @Column({ type: 'int', nullable: true, unique: true })
  number: number | null;
}

@Restify({ app: 'uniq', optional: ['secret', 'label', 'code', 'barcode', 'edition', 'line', 'spot'] })
@Entity()
@Unique(['line', 'spot'])
@Unique('ticket_of_one_edition', ['code', 'edition'])
@Index('ticket_by_label', ['label'], { unique: true })
@Index(['serial'], { unique: true })
class Ticket {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'varchar', length: 20, nullable: true, unique: true })
  barcode: string | null;

  @Column({ type: 'int', nullable: true })
  line: number | null;

  @Column({ type: 'int', nullable: true })
  spot: number | null;

  @Column({ type: 'varchar', length: 20, nullable: true })
  code: string | null;

  @Column({ type: 'int', nullable: true })
  edition: number | null;

  @Column({ type: 'varchar', length: 20, nullable: true })
  label: string | null;

  @Column({ type: 'int', nullable: true, name: 'serial_no' })
  serial: number | null;

  @Column({ type: 'varchar', length: 20, nullable: true, unique: true, select: false })
  secret: string | null;

  @Column(() => Seat)
  seat: Seat;

  @BeforeInsert()
  keepSecret(): void {
    if (this.label?.startsWith('secret')) this.secret = 'one';
  }
}

@Restify('uniq')
@Entity()
class Tag {
  @PrimaryColumn({ length: 20 })
  word: string;

  @Column({ type: 'int', default: 0 })
  uses: number;
}

@Restify('uniq')
@Entity()
class Slot {
  @PrimaryColumn('int')
  day: number;

  @PrimaryColumn('int')
  hour: number;

  @Column({ type: 'varchar', length: 20, nullable: true })
  what: string | null;
}

@Restify('uniq')
@Entity()
class Desk {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @ManyToMany(() => Tag)
  @JoinTable()
  tags: Relation<Tag[]>;
}

@Restify('uniq')
@Entity()
class Computer {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToOne(() => Desk, { nullable: true })
  @JoinColumn()
  desk: Relation<Desk> | null;
}

@Restify('uniq')
@Entity()
@Unique(['desk', 'day'])
class Booking {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'int' })
  day: number;

  @ManyToOne(() => Desk, { nullable: false })
  desk: Relation<Desk>;
}

onEachDatabase('a unique key that is taken', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Ticket, Tag, Slot, Desk, Computer, Booking], database });
  });
  afterAll(() => started.close());

  async function twice(path: string, first: object, second: object): Promise<unknown> {
    const created = await started.client.post(path, first);
    expect([created.status, created.text]).toEqual([201, expect.any(String)]);
    const before = (await started.client.get(path)).json;
    const answer = await started.client.post(path, second);
    expect(answer.status).toBe(400);
    expect((await started.client.get(path)).json).toEqual(before);
    return answer.json;
  }

  test('is an error of its field, for a unique column, a named index and an unnamed one', async () => {
    const path = '/rest/v1/uniq/ticket/';
    expect(await twice(path, { barcode: 'b1' }, { barcode: 'b1' })).toEqual({ barcode: NOT_UNIQUE });
    expect(await twice(path, { label: 'l1' }, { label: 'l1' })).toEqual({ label: NOT_UNIQUE });
    expect(await twice(path, { serial: 5 }, { serial: 5 })).toEqual({ serial: NOT_UNIQUE });
  });

  test('is an error of no field for several columns, with a name and without', async () => {
    const path = '/rest/v1/uniq/ticket/';
    expect(await twice(path, { line: 1, spot: 2 }, { line: 1, spot: 2 })).toEqual({
      non_field_errors: ['The fields line, spot must make a unique set.'],
    });
    expect(await twice(path, { code: 'c', edition: 1 }, { code: 'c', edition: 1 })).toEqual({
      non_field_errors: ['The fields code, edition must make a unique set.'],
    });
  });

  test('names no hidden column', async () => {
    const answer = await twice('/rest/v1/uniq/ticket/', { label: 'secret 1' }, { label: 'secret 2' });
    expect(answer).toEqual({ non_field_errors: [expect.any(String)] });
    expect(JSON.stringify(answer)).not.toMatch(/"?secret|IDX|UQ_/);
  });

  test('of an embedded column is an error of the embedded field', async () => {
    expect(
      await twice('/rest/v1/uniq/ticket/', { seat: { number: 7 } }, { seat: { number: 7 } }),
    ).toHaveProperty('seat');
  });

  test('is an error of the primary key that the client gives: POST only ever inserts', async () => {
    expect(await twice('/rest/v1/uniq/tag/', { word: 'new', uses: 1 }, { word: 'new', uses: 2 })).toEqual({
      word: NOT_UNIQUE,
    });
    expect(await twice('/rest/v1/uniq/slot/', { day: 1, hour: 2 }, { day: 1, hour: 2, what: 'x' })).toEqual({
      non_field_errors: ['The fields day, hour must make a unique set.'],
    });
  });

  test('is an error of the one-to-one that has a row already', async () => {
    const { id } = (await started.client.post('/rest/v1/uniq/desk/', { name: 'a' })).json as { id: number };
    expect(await twice('/rest/v1/uniq/computer/', { desk: id }, { desk: id })).toEqual({ desk: NOT_UNIQUE });
    const free = (await started.client.post('/rest/v1/uniq/computer/', {})).json as { id: number };
    const moved = await started.client.patch(`/rest/v1/uniq/computer/${free.id}/`, { desk: id });
    expect([moved.status, moved.json]).toEqual([400, { desk: NOT_UNIQUE }]);
    expect((await started.client.get(`/rest/v1/uniq/computer/${free.id}/`)).json).toEqual({
      id: free.id,
      desk: null,
    });
  });

  test('names a relation among several columns by its field', async () => {
    const { id } = (await started.client.post('/rest/v1/uniq/desk/', { name: 'b' })).json as { id: number };
    const answer = (await twice('/rest/v1/uniq/booking/', { desk: id, day: 1 }, { desk: id, day: 1 })) as {
      non_field_errors: string[];
    };
    expect(answer.non_field_errors[0]).toMatch(/^The fields (desk, day|day, desk) must make a unique set\.$/);
  });

  test('is refused to PATCH and PUT too, and the row keeps its values', async () => {
    const path = '/rest/v1/uniq/ticket/';
    await started.client.post(path, { barcode: 'taken', line: 8, spot: 8 });
    const { id } = (await started.client.post(path, { barcode: 'mine', line: 8, spot: 9 })).json as {
      id: number;
    };
    const before = (await started.client.get(`${path}${id}/`)).json;
    for (const method of ['PATCH', 'PUT']) {
      const single = await started.client.send(method, `${path}${id}/`, {
        body: { barcode: 'taken', edition: 3 },
      });
      expect([method, single.status, single.json]).toEqual([method, 400, { barcode: NOT_UNIQUE }]);
      const several = await started.client.send(method, `${path}${id}/`, { body: { spot: 8, edition: 3 } });
      expect([method, several.status, several.json]).toEqual([
        method,
        400,
        { non_field_errors: ['The fields line, spot must make a unique set.'] },
      ]);
    }
    expect((await started.client.get(`${path}${id}/`)).json).toEqual(before);
  });

  test('of a pair that is there already is an error of no field', async () => {
    const { id } = (await started.client.post('/rest/v1/uniq/desk/', { name: 'c' })).json as { id: number };
    for (const word of ['p', 'q']) await started.client.post('/rest/v1/uniq/tag/', { word });
    const path = `/rest/v1/uniq/desk/${id}/tags/`;
    const answer = (await twice(path, { tag: 'p' }, { tag: 'p' })) as object;
    expect(answer).toEqual({ non_field_errors: [expect.any(String)] });
    await started.client.post(path, { tag: 'q' });
    const moved = await started.client.patch(`${path}q/`, { tag: 'p' });
    expect([moved.status, moved.json]).toEqual([400, { non_field_errors: [expect.any(String)] }]);
    expect((await started.client.get(path)).json).toEqual([
      { id: 'p', desk: id, tag: 'p' },
      { id: 'q', desk: id, tag: 'q' },
    ]);
  });
});

const vanishing: { source: DataSource | undefined; sql: string | undefined } = {
  source: undefined,
  sql: undefined,
};

/** Runs once, between the look at the keys and the write. */
function VanishingRow() {
  return (target: object, propertyName: string): void => {
    registerDecorator({
      name: 'vanishingRow',
      target: target.constructor,
      propertyName,
      options: {},
      async: true,
      validator: {
        validate: async () => {
          const { sql, source } = vanishing;
          vanishing.sql = undefined;
          if (sql !== undefined) await source?.query(sql);
          return true;
        },
      },
    });
  };
}

@Restify('race')
@Entity()
class Harbour {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @ManyToMany(() => Ship, (ship) => ship.harbours)
  ships: Relation<Ship[]>;
}

@Restify('race')
@Entity()
class Ship {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  @VanishingRow()
  name: string;

  @ManyToOne(() => Harbour, { nullable: true })
  home: Relation<Harbour> | null;

  @ManyToMany(() => Harbour, (harbour) => harbour.ships)
  @JoinTable({
    name: 'landing',
    joinColumn: { name: 'ship_id' },
    inverseJoinColumn: { name: 'harbour_id' },
    synchronize: false,
  })
  harbours: Relation<Harbour[]>;
}

@Entity()
class Landing {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'varchar', length: 20, default: '' })
  @VanishingRow()
  note: string;

  @ManyToOne(() => Ship, { nullable: false })
  @JoinColumn({ name: 'ship_id' })
  ship: Relation<Ship>;

  @ManyToOne(() => Harbour, { nullable: false })
  @JoinColumn({ name: 'harbour_id' })
  harbour: Relation<Harbour>;
}

onEachDatabase('a related row that goes between the look and the write', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    // A comparison would validate each written row twice, and the first time would delete the related row.
    started = await startApp({ entities: [Harbour, Ship, Landing], database, compare: false });
    vanishing.source = started.dataSource;
  });
  afterAll(() => started.close());

  async function made(model: string, body: object): Promise<number> {
    const answer = await started.client.post(`/rest/v1/race/${model}/`, body);
    expect(answer.status).toBe(201);
    return (answer.json as { id: number }).id;
  }

  test('is an error of the field on POST', async () => {
    const home = await made('harbour', { name: 'Kiel' });
    vanishing.sql = `DELETE FROM harbour WHERE id = ${home}`;
    const answer = await started.client.post('/rest/v1/race/ship/', { name: 'Hope', home });
    expect([answer.status, answer.json]).toEqual([400, { home: noSuchKey(home) }]);
    expect((await started.client.get('/rest/v1/race/ship/?name=Hope')).json).toEqual([]);
  });

  test('is a 400 on PATCH, and the row keeps its values', async () => {
    const home = await made('harbour', { name: 'Oslo' });
    const ship = await made('ship', { name: 'Fram' });
    vanishing.sql = `DELETE FROM harbour WHERE id = ${home}`;
    const answer = await started.client.patch(`/rest/v1/race/ship/${ship}/`, { name: 'Gone', home });
    expect([answer.status, answer.json]).toEqual([400, { home: noSuchKey(home) }]);
    expect((await started.client.get(`/rest/v1/race/ship/${ship}/`)).json).toMatchObject({
      name: 'Fram',
      home: null,
    });
  });

  test('is 404 where it is the parent in the URL', async () => {
    const [ship, harbour] = [await made('ship', { name: 'Beagle' }), await made('harbour', { name: 'Rio' })];
    vanishing.sql = `DELETE FROM ship WHERE id = ${ship}`;
    const answer = await started.client.post(`/rest/v1/race/ship/${ship}/harbours/`, { harbour, note: 'x' });
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not found.' }]);
    expect(await started.dataSource.getRepository(Landing).count()).toBe(0);
  });
});

@ValidatorConstraint({ async: true })
class NotReserved implements ValidatorConstraintInterface {
  async validate(text: unknown): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve));
    return text !== 'root';
  }

  defaultMessage(): string {
    return 'This name is reserved.';
  }
}

function IsEven() {
  return (target: object, propertyName: string): void => {
    registerDecorator({
      name: 'isEven',
      target: target.constructor,
      propertyName,
      options: { message: 'Must be even.' },
      validator: { validate: (value: unknown) => typeof value === 'number' && value % 2 === 0 },
    });
  };
}

class Street {
  @Column({ length: 20 })
  @IsIn(['High Road', 'Low Road'])
  line: string;
}

class Postal {
  @Column({ length: 5 })
  @Matches(/^\d+$/, { message: 'Digits only.' })
  zip: string;

  @Column({ length: 10 })
  city: string;

  @Column(() => Street)
  @ValidateNested()
  street: Street;
}

@Restify({ app: 'valid', writeOnly: ['secret'], readOnly: ['grade'] })
@Entity()
class Member {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 50 })
  @IsEmail()
  email: string;

  @Column({ type: 'int' })
  @IsEven()
  @Min(18)
  @Max(99)
  age: number;

  @Column({ length: 20 })
  @Validate(NotReserved)
  nick: string;

  @Column({ length: 20, select: false })
  @IsNotEmpty()
  secret: string;

  @Column({ type: 'int', default: 1 })
  @Max(0)
  grade: number;

  @Column(() => Postal)
  @ValidateNested()
  postal: Postal;
}

@Restify('valid')
@Entity()
class Counter {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'int', default: 1 })
  @IsInt()
  @Min(1)
  step: number;

  @Column({ type: 'varchar', length: 20, nullable: true })
  name: string | null;
}

onEachDatabase('class-validator on an entity', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Member, Counter], database });
  });
  afterAll(() => started.close());

  const PATH = '/rest/v1/valid/member/';
  const GOOD = {
    email: 'a@example.org',
    age: 20,
    nick: 'ada',
    secret: 's',
    postal: { zip: '12345', city: 'Rome', street: { line: 'High Road' } },
  };

  test('refuses what breaks its decorators under their fields, asynchronous, nested and custom ones too', async () => {
    const answer = await started.client.post(PATH, {
      email: 'nobody',
      age: 17,
      nick: 'root',
      secret: 's',
      postal: { zip: 'x', city: 'Rome', street: { line: 'Middle' } },
    });
    const { age, ...others } = answer.json as Record<string, string[]>;
    expect([answer.status, others]).toEqual([
      400,
      {
        email: ['email must be an email'],
        nick: ['This name is reserved.'],
        postal: {
          zip: ['Digits only.'],
          street: { line: ['line must be one of the following values: High Road, Low Road'] },
        },
      },
    ]);
    expect([...(age ?? [])].sort()).toEqual(['Must be even.', 'age must not be less than 18']);
    expect((await started.client.get(PATH)).json).toEqual([]);
  });

  test('comes together with the errors of the body', async () => {
    const answer = await started.client.post(PATH, {
      ...GOOD,
      email: 'nobody',
      nick: 'x'.repeat(21),
      age: 'old',
    });
    expect([answer.status, answer.json]).toEqual([
      400,
      {
        email: ['email must be an email'],
        nick: ['Ensure this field has no more than 20 characters.'],
        age: NO_INTEGER,
      },
    ]);
  });

  test('comes together with the errors of the body inside an embedded object', async () => {
    const answer = await started.client.post(PATH, {
      ...GOOD,
      postal: { zip: 'x', city: 'y'.repeat(11), street: { line: 'High Road' } },
    });
    expect([answer.status, answer.json]).toEqual([
      400,
      { postal: { zip: ['Digits only.'], city: ['Ensure this field has no more than 10 characters.'] } },
    ]);
  });

  test('judges a change by the object that it makes, and leaves it as it was', async () => {
    const { id } = (await started.client.post(PATH, GOOD)).json as { id: number };
    const before = await started.client.get(`${PATH}${id}/`);
    const refused = await started.client.patch(`${PATH}${id}/`, { age: 19, postal: { zip: 'x' } });
    expect([refused.status, refused.json]).toEqual([
      400,
      { age: ['Must be even.'], postal: { zip: ['Digits only.'] } },
    ]);
    expect((await started.client.get(`${PATH}${id}/`)).json).toEqual(before.json);
  });

  test('refuses no PATCH for a write-only value that the body leaves as it is', async () => {
    const { id } = (await started.client.post(PATH, GOOD)).json as { id: number };
    const answer = await started.client.patch(`${PATH}${id}/`, { age: 30 });
    expect([answer.status, answer.json]).toEqual([200, expect.objectContaining({ id, age: 30 })]);
    const empty = await started.client.patch(`${PATH}${id}/`, {});
    expect([empty.status, empty.json]).toEqual([200, expect.objectContaining({ id, age: 30 })]);
  });

  test('does not make an optional field required', async () => {
    const answer = await started.client.post('/rest/v1/valid/counter/', { name: 'a' });
    expect([answer.status, answer.json]).toEqual([201, expect.objectContaining({ step: 1, name: 'a' })]);
  });
});

@Restify('listen')
@Entity()
class Diary {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 50 })
  text: string;

  @Column({ length: 50, default: '' })
  slug: string;

  @Column({ type: 'int', default: 0 })
  touched: number;

  @BeforeInsert()
  beforeInsert(): void {
    this.fail('before insert');
    this.slug = this.text.toLowerCase();
  }

  @AfterInsert()
  afterInsert(): void {
    this.fail('after insert');
  }

  @BeforeUpdate()
  async beforeUpdate(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.fail('before update');
    this.touched += 1;
  }

  @AfterUpdate()
  afterUpdate(): void {
    this.fail('after update');
  }

  @BeforeRemove()
  beforeRemove(): void {
    this.fail('before remove');
  }

  @AfterRemove()
  afterRemove(): void {
    this.fail('after remove');
  }

  private fail(when: string): void {
    if (this.text === `fail ${when}`) throw new Error(`listener's own words`);
    if (this.text === `refuse ${when}`) throw InvalidInput.of('text', 'The listener refuses it.');
  }
}

const events: string[] = [];

@EventSubscriber()
class DiarySubscriber implements EntitySubscriberInterface<Diary> {
  listenTo(): typeof Diary {
    return Diary;
  }

  async beforeInsert({ entity, manager }: InsertEvent<Diary>): Promise<void> {
    events.push(`before insert ${entity.text}`);
    if (entity.text === 'fail in subscriber') {
      await manager.query(
        `INSERT INTO diary (text, slug, touched) VALUES ('written by the subscriber', '', 0)`,
      );
      throw new Error(`subscriber's own words`);
    }
  }

  afterInsert({ entity }: InsertEvent<Diary>): void {
    events.push(`after insert ${entity.text} ${entity.id > 0}`);
  }

  beforeUpdate({ entity }: UpdateEvent<Diary>): void {
    events.push(`before update ${(entity as Diary).text}`);
  }

  afterUpdate({ databaseEntity }: UpdateEvent<Diary>): void {
    events.push(`after update of ${databaseEntity.text}`);
  }

  beforeRemove({ databaseEntity }: RemoveEvent<Diary>): void {
    events.push(`before remove ${databaseEntity.text}`);
  }

  afterRemove({ databaseEntity }: RemoveEvent<Diary>): void {
    events.push(`after remove ${databaseEntity.text}`);
  }
}

onEachDatabase('listeners and subscribers', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Diary], database, dataSource: { subscribers: [DiarySubscriber] } });
  });
  afterAll(() => started.close());
  beforeEach(() => {
    events.length = 0;
  });

  const PATH = '/rest/v1/listen/diary/';
  const FAILED = { detail: 'A server error occurred.' };

  test('fire on every write, and what they set is answered and stored', async () => {
    const created = await started.client.post(PATH, { text: 'Monday' });
    expect([created.status, created.json]).toEqual([
      201,
      expect.objectContaining({ text: 'Monday', slug: 'monday', touched: 0 }),
    ]);
    const { id } = created.json as { id: number };
    const changed = await started.client.patch(`${PATH}${id}/`, { text: 'Tuesday' });
    expect([changed.status, changed.json]).toEqual([
      200,
      { id, text: 'Tuesday', slug: 'monday', touched: 1 },
    ]);
    expect((await started.client.get(`${PATH}${id}/`)).json).toEqual(changed.json);
    expect((await started.client.put(`${PATH}${id}/`, { text: 'Friday' })).json).toEqual({
      id,
      text: 'Friday',
      slug: 'monday',
      touched: 2,
    });
    expect((await started.client.delete(`${PATH}${id}/`)).status).toBe(204);
    expect(events).toEqual([
      'before insert Monday',
      'after insert Monday true',
      'before update Tuesday',
      'after update of Monday',
      'before update Friday',
      'after update of Tuesday',
      'before remove Friday',
      'after remove Friday',
    ]);
  });

  test('that fail on POST store nothing, and are 500 without the cause', async () => {
    const before = (await started.client.get(PATH)).json;
    for (const text of ['fail before insert', 'fail after insert', 'fail in subscriber']) {
      const answer = await started.client.post(PATH, { text });
      expect([text, answer.status, answer.json]).toEqual([text, 500, FAILED]);
    }
    expect((await started.client.get(PATH)).json).toEqual(before);
  });

  test('that fail on PATCH and PUT leave no trace', async () => {
    const { id } = (await started.client.post(PATH, { text: 'Monday' })).json as { id: number };
    const before = (await started.client.get(PATH)).json;
    for (const text of ['fail before update', 'fail after update']) {
      for (const method of ['PUT', 'PATCH']) {
        const answer = await started.client.send(method, `${PATH}${id}/`, { body: { text } });
        expect([text, method, answer.status, answer.json]).toEqual([text, method, 500, FAILED]);
      }
    }
    expect((await started.client.get(PATH)).json).toEqual(before);
  });

  test('that fail on DELETE leave the object there', async () => {
    for (const text of ['fail before remove', 'fail after remove']) {
      const { id } = (await started.client.post(PATH, { text })).json as { id: number };
      const answer = await started.client.delete(`${PATH}${id}/`);
      expect([text, answer.status, answer.json]).toEqual([text, 500, FAILED]);
      expect((await started.client.get(`${PATH}${id}/`)).status).toBe(200);
    }
  });

  test('can refuse with an error of their own', async () => {
    const before = (await started.client.get(PATH)).json;
    for (const text of ['refuse before insert', 'refuse after insert']) {
      const answer = await started.client.post(PATH, { text });
      expect([text, answer.status, answer.json]).toEqual([text, 400, { text: ['The listener refuses it.'] }]);
    }
    expect((await started.client.get(PATH)).json).toEqual(before);
  });
});

@Restify({ app: 'exact', strict: true })
@Entity()
class Strictly {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @Column({ length: 20, nullable: true, type: 'varchar', select: false })
  hidden: string | null;
}

describe('a registration that refuses unknown fields', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Strictly] });
  });
  afterAll(() => started.close());

  test('names each of them together with the other errors, and a hidden column like any other', async () => {
    const raw =
      '{"id": 5, "hidden": "x", "Name": "y", "__proto__": {"name": "z"}, "constructor": 1, "hasOwnProperty": 2, "toString": 3}';
    const answer = await started.client.send('POST', '/rest/v1/exact/strictly/', {
      raw,
      headers: { 'content-type': 'application/json' },
    });
    const unknown = ['Unknown field.'];
    const expected = Object.entries({
      hidden: unknown,
      Name: unknown,
      ['__proto__']: unknown,
      constructor: unknown,
      hasOwnProperty: unknown,
      toString: unknown,
      name: REQUIRED,
    });
    expect(answer.status).toBe(400);
    expect(Object.entries(answer.json as object).sort()).toEqual([...expected].sort());
  });

  test('takes read-only fields for known', async () => {
    const answer = await started.client.post('/rest/v1/exact/strictly/', { id: 99, name: 'a' });
    expect([answer.status, answer.json]).toEqual([201, { id: 1, name: 'a' }]);
  });
});
