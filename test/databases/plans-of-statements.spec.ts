// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, CursorPagination, LimitOffsetPagination, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, Index, ManyToOne, OneToMany, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** PostgreSQL decides at the sixth execution of a prepared statement whether it keeps one plan for all values. */
const EXECUTIONS = 8;
const SALES = 60_000;
/** All sales but ten are those of the customers of the first tenant. */
const CUSTOMERS = 300;
const [LARGE, SMALL] = [1, 2];

let tenant = LARGE;

class OwnCustomers implements Permission {
  decide(): Grant {
    return allow({ rows: where('tenant', tenant) });
  }
}

class OwnSales implements Permission {
  decide(): Grant {
    return allow({ rows: where('customer.tenant', tenant) });
  }
}

@Restify({ app: 'plans', permissions: [OwnCustomers] })
@Entity('plans_customer')
class Customer {
  @PrimaryColumn() id: number;
  @Index() @Column() tenant: number;
  @OneToMany(() => Sale, (sale) => sale.customer) sales: Relation<Sale[]>;
  @OneToMany(() => Note, (note) => note.customer) notes: Relation<Note[]>;
}

@Restify({
  app: 'plans',
  permissions: [OwnSales],
  filterFields: { state: ['exact', 'gte'], customer: ['exact'] },
  orderingFields: ['state'],
})
@Entity('plans_sale')
class Sale {
  @PrimaryGeneratedColumn() id: number;
  @Index() @ManyToOne(() => Customer, (customer) => customer.sales) customer: Relation<Customer>;
  @Index() @Column({ default: 0 }) state: number;
}

@Restify({
  app: 'plans',
  filterFields: { state: ['exact'] },
  pagination: new LimitOffsetPagination({ pageSize: 2 }),
})
@Entity('plans_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @Index() @ManyToOne(() => Customer, (customer) => customer.notes) customer: Relation<Customer>;
  @Column({ default: 0 }) state: number;
}

@Restify({
  app: 'plans',
  pagination: new CursorPagination({ pageSize: 2, secret: 'x'.repeat(32) }),
})
@Entity('plans_event_with_a_name_that_is_longer')
class EventWithANameThatIsLonger {
  @PrimaryGeneratedColumn() id: number;
}

const MODELS = [Customer, Sale, Note, EventWithANameThatIsLonger];

const SALE = '/rest/v1/plans/sale/';
const NOTE = '/rest/v1/plans/note/';

interface Prepared {
  readonly name: string;
  readonly statement: string;
  readonly generic: number;
}

onEachDatabase(
  'what ran before on a connection',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      tenant = LARGE;
      started = await startApp({
        compare: false,
        entities: [...MODELS],
        database,
        dataSource: { extra: { max: 1 } },
      });
      const [customer = '', sale = '', note = '', event = ''] = MODELS.map(
        (each) => started.dataSource.getMetadata(each).tablePath,
      );
      for (const sql of [
        `INSERT INTO ${customer} (id, tenant)
         SELECT id, CASE WHEN id = ${CUSTOMERS} THEN ${SMALL} ELSE ${LARGE} END FROM generate_series(1, ${CUSTOMERS}) id`,
        `INSERT INTO ${sale} ("customerId", state)
         SELECT CASE WHEN n <= 10 THEN ${CUSTOMERS} ELSE 1 + n % ${CUSTOMERS - 1} END, n % 7
         FROM generate_series(1, ${SALES}) n`,
        `INSERT INTO ${note} ("customerId", state)
         SELECT CASE WHEN n <= 10 THEN ${CUSTOMERS} ELSE 1 END, 0 FROM generate_series(1, 1000) n`,
        `INSERT INTO ${event} SELECT FROM generate_series(1, 20) n`,
        `ANALYZE ${customer}, ${sale}, ${note}, ${event}`,
      ])
        await started.dataSource.query(sql);
    });
    afterAll(() => started.close());

    const prepared = (): Promise<readonly Prepared[]> =>
      started.dataSource.query<Prepared[]>(
        `SELECT name, statement, generic_plans::int AS generic FROM pg_prepared_statements
         WHERE statement LIKE '%plans_%'`,
      );
    const namesOf = async (text: string): Promise<readonly string[]> =>
      (await prepared()).filter(({ statement }) => statement.includes(text)).map(({ name }) => name);
    const repeat = async (path: string): Promise<void> => {
      for (let times = 0; times < EXECUTIONS; times++)
        expect([path, (await started.client.get(path)).status]).toEqual([path, 200]);
    };

    test('decides no plan of a list of the rows of a small tenant', async () => {
      tenant = LARGE;
      await repeat(`${SALE}?state=3`);
      await repeat(SALE);
      tenant = SMALL;
      const { json } = await started.client.get(SALE);
      expect(json).toHaveLength(10);
      expect(await prepared()).toEqual([]);
    });

    test.each([
      ['a nested list', `/rest/v1/plans/customer/${CUSTOMERS}/sales/`],
      ['a list by a foreign key', `${SALE}?customer=${CUSTOMERS}`],
      ['a list above a value', `${SALE}?state__gte=6`],
      ['an ordered list', `${SALE}?ordering=state&customer=${CUSTOMERS}`],
      ['a page', `${NOTE}?state=0`],
      ['a later page', `${NOTE}?offset=4`],
      ['a page of a nested list', `/rest/v1/plans/customer/${CUSTOMERS}/notes/?offset=2`],
    ])('decides no plan of %s', async (_what, path) => {
      tenant = SMALL;
      await repeat(path);
      const known = await prepared();
      expect(known.filter(({ statement }) => /plans_(sale|note)" WHERE|OFFSET/.test(statement))).toEqual([]);
      expect(known.filter(({ generic }) => generic > 0)).toEqual([]);
    });

    test('decides no plan of a page after a cursor', async () => {
      const path = '/rest/v1/plans/eventwithanamethatislonger/';
      const { next } = (await started.client.get(path)).json as { readonly next: string };
      const before = await prepared();
      await repeat(new URL(next, 'http://localhost').pathname + new URL(next, 'http://localhost').search);
      expect(await prepared()).toEqual(before);
    });

    test('is used for what is found by its key, whose statements have a name', async () => {
      tenant = SMALL;
      await repeat(`${SALE}1/`);
      await repeat('/rest/v1/plans/eventwithanamethatislonger/1/');
      for (let times = 0; times < 2; times++) {
        expect((await started.client.patch(`/rest/v1/plans/eventwithanamethatislonger/1/`, {})).status).toBe(
          200,
        );
        expect((await started.client.post(NOTE, { state: times, customer: CUSTOMERS })).status).toBe(201);
        expect((await started.client.patch(`${NOTE}1/`, { state: times })).status).toBe(200);
      }
      const names = (await prepared()).map(({ name }) => name);
      expect(names).toContainEqual(expect.stringMatching(/^restify_retrieve_sale_[\w-]{22}$/));
      expect(names).toContainEqual(expect.stringMatching(/^restify_create_note_[\w-]{22}$/));
      expect(names).toContainEqual(expect.stringMatching(/^restify_update_note_[\w-]{22}$/));
      expect(names).toContainEqual(
        expect.stringMatching(/^restify_retrieve_eventwithanamethatislon_[\w-]{22}$/),
      );
      expect(names.filter((name) => Buffer.byteLength(name) > 63)).toEqual([]);
      expect(new Set(names).size).toBe((await namesOf('')).length);
    });
  },
  ['postgres'],
);
