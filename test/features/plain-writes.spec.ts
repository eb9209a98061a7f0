// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Inject } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import {
  allow,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type { AccessContext, Grant, Json, Permission, Write } from 'nestjs-restify';
import { MinLength } from 'class-validator';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { EntitySubscriberInterface, InsertEvent, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

let made = 0;

/** Its class gives values. */
@Restify('plain')
@Entity('plain_draft')
class Draft {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @Column({ type: 'varchar', nullable: true }) colour: string | null = 'red';
  @Column({ default: 'none' }) token: string = `made ${++made}`;
}

/** Its class has a say in a value. */
@Restify('plain')
@Entity('plain_contact')
class Contact {
  @PrimaryGeneratedColumn() id: number;
  private written: string;
  @Column({ type: 'varchar' })
  get email(): string {
    return this.written;
  }
  set email(email: string) {
    this.written = email.toLowerCase();
  }
}

@Restify('plain')
@Entity('plain_odd')
class Odd {
  @PrimaryGeneratedColumn() id: number;
  @Column({ name: 'a b', type: 'varchar', nullable: true }) ab: string | null;
  @Column({ name: 'c', type: 'varchar', nullable: true }) c: string | null;
  @Column({ name: 'a', type: 'varchar', nullable: true }) a: string | null;
  @Column({ name: 'b c', type: 'varchar', nullable: true }) bc: string | null;
}

class Cheap implements Permission {
  decide(): Grant {
    return allow({ rows: where('total', 'lt', 100) });
  }
}

/** `total` is made by the database, which TypeORM is not told. */
@Restify({ app: 'plain', permissions: [Cheap] })
@Entity('plain_order')
class Order {
  @PrimaryGeneratedColumn() id: number;
  @Column() price: number;
  @Column({ insert: false, update: false, nullable: true, type: 'int' }) total: number | null;
}

@Restify('plain')
@Entity('plain_traced')
class Traced {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

@Restify('plain')
@Entity('plain_hidden')
class Hidden {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

class Ruled {
  @MinLength(3) @Column() text: string;
}

@Restify('plain')
@Entity('plain_inheriting')
class Inheriting extends Ruled {
  @PrimaryGeneratedColumn() id: number;
}

interface User {
  readonly name: string;
  readonly team: string | null;
}

function userOf({ actor }: AccessContext): User {
  return actor as User;
}

/** The same shape for everybody. */
class OwnRows implements Permission {
  decide(question: AccessContext): Grant {
    const { name, team } = userOf(question);
    return allow({ rows: where('owner', 'in', [name, team]) });
  }
}

@Restify({ app: 'plain', permissions: [OwnRows] })
@Entity('plain_shelf')
class Shelf {
  @PrimaryGeneratedColumn() id: number;
  @Column() owner: string;
  @OneToMany(() => Book, (book) => book.shelf) books: Relation<Book[]>;
}

@Restify({ app: 'plain', permissions: [OwnRows], searchFields: ['title'] })
@Entity('plain_book')
@Unique(['title'])
class Book {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @Column() owner: string;
  @ManyToOne(() => Shelf, (shelf) => shelf.books, { nullable: true }) shelf: Relation<Shelf> | null;
  @ManyToOne(() => Shelf, { nullable: true }) other: Relation<Shelf> | null;
}

class Switched implements Permission {
  decide(question: AccessContext): Grant {
    const { team } = userOf(question);
    return allow({ rows: where('open', 'in', team === null ? [true, null] : [true, false]) });
  }
}

@Restify({ app: 'plain', permissions: [Switched] })
@Entity('plain_door')
class Door {
  @PrimaryGeneratedColumn() id: number;
  @Column({ nullable: true, type: 'boolean' }) open: boolean | null;
}

@Restify({ app: 'plain', exclude: ['origin'] })
@Entity('plain_added')
class Added {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
  @Column({ type: 'simple-json', nullable: true }) facts: unknown;
  @Column({ type: 'simple-array', nullable: true }) words: string[] | null;
  @Column({ type: 'varchar', insert: false, nullable: true }) origin: string | null;
}

@RestifyController(Added)
class AddedController extends ResourceController<Added> {
  override valuesOnCreate(): Readonly<Record<string, Json>> {
    return { facts: { a: [1] }, words: ['x', 'y'], origin: 'hook' };
  }
}

@Restify('plain')
@Entity('plain_outer')
class Outer {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

/** Writes past its transaction. */
@RestifyController(Outer)
class OuterController extends ResourceController<Outer> {
  constructor(@Inject(RestifyResources) private readonly resources: RestifyResources) {
    super();
  }

  override async beforeWrite({ entity }: Write<Outer>): Promise<void> {
    await this.resources.of(Odd).as(null).create({ c: entity.text });
  }
}

const ENTITIES = [Outer, Draft, Contact, Odd, Order, Traced, Hidden, Inheriting, Shelf, Book, Door, Added];

function knowUsers(app: INestApplication): void {
  app.use(
    (
      request: { headers: Record<string, string | undefined>; user?: User },
      _response: object,
      next: () => void,
    ) => {
      const [name = '', team] = (request.headers['x-user'] ?? '').split('/');
      request.user = { name, team: team ?? null };
      next();
    },
  );
}

const as = (user: string): { headers: Record<string, string> } => ({ headers: { 'x-user': user } });

onEachDatabase('a write of a plain row', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      controllers: [AddedController, OuterController],
      database,
      configure: knowUsers,
    });
  });
  afterAll(() => started.close());

  const quote = (name: string): string => started.dataSource.driver.escape(name);
  const run = (sql: string): Promise<unknown> => started.dataSource.query(sql);

  test('stores what the class of the entity puts into new ones', async () => {
    const first = await started.client.post('/rest/v1/plain/draft/', { title: 'a' });
    expect([first.status, first.json]).toEqual([
      201,
      { id: 1, title: 'a', colour: 'red', token: expect.stringMatching(/^made \d+$/) },
    ]);
    const second = await started.client.post('/rest/v1/plain/draft/', {
      title: 'b',
      colour: null,
      token: 't',
    });
    expect([second.status, second.json]).toEqual([201, { id: 2, title: 'b', colour: null, token: 't' }]);
  });

  test('goes through the setters of the class', async () => {
    const created = await started.client.post('/rest/v1/plain/contact/', { email: 'Ann@Example.ORG' });
    expect([created.status, created.json]).toEqual([201, { id: 1, email: 'ann@example.org' }]);
    const changed = await started.client.patch('/rest/v1/plain/contact/1/', { email: 'BOB@example.org' });
    expect([changed.status, changed.json]).toEqual([200, { id: 1, email: 'bob@example.org' }]);
  });

  test('distinguishes columns with blanks in their names', async () => {
    for (const body of [
      { ab: '1', c: '2' },
      { a: '3', bc: '4' },
    ]) {
      const { status, json } = await started.client.post('/rest/v1/plain/odd/', body);
      expect([status, json]).toEqual([
        201,
        { id: expect.any(Number), ab: null, c: null, a: null, bc: null, ...body },
      ]);
    }
    for (const body of [
      { ab: '5', c: '6' },
      { a: '7', bc: '8' },
    ]) {
      const { status, json } = await started.client.patch('/rest/v1/plain/odd/1/', body);
      expect([status, json]).toMatchObject([200, body]);
    }
  });

  test('is refused where a column that the database makes of others leaves the grant', async () => {
    await run(`ALTER TABLE ${quote('plain_order')} DROP COLUMN ${quote('total')}`);
    await run(
      `ALTER TABLE ${quote('plain_order')} ADD COLUMN ${quote('total')} int GENERATED ALWAYS AS (price * 2) ${database.name === 'postgres' ? 'STORED' : 'VIRTUAL'}`,
    );
    const created = await started.client.post('/rest/v1/plain/order/', { price: 10 });
    expect([created.status, created.json]).toEqual([201, { id: 1, price: 10, total: 20 }]);
    expect((await started.client.post('/rest/v1/plain/order/', { price: 60 })).status).toBe(403);
    expect((await started.client.patch('/rest/v1/plain/order/1/', { price: 60 })).status).toBe(403);
    expect((await started.client.get('/rest/v1/plain/order/1/')).json).toEqual({
      id: 1,
      price: 10,
      total: 20,
    });
  });

  test('applies validators of a base class', async () => {
    const { status, json } = await started.client.post('/rest/v1/plain/inheriting/', { text: 'ab' });
    expect([status, Object.keys(json as object)]).toEqual([400, ['text']]);
  });

  test('shows each user rows of their own, though all ask by one statement', async () => {
    const { client } = started;
    for (const user of ['ann', 'bob', 'cid']) {
      expect((await client.post('/rest/v1/plain/shelf/', { owner: user }, as(`${user}/none`))).status).toBe(
        201,
      );
      expect(
        (await client.post('/rest/v1/plain/book/', { title: `of ${user}`, owner: user }, as(`${user}/none`)))
          .status,
      ).toBe(201);
    }
    for (const [index, user] of ['ann', 'bob', 'cid'].entries()) {
      const { json } = await client.get('/rest/v1/plain/book/', as(`${user}/none`));
      expect((json as { owner: string }[]).map(({ owner }) => owner)).toEqual([user]);
      for (const other of [1, 2, 3]) {
        const own = other === index + 1;
        expect((await client.get(`/rest/v1/plain/book/${other}/`, as(`${user}/none`))).status).toBe(
          own ? 200 : 404,
        );
        expect((await client.get(`/rest/v1/plain/shelf/${other}/books/`, as(`${user}/none`))).status).toBe(
          own ? 200 : 404,
        );
        expect(
          (await client.patch(`/rest/v1/plain/book/${other}/`, { title: `by ${user}` }, as(`${user}/none`)))
            .status,
        ).toBe(own ? 200 : 404);
        // A key of somebody else's row is that of no row.
        const [status, body] = own
          ? [200, { shelf: other }]
          : [400, { shelf: [`Invalid pk "${other}" - object does not exist.`] }];
        const patched = await client.patch(
          `/rest/v1/plain/book/${index + 1}/`,
          { shelf: other },
          as(`${user}/none`),
        );
        expect([patched.status, patched.json]).toMatchObject([status, body]);
        const second = await client.patch(
          `/rest/v1/plain/book/${index + 1}/`,
          { shelf: null, other },
          as(`${user}/none`),
        );
        expect([second.status, second.json]).toMatchObject(
          own
            ? [200, { shelf: null, other }]
            : [400, { other: [`Invalid pk "${other}" - object does not exist.`] }],
        );
      }
      // Neither to somebody else, nor to oneself by somebody else's title.
      expect(
        (await client.patch(`/rest/v1/plain/book/${index + 1}/`, { owner: 'eve' }, as(`${user}/none`)))
          .status,
      ).toBe(403);
      expect(
        (await client.post('/rest/v1/plain/book/', { title: 'by ann', owner: 'eve' }, as(`${user}/none`)))
          .status,
      ).toBe(403);
    }
    const taken = await client.patch('/rest/v1/plain/book/3/', { title: 'by ann' }, as('cid/none'));
    expect([taken.status, taken.json]).toEqual([400, { title: ['This field must be unique.'] }]);
  });

  test('nulls in a list of a grant are no values', async () => {
    await started.dataSource.getRepository(Door).insert([{ open: true }, { open: false }, { open: null }]);
    const opened = async (user: string): Promise<unknown> =>
      (await started.client.get('/rest/v1/plain/door/', as(user))).json;
    expect(await opened('ann/x')).toHaveLength(2);
    expect(await opened('ann')).toHaveLength(1);
    const { client } = started;
    expect((await client.post('/rest/v1/plain/door/', { open: null }, as('ann'))).status).toBe(403);
    expect((await client.patch('/rest/v1/plain/door/1/', { open: null }, as('ann'))).status).toBe(403);
    expect((await client.post('/rest/v1/plain/door/', { open: true }, as('ann'))).status).toBe(201);
  });

  test('takes values of a hook as TypeORM writes them', async () => {
    const { status, json } = await started.client.post('/rest/v1/plain/added/', { text: 'a' });
    expect([status, json]).toEqual([201, { id: 1, text: 'a', facts: { a: [1] }, words: ['x', 'y'] }]);
    expect(await started.dataSource.getRepository(Added).findOneBy({ id: 1 })).toMatchObject({
      origin: null,
    });
  });

  /** Each write of a table ends with another text than was sent. */
  const trace = async (name: string, temporary = ''): Promise<void> => {
    const table = quote(name);
    for (const event of ['INSERT', 'UPDATE']) {
      const trigger = quote(`${name}_${event}`);
      if (database.name === 'mariadb')
        await run(
          `CREATE TRIGGER ${trigger} BEFORE ${event} ON ${table} FOR EACH ROW SET NEW.text = CONCAT(NEW.text, '!')`,
        );
      else if (database.name === 'sqlite')
        await run(
          `CREATE ${temporary} TRIGGER ${trigger} AFTER ${event} ON ${table} WHEN NEW.text NOT LIKE '%!' BEGIN UPDATE ${table} SET text = text || '!' WHERE id = NEW.id; END`,
        );
      else {
        await run(
          `CREATE OR REPLACE FUNCTION plain_trace() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE format('UPDATE %I SET text = text || ''!'' WHERE id = %s', TG_TABLE_NAME, NEW.id); RETURN NULL; END $$`,
        );
        await run(
          `CREATE TRIGGER ${trigger} AFTER ${event} ON ${table} FOR EACH ROW WHEN (NEW.text NOT LIKE '%!') EXECUTE FUNCTION plain_trace()`,
        );
      }
    }
  };

  const expectTraced = async (url: string): Promise<void> => {
    expect((await started.client.post(url, { text: 'a' })).json).toEqual({ id: 1, text: 'a!' });
    expect((await started.client.patch(`${url}1/`, { text: 'b' })).json).toEqual({ id: 1, text: 'b!' });
  };

  test('is answered as triggers leave it', async () => {
    await trace('plain_traced');
    await expectTraced('/rest/v1/plain/traced/');
  });

  const hidden = { sqlite: 'of the session alone', postgres: 'of a partition', mariadb: 'of the table' }[
    database.name
  ];
  test(`is answered as triggers ${hidden} leave it`, async () => {
    if (database.name === 'postgres') {
      await run('DROP TABLE plain_hidden');
      await run(
        'CREATE TABLE plain_hidden (id serial PRIMARY KEY, text varchar NOT NULL) PARTITION BY RANGE (id)',
      );
      await run('CREATE TABLE plain_hidden_part PARTITION OF plain_hidden DEFAULT');
      await trace('plain_hidden_part');
    } else await trace('plain_hidden', 'TEMP');
    await expectTraced('/rest/v1/plain/hidden/');
  });

  test('calls a subscriber that was added while the application runs', async () => {
    const { client, dataSource } = started;
    await client.post('/rest/v1/plain/odd/', { c: 'before' });
    const heard: unknown[] = [];
    const subscriber: EntitySubscriberInterface<Odd> = {
      listenTo: () => Odd,
      beforeInsert: ({ entity }: InsertEvent<Odd>) => {
        heard.push(entity.c);
        entity.a = 'heard';
      },
    };
    dataSource.subscribers.push(subscriber as EntitySubscriberInterface);
    const { json } = await client.post('/rest/v1/plain/odd/', { c: 'while' });
    expect([heard, json]).toMatchObject([['while'], { c: 'while', a: 'heard' }]);
    dataSource.subscribers.splice(dataSource.subscribers.indexOf(subscriber as EntitySubscriberInterface), 1);
    expect((await client.post('/rest/v1/plain/odd/', { c: 'behind' })).json).toMatchObject({
      c: 'behind',
      a: null,
    });
    expect(heard).toHaveLength(1);
  });

  test('inside the transaction of another one is refused where there is one connection', async () => {
    const { client } = started;
    const { status } = await client.post('/rest/v1/plain/outer/', { text: 'inner' });
    expect(status).toBe(database.name === 'sqlite' ? 500 : 201);
    expect((await client.get('/rest/v1/plain/outer/')).json).toHaveLength(status === 201 ? 1 : 0);
    expect((await client.get('/rest/v1/plain/odd/')).text.includes('inner')).toBe(status === 201);
    expect((await client.post('/rest/v1/plain/odd/', { c: 'next' })).status).toBe(201);
  });

  test('is written by SQL', () => {
    const { created, changed } = started.compared;
    expect(Math.min(created, changed)).toBeGreaterThan(3);
  });
});
