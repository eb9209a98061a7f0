// @tags db
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  CreateDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Callers read, and refer to, open rows alone. */
class OpenOnly implements Permission {
  decide({ method }: AccessContext): Grant {
    return method === 'GET' ? allow({ rows: where('open', true) }) : allow();
  }
}

@Restify({ app: 'inserts', permissions: [OpenOnly] })
@Entity('inserts_owner')
class Owner {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ type: 'boolean', default: true }) open: boolean;
}

@Restify({ app: 'inserts', bulk: { upsert: ['code'], max: 500 } })
@Entity('inserts_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) code: string;
  @Column({ type: 'int', default: 7 }) votes: number;
  @Column({ type: 'simple-json', nullable: true }) facts: unknown;
  @Column({ type: 'boolean', default: false }) sold: boolean;
  @VersionColumn() version: number;
  @CreateDateColumn() made: Date;
  @ManyToOne(() => Owner, { nullable: true }) owner: Relation<Owner> | null;
}

@Restify({ app: 'inserts', bulk: { max: 500 } })
@Entity('inserts_uuid')
class Unique {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column({ length: 20 }) name: string;
}

/** Its key is the client's, of two columns. */
@Restify({ app: 'inserts', bulk: { max: 500 } })
@Entity('inserts_cell')
class Cell {
  @PrimaryColumn({ type: 'int' }) row: number;
  @PrimaryColumn({ length: 20 }) col: string;
  @Column({ type: 'decimal', precision: 12, scale: 3, default: '0' }) value: string;
  @ManyToOne(() => Owner, { nullable: true })
  @JoinColumn({ name: 'owner_id' })
  owner: Relation<Owner> | null;
}

const ENTITIES = [Owner, Item, Unique, Cell];
const ITEMS = '/rest/v1/inserts/item/';
const CELLS = '/rest/v1/inserts/cell/';

/** Distinct names, in no order. */
function namesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `n${(index * 7919) % count}`);
}

/** Calls `onStatement` with each statement. */
class WatchedLog extends StatementLog {
  onStatement: (sql: string) => void = () => undefined;

  override logQuery(sql: string): void {
    super.logQuery(sql);
    this.onStatement(sql);
  }
}

onEachDatabase('many new rows', (database) => {
  let started: StartedApp;
  let owner: number;
  const log = new WatchedLog();
  const { statements } = log;
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      database,
      dataSource: { logging: ['query'], logger: log },
      compare: false,
    });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    for (const entity of [Item, Unique, Cell, Owner])
      await started.dataSource.createQueryBuilder().delete().from(entity).execute();
    owner = (await started.dataSource.getRepository(Owner).save({ name: 'Ann' })).id;
    statements.length = 0;
  });

  const inserts = (): number => statements.filter((sql) => sql.startsWith('INSERT')).length;
  const locks = (): number => statements.filter((sql) => sql.includes('FOR UPDATE')).length;
  const isPostgres = database.name === 'postgres';
  const isMariadb = database.name === 'mariadb';

  test('of generated keys are returned in the order of the request, with the values that they have stored', async () => {
    const body = namesOf(150).map((code, index) => ({
      code,
      ...(index % 3 === 0 ? {} : { votes: index }),
      ...(index % 5 === 0 ? { facts: { index, exact: 1.5 } } : {}),
      owner: index % 2 === 0 ? owner : null,
    }));
    const { status, json } = await started.client.post(ITEMS, body);
    const rows = json as readonly (Record<string, unknown> & { id: number })[];
    expect(status).toBe(201);
    expect(rows.map(({ code }) => code)).toEqual(body.map(({ code }) => code));
    expect(rows[0]).toMatchObject({
      votes: 7,
      facts: { index: 0, exact: 1.5 },
      sold: false,
      version: 1,
      owner,
    });
    expect(rows[4]).toMatchObject({ votes: 4, facts: null });
    expect(new Set(rows.map(({ id }) => id)).size).toBe(150);
    if (isPostgres) expect(inserts()).toBe(2);
    const stored = await started.client.get(ITEMS);
    const byId = (stored.json as readonly { id: number }[]).map((row) => [row.id, row] as const);
    expect(rows).toEqual(rows.map(({ id }) => new Map(byId).get(id)));
    // The sequence goes on after them.
    expect((await started.client.post(ITEMS, { code: 'later' })).status).toBe(201);
  });

  test('of generated UUIDs and of keys of the client, by one statement where the key is known', async () => {
    const unique = await started.client.post(
      '/rest/v1/inserts/unique/',
      namesOf(40).map((name) => ({ name })),
    );
    expect([unique.status, (unique.json as readonly { name: string }[]).map(({ name }) => name)]).toEqual([
      201,
      namesOf(40),
    ]);
    if (!isMariadb) expect(inserts()).toBe(1);
    statements.length = 0;
    const cells = namesOf(40).map((col, row) => ({ row: row % 4, col, value: `${row}.25`, owner }));
    const { status, json } = await started.client.post(CELLS, cells);
    expect([status, json]).toMatchObject([
      201,
      cells.map(({ row, col, value }) => ({ row, col, value: `${value}0`, owner })),
    ]);
    if (!isMariadb) expect(inserts()).toBe(1);
  });

  describe('of which one is rejected', () => {
    const rejected = async (
      url: string,
      body: readonly object[],
    ): Promise<readonly (readonly [number, unknown])[]> => {
      const { status, json } = await started.client.post(url, body);
      expect(status).toBe(400);
      expect((await started.client.get(url)).json).toEqual([]);
      return [...(json as readonly object[]).entries()].filter(
        ([, errors]) => Object.keys(errors).length > 0,
      );
    };
    const body = (): { code: string; owner?: number }[] => namesOf(30).map((code) => ({ code, owner }));

    test('by a constraint are none, and the error stands at its place', async () => {
      const items = body();
      items[17] = { code: 'n5' };
      const later = items.map(({ code }) => code).lastIndexOf('n5');
      expect(await rejected(ITEMS, items)).toEqual([[later, { code: ['This field must be unique.'] }]]);
    });

    test('by the key of a row that does not exist, or that its caller may not see', async () => {
      const hidden = await started.dataSource.getRepository(Owner).save({ name: 'Eve', open: false });
      for (const missing of [hidden.id, hidden.id + 1000]) {
        const items = body();
        items[12] = { code: 'x', owner: missing };
        expect(await rejected(ITEMS, items)).toEqual([
          [12, { owner: [`Invalid pk "${missing}" - object does not exist.`] }],
        ]);
      }
    });

    test('by a row that another transaction deletes in between', async () => {
      const gone = await started.dataSource.getRepository(Owner).save({ name: 'Bob' });
      const items = body();
      items[3] = { code: 'x', owner: gone.id };
      let deletion: Promise<unknown> | undefined;
      log.onStatement = (sql) => {
        if (!deletion && /^(BEGIN|START)/.test(sql))
          deletion = started.dataSource
            .query(`DELETE FROM inserts_owner WHERE id = ${gone.id}`)
            .catch(() => undefined);
      };
      const { status } = await started.client.post(ITEMS, items);
      await deletion;
      log.onStatement = () => undefined;
      const left = await started.dataSource.getRepository(Item).count();
      expect([status, left]).toEqual(left === 0 ? [400, 0] : [201, 30]);
    });
  });

  test('at once with others of other callers', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, call) =>
        started.client.post(
          ITEMS,
          namesOf(30).map((code) => ({ code: `${call}-${code}`, owner })),
        ),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    const ids = answers.flatMap(({ json }) => (json as readonly { id: number }[]).map(({ id }) => id));
    expect(new Set(ids).size).toBe(240);
  });

  test('by an upsert, where all are new, and where some are there', async () => {
    const url = `${ITEMS}?upsert=true`;
    const first = await started.client.post(
      url,
      namesOf(20).map((code) => ({ code, votes: 1 })),
    );
    expect(first.status).toBe(201);
    if (isPostgres) expect(inserts()).toBe(1);
    const second = await started.client.post(
      url,
      namesOf(30).map((code) => ({ code, votes: 2 })),
    );
    expect(second.status).toBe(201);
    expect(
      (second.json as readonly { code: string; votes: number }[]).map(({ code, votes }) => [code, votes]),
    ).toEqual(namesOf(30).map((code) => [code, 2]));
    expect(await started.dataSource.getRepository(Item).count()).toBe(30);
    statements.length = 0;
    const third = await started.client.post(
      url,
      namesOf(30).map((code) => ({ code, votes: 3 })),
    );
    expect(third.status).toBe(200);
    if (isPostgres) expect(locks()).toBe(1);
    statements.length = 0;
    const changes = (third.json as readonly { id: number }[]).map(({ id }) => ({ id, votes: 4 }));
    const changed = await started.client.patch(ITEMS, changes);
    expect(changed.json).toMatchObject(changes);
    if (isPostgres) expect(locks()).toBe(1);
  });
});

@Restify({ app: 'inserts', bulk: true })
@Entity('inserts_always')
class Always {
  @PrimaryGeneratedColumn('identity', { generatedIdentity: 'ALWAYS' }) id: number;
  @Column({ length: 20 }) name: string;
}

@Restify({ app: 'inserts', bulk: true })
@Entity('inserts_by_default')
class ByDefault {
  @PrimaryGeneratedColumn('identity', { generatedIdentity: 'BY DEFAULT' }) id: number;
  @Column({ length: 20 }) name: string;
}

onEachDatabase(
  'many new rows with identity columns',
  (database) => {
    test('are written together, also where the column takes no other values', async () => {
      const log = new StatementLog();
      const { statements } = log;
      const started = await startApp({
        entities: [Always, ByDefault],
        database,
        dataSource: { logging: ['query'], logger: log },
        compare: false,
      });
      for (const [model, expected] of [
        ['always', 1],
        ['bydefault', 1],
      ] as const) {
        statements.length = 0;
        const url = `/rest/v1/inserts/${model}/`;
        const { status, json } = await started.client.post(
          url,
          namesOf(30).map((name) => ({ name })),
        );
        expect([status, statements.filter((sql) => sql.startsWith('INSERT')).length]).toEqual([
          201,
          expected,
        ]);
        expect(json).toEqual((await started.client.get(url)).json);
      }
      await started.close();
    });
  },
  ['postgres'],
);
