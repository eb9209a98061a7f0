// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { BeforeInsert, Column, Entity, PrimaryColumn } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { ALWAYS, equals } from '../../../src/core/query/condition.js';
import type {
  BatchPlan,
  Completed,
  CreatePlan,
  DeletePlan,
  Recording,
  UpdatePlan,
} from '../../../src/core/query/plan.js';
import { breakableLine } from '../../support/breakable-line.js';
import { connectAdapter } from '../../support/connect-adapter.js';
import type { ConnectedAdapter } from '../../support/connect-adapter.js';
import { onEachDatabase, onEachServer } from '../../support/each-database.js';

/** Written by single statements. */
@Restify('committed')
@Entity('committed_plain')
class Plain {
  @PrimaryColumn() id: number;
  @Column({ default: 0 }) n: number;
}

/** Written by TypeORM. */
@Restify('committed')
@Entity('committed_heard')
class Heard {
  @PrimaryColumn() id: number;
  @Column({ default: 0 }) n: number;

  @BeforeInsert() heard(): void {
    // A listener.
  }
}

const ENTITIES = [Plain, Heard];

/** Keeps what is told: one list for each call. */
class Told implements Recording {
  readonly calls: string[][] = [];

  committed(writes: readonly Completed[]): void {
    this.calls.push(writes.map(({ kind, resource, key }) => `${kind} ${resource.model} ${key.join()}`));
  }
}

interface Planned {
  readonly create: (id: number, hooks?: CreatePlan['hooks']) => CreatePlan;
  readonly update: (id: number, n: number, hooks?: UpdatePlan['hooks']) => UpdatePlan;
  readonly remove: (id: number, hooks?: DeletePlan['hooks']) => DeletePlan;
}

function plansOf(connected: ConnectedAdapter, model: string, recording: Recording): Planned {
  const resource = connected.resource(`committed.${model}`);
  const mayView = (): Promise<boolean> => Promise.resolve(true);
  const where = (id: number): DeletePlan['where'] => {
    const [column] = resource.key.columns;
    return column ? equals(column, id) : ALWAYS;
  };
  const written = { resource, errors: {}, keys: [], hiddenKeys: [], fixed: [], recording };
  return {
    create: (id, hooks = {}) => ({
      ...written,
      kind: 'create',
      values: new Map([['id', id]]),
      added: [],
      where: ALWAYS,
      hooks,
    }),
    update: (id, n, hooks = {}) => ({
      ...written,
      kind: 'update',
      values: new Map([['n', n]]),
      where: where(id),
      after: ALWAYS,
      given: new Set(),
      mayView,
      hooks,
    }),
    remove: (id, hooks = {}) => ({ kind: 'delete', resource, where: where(id), mayView, hooks, recording }),
  };
}

function batch(...steps: BatchPlan['steps']): BatchPlan {
  return { kind: 'batch', steps, skipsMissing: false };
}

class Undone extends Error {}

async function undone(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error;
  });
}

onEachDatabase('calls after the COMMIT of writes', (database) => {
  let connected: ConnectedAdapter;
  let told: Told;
  beforeAll(async () => {
    connected = await connectAdapter({ entities: ENTITIES, database });
  });
  afterAll(() => connected.close());
  beforeEach(async () => {
    for (const entity of ENTITIES) await connected.dataSource.getRepository(entity).clear();
    told = new Told();
  });

  const plans = (model: string): Planned => plansOf(connected, model, told);
  const inTransaction = (work: (manager: EntityManager) => Promise<void>): Promise<void> =>
    connected.dataSource.transaction(work);

  for (const model of ['plain', 'heard']) {
    test(`names the row of each: ${model}`, async () => {
      const { adapter } = connected;
      const { create, update, remove } = plans(model);
      await adapter.write(create(1));
      await adapter.write(update(1, 2));
      expect(await adapter.write(update(9, 2))).toBeUndefined();
      await expect(async () => adapter.write(create(1))).rejects.toMatchObject({ response: { status: 400 } });
      await adapter.write(remove(1));
      expect(await adapter.write(remove(1))).toBe(false);
      expect(told.calls).toEqual([[`create ${model} 1`], [`update ${model} 1`], [`delete ${model} 1`]]);
    });

    test(`has all of a list together, in order: ${model}`, async () => {
      const { adapter } = connected;
      const { create, update, remove } = plans(model);
      await adapter.writeAll(batch(create(3), create(1), create(2)));
      await adapter.writeAll(batch(update(2, 5), remove(1), create(4)));
      await adapter.writeAll(batch(remove(2), remove(3)));
      await expect(adapter.writeAll(batch(create(5), create(4)))).rejects.toThrow('refused');
      expect(told.calls).toEqual([
        [`create ${model} 3`, `create ${model} 1`, `create ${model} 2`],
        [`update ${model} 2`, `delete ${model} 1`, `create ${model} 4`],
        [`delete ${model} 2`, `delete ${model} 3`],
      ]);
    });

    test(`waits for the COMMIT of the application, without what its savepoints have undone: ${model}`, async () => {
      const { adapter } = connected;
      const { create } = plans(model);
      const write = (manager: EntityManager, id: number): Promise<unknown> =>
        adapter.join(manager, async () => adapter.write(create(id)));
      await inTransaction(async (manager) => {
        await write(manager, 1);
        await undone(
          manager.transaction(async (inner) => {
            await write(inner, 2);
            await inner.transaction((innermost) => write(innermost, 3));
            throw new Undone();
          }),
        );
        await manager.transaction((inner) => write(inner, 4));
        await expect(write(manager, 1)).rejects.toMatchObject({ response: { status: 400 } });
        await write(manager, 5);
        expect(told.calls).toEqual([]);
      });
      expect(told.calls).toEqual([[`create ${model} 1`, `create ${model} 4`, `create ${model} 5`]]);
      await adapter.write(create(6));
      expect(told.calls[1]).toEqual([`create ${model} 6`]);
    });

    test(`has nothing of a transaction that is rolled back: ${model}`, async () => {
      const { adapter } = connected;
      const { create } = plans(model);
      await undone(
        inTransaction(async (manager) => {
          await adapter.join(manager, async () => adapter.write(create(1)));
          throw new Undone();
        }),
      );
      await inTransaction(async (manager) => {
        await manager.query('SELECT 1');
      });
      expect(told.calls).toEqual([]);
    });

    test(`has nothing that a statement of the application has rolled back: ${model}`, async () => {
      if (database.name === 'sqlite') return;
      const { adapter } = connected;
      const { create } = plans(model);
      await inTransaction(async (manager) => {
        await adapter.join(manager, async () => adapter.write(create(1)));
        await manager.query('ROLLBACK');
      });
      expect(told.calls).toEqual([]);
    });

    test(`has nothing that the database has rolled back, whose error the application has caught: ${model}`, async () => {
      if (database.name !== 'postgres') return;
      const { adapter, dataSource } = connected;
      const { create } = plans(model);
      await inTransaction(async (manager) => {
        await adapter.join(manager, async () => adapter.write(create(1)));
        await expect(manager.query('SELECT missing')).rejects.toThrow('missing');
      });
      expect(await dataSource.query(`SELECT * FROM committed_${model}`)).toEqual([]);
      expect(told.calls).toEqual([]);
    });
  }

  test('has nothing of an attempt that is repeated', async () => {
    const { adapter } = connected;
    const { create } = plans('heard');
    let attempts = 0;
    const after = (): Promise<void> => {
      attempts += 1;
      return attempts < 3
        ? Promise.reject(Object.assign(new Error('conflict'), CONFLICTS[database.name]))
        : Promise.resolve();
    };
    await adapter.writeAll(batch(create(1), create(2, { after })));
    expect(attempts).toBe(3);
    expect(told.calls).toEqual([['create heard 1', 'create heard 2']]);
  });

  test('may write, and what it throws changes nothing', async () => {
    const { adapter } = connected;
    const other = new Told();
    const writes: unknown[] = [];
    const recording: Recording = {
      committed: () => {
        writes.push(adapter.write(plansOf(connected, 'heard', other).create(2)));
        throw new Error('of no interest');
      },
    };
    await adapter.write(plansOf(connected, 'heard', recording).create(1));
    await Promise.all(writes);
    expect(other.calls).toEqual([['create heard 2']]);
  });

  test('is called outside of an enclosing transaction', async () => {
    if (database.name === 'sqlite') return;
    const { adapter, dataSource } = connected;
    const writes: unknown[] = [];
    const recording: Recording = {
      committed: () => {
        writes.push(adapter.write(plans('heard').create(2)));
      },
    };
    await undone(
      inTransaction((around) =>
        adapter.join(around, async () => {
          await inTransaction(async (manager) => {
            await adapter.join(manager, async () =>
              adapter.write(plansOf(connected, 'heard', recording).create(1)),
            );
          });
          await Promise.all(writes);
          throw new Undone();
        }),
      ),
    );
    expect(told.calls).toEqual([['create heard 2']]);
    expect(await dataSource.getRepository(Heard).count()).toBe(2);
  });

  test('has nothing of a COMMIT that is not seen, nor does the next one', async () => {
    if (database.name !== 'sqlite') return;
    const { adapter, dataSource } = connected;
    for (const model of ['plain', 'heard']) {
      await dataSource.query('BEGIN');
      await adapter.write(plans(model).create(1));
      await dataSource.query('COMMIT');
    }
    expect(told.calls).toEqual([]);
    await adapter.write(plans('heard').create(2));
    expect(told.calls).toEqual([['create heard 2']]);
  });

  test('includes single statements on the connection of an open transaction', async () => {
    if (database.name !== 'sqlite') return;
    const { adapter } = connected;
    await inTransaction(async () => {
      await adapter.write(plans('plain').create(1));
      expect(told.calls).toEqual([]);
    });
    expect(told.calls).toEqual([['create plain 1']]);
  });
});

/** Errors after which a transaction is repeated. */
const CONFLICTS: Readonly<Record<string, object>> = {
  sqlite: { code: 'SQLITE_BUSY' },
  postgres: { code: '40001' },
  mariadb: { errno: 1213, code: 'ER_LOCK_DEADLOCK' },
};

onEachServer('a COMMIT whose result is unknown', (database) => {
  const line = breakableLine(database);
  let connected: ConnectedAdapter;
  beforeAll(async () => {
    connected = await connectAdapter({ entities: ENTITIES, database: line.database });
  });
  afterAll(() => connected.close());

  test('makes no call', async () => {
    const { adapter } = connected;
    const told = new Told();
    const { create } = plansOf(connected, 'heard', told);
    await adapter.write(create(1));
    const after = async (): Promise<void> => {
      // The COMMIT has no response.
      setTimeout(() => void line.cut(), 50);
      line.stall();
      return Promise.resolve();
    };
    await expect(async () =>
      adapter.writeAll({ ...batch(create(2)), completed: after }),
    ).rejects.toMatchObject({ response: { status: 503 } });
    await line.mend();
    line.flow();
    await adapter.write(create(3));
    expect(told.calls).toEqual([['create heard 1'], ['create heard 3']]);
  });
});
