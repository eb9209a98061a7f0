// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { StoredValues, Write, WriteOperation } from 'nestjs-restify';
import { Column, DeleteDateColumn, Entity, ManyToOne, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('kept')
@Entity('kept_owner')
class Owner {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;
}

class Address {
  @Column({ length: 20, default: 'Rome' })
  city: string;
}

abstract class Doc {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  code: string;

  @Column({ default: 0 })
  n: number;

  @Column({ length: 20, default: 'hidden', select: false })
  secret: string;

  @Column(() => Address)
  address: Address;

  @ManyToOne(() => Owner, { nullable: true })
  owner: Relation<Owner> | null;

  @DeleteDateColumn()
  removed: Date | null;

  @VersionColumn()
  version: number;
}

@Restify({ app: 'kept', exclude: ['secret'], bulk: { upsert: ['code'] }, trash: true })
@Entity('kept_hooked')
class Hooked extends Doc {}

@Restify({ app: 'kept', exclude: ['secret'], bulk: { upsert: ['code'] }, trash: true })
@Entity('kept_plain')
class Plain extends Doc {}

interface Seen {
  readonly hook: string;
  readonly operation: WriteOperation;
  readonly stored: StoredValues | undefined;
  readonly owner: unknown;
}

const seen: Seen[] = [];
let fails = 0;

@RestifyController(Hooked)
class HookedController extends ResourceController<Hooked> {
  override async beforeWrite(write: Write<Hooked>): Promise<void> {
    this.see('before', write);
    if (write.entity.code === 'maker') await write.manager.insert(Hooked, { code: 'made', owner: { id: 1 } });
  }

  override afterWrite(write: Write<Hooked>): void {
    this.see('after', write);
    fails -= 1;
    if (fails >= 0) throw Object.assign(new Error('conflict'), CONFLICTS[database]);
  }

  private see(hook: string, { operation, stored, entity }: Write<Hooked>): void {
    seen.push({ hook, operation, stored, owner: entity.owner });
  }
}

let database = '';

/** Errors after which a transaction is repeated. */
const CONFLICTS: Readonly<Record<string, object>> = {
  sqlite: { code: 'SQLITE_BUSY' },
  postgres: { code: '40001' },
  mariadb: { errno: 1213, code: 'ER_LOCK_DEADLOCK' },
};

onEachDatabase('the stored row in hooks', (tested) => {
  let started: StartedApp;
  const log = new StatementLog();
  beforeAll(async () => {
    database = tested.name;
    started = await startApp({
      entities: [Owner, Hooked, Plain],
      database: tested,
      controllers: [HookedController],
      dataSource: { logging: ['query'], logger: log },
      compare: false,
    });
    await started.dataSource.manager.save(Owner, [{ name: 'ada' }, { name: 'kay' }]);
  });
  afterAll(() => started.close());
  beforeEach(() => {
    seen.length = 0;
  });

  const send = async (method: string, path: string, body?: unknown) => {
    log.clear();
    const response = await started.client.send(
      method,
      `/rest/v1/kept/${path}`,
      body === undefined ? {} : { body },
    );
    expect(response.status).toBeLessThan(300);
    return response.json as { readonly id: number };
  };
  const storedOf = (): readonly unknown[] =>
    seen.map(({ hook, operation, stored }) => [hook, operation, stored]);
  const row = (id: number, code: string, others: object = {}): object => ({
    id,
    code,
    n: 0,
    secret: 'hidden',
    'address.city': 'Rome',
    owner: 1,
    removed: null,
    version: 1,
    ...others,
  });

  test('is nothing of a new row', async () => {
    await send('POST', 'hooked/', { code: 'new', owner: 1 });
    expect(storedOf()).toEqual([
      ['before', 'create', undefined],
      ['after', 'create', undefined],
    ]);
  });

  test.each(['PUT', 'PATCH'])('are all of its values before %s, in both hooks', async (method) => {
    const { id } = await send('POST', 'hooked/', { code: method, owner: 1 });
    seen.length = 0;
    await send(method, `hooked/${id}/`, { code: `${method}!`, n: 4, owner: 2 });
    const before = row(id, method);
    const operation = method === 'PUT' ? 'update' : 'partialUpdate';
    expect(storedOf()).toEqual([
      ['before', operation, before],
      ['after', operation, before],
    ]);
    expect(Object.isFrozen(seen[0]?.stored)).toBe(true);
    expect(seen.map(({ owner }) => owner)).toMatchObject([{ id: 2 }, { id: 2 }]);
  });

  test('are its values before a deletion, a restoration and a purge, and the entity has its related keys', async () => {
    const { id } = await send('POST', 'hooked/', { code: 'going', owner: 1 });
    seen.length = 0;
    await send('DELETE', `hooked/${id}/`);
    await send('POST', `hooked/${id}/restore/`);
    await send('DELETE', `hooked/${id}/`);
    await send('POST', `hooked/${id}/purge/`);
    const deleted = { removed: expect.any(String), version: expect.any(Number) };
    const each = (operation: string, stored: object): readonly unknown[] =>
      ['before', 'after'].map((hook) => [hook, operation, stored]);
    expect(storedOf()).toEqual([
      ...each('destroy', row(id, 'going')),
      ...each('restore', row(id, 'going', deleted)),
      ...each('destroy', row(id, 'going', { version: expect.any(Number) })),
      ...each('purge', row(id, 'going', deleted)),
    ]);
    expect(seen.map(({ owner }) => owner)).toMatchObject(seen.map(() => ({ id: 1 })));
  });

  test('are those of each row of bulk writes and upserts, read by one statement', async () => {
    const keys: Record<string, readonly number[]> = {};
    for (const model of ['plain', 'hooked']) {
      const made = await send('POST', `${model}/`, [
        { code: 'b1', owner: 1 },
        { code: 'b2', owner: 1 },
        { code: 'b3', owner: 1 },
      ]);
      keys[model] = (made as unknown as readonly { readonly id: number }[]).map(({ id }) => id);
    }
    const [a = 0, b = 0, c = 0] = keys.hooked ?? [];
    const reads = (): number => log.statements.filter((sql) => /^SELECT .*secret/.test(sql)).length;
    seen.length = 0;
    await send('PATCH', 'hooked/', [
      { id: b, n: 2 },
      { id: a, n: 1 },
    ]);
    expect(reads()).toBe(1);
    expect(storedOf()).toEqual([
      ['before', 'partialUpdate', row(b, 'b2')],
      ['after', 'partialUpdate', row(b, 'b2')],
      ['before', 'partialUpdate', row(a, 'b1')],
      ['after', 'partialUpdate', row(a, 'b1')],
    ]);
    seen.length = 0;
    await send('POST', 'hooked/?upsert=true', [
      { code: 'b3', n: 3 },
      { code: 'b4', owner: 1 },
    ]);
    expect(storedOf()).toEqual([
      ['before', 'update', row(c, 'b3')],
      ['after', 'update', row(c, 'b3')],
      ['before', 'create', undefined],
      ['after', 'create', undefined],
    ]);
    seen.length = 0;
    await send('DELETE', `hooked/?keys=${a},${b}`);
    expect(reads()).toBe(1);
    expect(storedOf()).toMatchObject([
      ['before', 'destroy', row(a, 'b1', { n: 1, version: 2 })],
      ['after', 'destroy', row(a, 'b1', { n: 1, version: 2 })],
      ['before', 'destroy', row(b, 'b2', { n: 2, version: 2 })],
      ['after', 'destroy', row(b, 'b2', { n: 2, version: 2 })],
    ]);
  });

  test('are those of a row that was created during the request', async () => {
    await send('POST', 'hooked/?upsert=true', [
      { code: 'maker' },
      { code: 'made', n: 5 },
      { code: 'unmade' },
    ]);
    expect(storedOf()).toMatchObject([
      ['before', 'create', undefined],
      ['after', 'create', undefined],
      ['before', 'update', { code: 'made', n: 0, secret: 'hidden', owner: 1, version: 1 }],
      ['after', 'update', { code: 'made', n: 0, secret: 'hidden', owner: 1, version: 1 }],
      ['before', 'create', undefined],
      ['after', 'create', undefined],
    ]);
  });

  test('are those of each attempt', async () => {
    const { id } = await send('POST', 'hooked/', { code: 'again', owner: 1 });
    seen.length = 0;
    fails = 2;
    await send('PATCH', `hooked/${id}/`, { n: 1 });
    expect(seen).toHaveLength(6);
    expect(seen.every(({ stored }) => stored?.n === 0 && stored.version === 1)).toBe(true);
  });

  test('are not read of a model without hooks', async () => {
    const { id } = await send('POST', 'plain/', { code: 'plain', owner: 1 });
    const reads = (): readonly string[] => log.statements.filter((sql) => sql.includes('secret'));
    for (const [method, path, body] of [
      ['PATCH', `plain/${id}/`, { n: 1 }],
      ['PATCH', 'plain/', [{ id, n: 2 }]],
      ['DELETE', `plain/${id}/`, undefined],
    ] as const) {
      await send(method, path, body);
      expect(reads()).toEqual([]);
    }
  });
});
