// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const SEATS = '/rest/v1/byhand/seat/';

@Restify('byhand')
@Entity('byhand_hall')
class Hall {
  @PrimaryGeneratedColumn() id: number;
}

/** As an entity of which nobody has said what is unique: migrations have. */
@Restify({ app: 'byhand', bulk: true, exclude: ['secret'] })
@Entity('byhand_seat')
class Seat {
  @PrimaryGeneratedColumn() id: number;
  @Column({ name: 'seat_code', length: 40, nullable: true }) code: string;
  @Column({ type: 'int', name: 'Row Number', nullable: true }) line: number;
  @Column({ type: 'int', nullable: true }) spot: number;
  @Column({ length: 200, nullable: true }) label: string;
  @Column({ length: 40, default: 's' }) secret: string;
  @Column({ name: 'odd (name)', length: 40, nullable: true }) odd: string;
  @Column({ length: 40, nullable: true }) mail: string;
  @ManyToOne(() => Hall, { nullable: true }) @JoinColumn({ name: 'hall_ref' }) hall: Relation<Hall> | null;
}

/** Its key has a name of its own, which TypeORM does not give. */
@Restify('byhand')
@Entity('byhand_coin')
class Coin {
  @PrimaryColumn({ length: 20 }) mint: string;
  @PrimaryColumn() year: number;
}

let started: StartedApp;
let quote: (name: string) => string;

async function run(...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await started.dataSource.query(statement);
}

async function twice(body: object, again: object = body): Promise<unknown> {
  expect((await started.client.post(SEATS, body)).status).toBe(201);
  const before = ((await started.client.get(SEATS)).json as readonly unknown[]).length;
  const { status, json } = await started.client.post(SEATS, again);
  expect(status).toBe(400);
  // Each way of writing says the same.
  expect((await started.client.post(SEATS, [again])).json).toEqual([json]);
  const { id } = (await started.client.post(SEATS, {})).json as { id: number };
  expect(await started.client.patch(`${SEATS}${id}/`, again)).toMatchObject({ status: 400, json });
  expect(((await started.client.get(SEATS)).json as readonly unknown[]).length).toBe(before + 1);
  return json;
}

const UNIQUE = ['This field must be unique.'];

onEachDatabase('an index that is not declared in TypeORM', (database) => {
  beforeAll(async () => {
    started = await startApp({ entities: [Seat, Hall, Coin], database });
    quote = (name) => started.dataSource.driver.escape(name);
  });
  beforeEach(() => run('DELETE FROM byhand_seat'));
  afterAll(() => started.close());

  test('of one column is an error of its field', async () => {
    await run('CREATE UNIQUE INDEX by_hand_code ON byhand_seat (seat_code)');
    expect(await twice({ code: 'a' })).toEqual({ code: UNIQUE });
    expect(await twice({ code: "for key 'byhand.line'" })).toEqual({ code: UNIQUE });
  });

  test('of several columns names their fields, in the order of the index', async () => {
    await run(
      `CREATE UNIQUE INDEX ${quote('By Hand, too')} ON byhand_seat (spot, hall_ref, ${quote('Row Number')})`,
    );
    const { id } = (await started.client.post('/rest/v1/byhand/hall/', {})).json as { id: number };
    expect(await twice({ line: 1, spot: 2, hall: id })).toEqual({
      non_field_errors: ['The fields spot, hall, line must make a unique set.'],
    });
  });

  test('of a column with an odd name is an error of its field', async () => {
    await run(`CREATE UNIQUE INDEX by_hand_odd ON byhand_seat (${quote('odd (name)')})`);
    expect(await twice({ odd: 'a' })).toEqual({ odd: UNIQUE });
  });

  test('that holds a hidden column names none', async () => {
    await run('CREATE UNIQUE INDEX by_hand_secret ON byhand_seat (secret, label)');
    expect(await twice({ label: 'taken' })).toEqual({
      non_field_errors: ['An object with these values exists already.'],
    });
    await run(
      database.name === 'mariadb' ? 'DROP INDEX by_hand_secret ON byhand_seat' : 'DROP INDEX by_hand_secret',
    );
  });

  test('over an expression is an error of no field', async () => {
    // MariaDB has no such index, and one over a column that is made by an expression instead.
    const statements =
      database.name === 'mariadb'
        ? [
            'ALTER TABLE byhand_seat ADD lowered VARCHAR(200) AS (lower(label)) PERSISTENT',
            'CREATE UNIQUE INDEX by_hand_label ON byhand_seat (lowered, spot)',
          ]
        : ['CREATE UNIQUE INDEX by_hand_label ON byhand_seat (lower(label), spot)'];
    await run(...statements);
    expect(await twice({ label: 'A', spot: 1 }, { label: 'a', spot: 1 })).toEqual({
      non_field_errors: ['An object with these values exists already.'],
    });
  });

  test('of a primary key is an error of its fields', async () => {
    const coin = { mint: 'a', year: 1 };
    expect((await started.client.post('/rest/v1/byhand/coin/', coin)).status).toBe(201);
    expect(await started.client.post('/rest/v1/byhand/coin/', coin)).toMatchObject({
      status: 400,
      json: { non_field_errors: ['The fields mint, year must make a unique set.'] },
    });
  });

  test('of the beginning of a column, or of some rows, is an error of its field', async () => {
    const mail =
      database.name === 'mariadb'
        ? 'CREATE UNIQUE INDEX by_hand_mail ON byhand_seat (mail(3))'
        : `CREATE UNIQUE INDEX by_hand_mail ON byhand_seat (mail) WHERE mail <> 'many'`;
    await run(mail);
    expect(await twice({ mail: 'same' })).toEqual({ mail: UNIQUE });
    await run(
      database.name === 'mariadb' ? 'DROP INDEX by_hand_mail ON byhand_seat' : 'DROP INDEX by_hand_mail',
    );
  });
});

onEachServer('the columns of such an index', (database) => {
  test('are queried once, and not if the error of the database names them', async () => {
    started = await startApp({ entities: [Seat, Hall, Coin], database });
    const asked: string[] = [];
    const runner = started.dataSource.createQueryRunner();
    await runner.release();
    try {
      const { prototype } = runner.constructor as {
        prototype: { query: (sql: string, ...more: unknown[]) => Promise<unknown> };
      };
      const { query } = prototype;
      prototype.query = function (sql: string, ...more: unknown[]): Promise<unknown> {
        if (/information_schema\.statistics|pg_index/.test(sql)) asked.push(sql);
        return query.call(this, sql, ...more);
      };
      await run('CREATE UNIQUE INDEX by_hand_code ON byhand_seat (seat_code)');
      try {
        for (const code of ['a', 'b', 'c']) expect(await twice({ code })).toEqual({ code: UNIQUE });
      } finally {
        prototype.query = query;
      }
    } finally {
      await started.close();
    }
    expect(asked.length).toBe(database.name === 'mariadb' ? 1 : 0);
  });
});
