// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'many', nested: ['leaves'], shape: true, expandable: ['leaves'] })
@Entity('nested_branch')
class Branch {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @OneToMany(() => Leaf, (leaf) => leaf.branch) leaves: Relation<Leaf[]>;
}

/** What every caller may do with leaves. Changed by a test. */
let leafGrant: Grant = allow();

class LeafGrants implements Permission {
  decide(): Grant {
    return leafGrant;
  }
}

class ShownKinds implements Permission {
  decide(): Grant {
    return allow({ rows: where('name', 'ne', 'hidden') });
  }
}

@Restify({ app: 'many', permissions: [ShownKinds] })
@Entity('nested_kind')
class Kind {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

@Restify({ app: 'many', permissions: [LeafGrants] })
@Entity('nested_leaf')
class Leaf {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ type: 'int', default: 0 }) size: number;
  @Column({ type: 'varchar', length: 20, nullable: true, unique: true }) code: string | null;
  @Column({ type: 'decimal', precision: 8, scale: 2, nullable: true }) weight: string | null;
  @ManyToOne(() => Branch, (branch) => branch.leaves, { nullable: false }) branch: Relation<Branch>;
  @ManyToOne(() => Kind, { nullable: true }) kind: Relation<Kind> | null;
}

const BRANCHES = '/rest/v1/many/branch/';

onEachDatabase('the statements of plain objects in bodies', (database) => {
  let started: StartedApp;
  const log = new StatementLog();
  beforeAll(async () => {
    started = await startApp({
      entities: [Branch, Leaf, Kind],
      database,
      dataSource: { logging: ['query'], logger: log },
      compare: false,
    });
  });
  afterAll(() => started.close());

  /** The statements about leaves in a request that creates, changes and deletes so many. */
  async function countStatements(count: number): Promise<Readonly<Record<string, number>>> {
    const { client } = started;
    const ofLeaves = (kind: RegExp): number =>
      log.statements.filter((sql) => sql.includes('nested_leaf') && kind.test(sql)).length;
    const leaves = Array.from({ length: count }, (_, index) => ({ name: `leaf ${index}` }));
    log.statements.length = 0;
    const created = await client.post(`${BRANCHES}?expand=leaves`, { name: 'a', leaves });
    const inserts = ofLeaves(/^INSERT/);
    const { id, leaves: made } = created.json as { id: number; leaves: { id: number }[] };
    const write = async (verbs: object): Promise<void> => {
      log.statements.length = 0;
      expect((await client.patch(`${BRANCHES}${id}/`, { leaves: verbs })).status).toBe(200);
    };
    await write({ update: made.map((leaf, size) => ({ id: leaf.id, size: size + 1 })) });
    const [updates, checks] = [ofLeaves(/^(WITH .*)?UPDATE/), ofLeaves(/^SELECT/)];
    await write({ delete: made.map((leaf) => leaf.id) });
    return { inserts, updates, checks, deletes: ofLeaves(/^DELETE/), selects: ofLeaves(/^SELECT/) };
  }

  test('do not depend on the number of those that are written', async () => {
    await countStatements(2);
    const ten = await countStatements(10);
    expect([ten.deletes, ten.selects]).toEqual([1, 2]);
    expect([ten.inserts, ten.updates]).toEqual([1, 1]);
    expect(ten.checks).toBe({ sqlite: 2, postgres: 2, mariadb: 3 }[database.name]);
  });

  test('of a new object are one beside its own, without a savepoint, and it is not read again', async () => {
    const { client } = started;
    const leaves = Array.from({ length: 10 }, (_, index) => ({ name: `new ${index}`, size: index }));
    for (const count of [1, 10]) {
      log.statements.length = 0;
      const body = { name: 'b', leaves: leaves.slice(0, count) };
      const created = await client.post(BRANCHES, body);
      expect(created.status).toBe(201);
      expect(log.statements.map((sql) => /^\w+/.exec(sql)?.[0])).toEqual([
        database.name === 'sqlite' ? 'BEGIN' : 'START',
        'INSERT',
        'INSERT',
        'COMMIT',
      ]);
      const { id } = created.json as { id: number };
      const stored = await client.get(`${BRANCHES}${id}/leaves/`);
      expect(stored.json).toMatchObject(body.leaves);
    }
  });

  test('of a new object begin one transaction, whichever of their values are given', async () => {
    const { client } = started;
    const write = async (...leaves: object[]): Promise<readonly unknown[]> => {
      log.statements.length = 0;
      const created = await client.post(BRANCHES, { name: 'd', leaves });
      expect(created.status).toBe(201);
      const count = (kind: RegExp): number => log.statements.filter((sql) => kind.test(sql)).length;
      const counts = [count(/^(BEGIN|START)/), count(/^INSERT/), count(/^SAVEPOINT/)];
      const { id } = created.json as { id: number };
      expect((await client.get(`${BRANCHES}${id}/leaves/`)).json).toMatchObject(leaves);
      return counts;
    };
    const others = [
      { name: 'a', size: 3 },
      { name: 'b', code: 'other' },
      { name: 'c', weight: '1.50' },
      { name: 'd' },
      { name: 'd' },
    ];
    expect(await write(...others)).toEqual([1, 2, 0]);
    // Only PostgreSQL draws the keys of rows that differ in nothing that is compared.
    const weights = [
      { name: 'e', weight: '1.50' },
      { name: 'e', weight: '2.50' },
    ];
    expect(await write(...weights)).toEqual(database.name === 'postgres' ? [1, 2, 0] : [1, 3, 1]);
    expect(await write({ name: 'f', size: 0 }, { name: 'f' })).toEqual(
      database.name === 'postgres' ? [1, 2, 0] : [1, 3, 1],
    );
  });

  test('begin again with a savepoint if the database rejects one, which is reported at its place', async () => {
    const { client } = started;
    const before = (await client.get(BRANCHES)).json as unknown[];
    log.statements.length = 0;
    const leaves = [
      { name: 'c', code: 'same' },
      { name: 'd', code: 'same' },
    ];
    const refused = await client.post(BRANCHES, { name: 'c', leaves });
    expect([refused.status, refused.json]).toEqual([
      400,
      { leaves: [{}, { code: ['This field must be unique.'] }] },
    ]);
    expect(log.statements.filter((sql) => /^(BEGIN|START)/.test(sql))).toHaveLength(2);
    expect(log.statements.filter((sql) => sql.startsWith('SAVEPOINT'))).not.toHaveLength(0);
    expect((await client.get(BRANCHES)).json).toEqual(before);
    const [{ id } = { id: 0 }] = before as { id: number }[];
    const patched = await client.patch(`${BRANCHES}${id}/`, { name: 'changed', leaves: { create: leaves } });
    expect(patched.status).toBe(400);
    expect((await client.get(BRANCHES)).json).toEqual(before);
  });

  test('write no new object that the grant of its model or a hidden key forbids', async () => {
    const { client, dataSource } = started;
    const kinds = dataSource.getRepository(Kind);
    const [shown, hidden] = await kinds.save([{ name: 'shown' }, { name: 'hidden' }]);
    const countRows = async (): Promise<readonly number[]> => [
      await dataSource.getRepository(Branch).count(),
      await dataSource.getRepository(Leaf).count(),
    ];
    const post = async (name: string, ...leaves: object[]): Promise<readonly unknown[]> => {
      const before = await countRows();
      const { status, json } = await client.post(BRANCHES, { name, leaves });
      const after = await countRows();
      return [
        status,
        status === 201 ? undefined : json,
        ...after.map((count, at) => count - (before[at] ?? 0)),
      ];
    };
    const forbidden = { detail: 'You do not have permission to perform this action.' };
    const noKind = (id: number | undefined): object => ({
      leaves: [{}, { kind: [`Invalid pk "${id}" - object does not exist.`] }],
    });
    const seen = { name: 'a', kind: shown?.id };
    expect(await post('kinds', seen, { name: 'b', kind: shown?.id })).toEqual([201, undefined, 1, 2]);
    expect(await post('kinds', seen, { name: 'b', kind: hidden?.id })).toEqual([
      400,
      noKind(hidden?.id),
      0,
      0,
    ]);
    expect(await post('kinds', seen, { name: 'b', kind: 999 })).toEqual([400, noKind(999), 0, 0]);
    try {
      leafGrant = allow({ rows: where('size', 'lt', 10) });
      expect(await post('sizes', { name: 'a', size: 1 }, { name: 'b', size: 9 })).toEqual([
        201,
        undefined,
        1,
        2,
      ]);
      expect(await post('sizes', { name: 'a', size: 1 }, { name: 'b', size: 10 })).toEqual([
        403,
        forbidden,
        0,
        0,
      ]);
      leafGrant = allow({ rows: where('branch.name', 'ne', 'closed') });
      expect(await post('open', { name: 'a' })).toEqual([201, undefined, 1, 1]);
      expect(await post('closed', { name: 'a' })).toEqual([403, forbidden, 0, 0]);
    } finally {
      leafGrant = allow();
    }
  });
});
