// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { BeforeUpdate, Column, Entity, ManyToOne, PrimaryColumn, VersionColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { ALWAYS, conjunction, equals, equalsAsKey } from '../../../src/core/query/condition.js';
import type {
  BatchPlan,
  Completed,
  CreatePlan,
  DeletePlan,
  Recording,
  UpdatePlan,
} from '../../../src/core/query/plan.js';
import { StatementLog } from '../../faults/statement-log.js';
import { connectAdapter } from '../../support/connect-adapter.js';
import type { ConnectedAdapter } from '../../support/connect-adapter.js';
import { onEachDatabase } from '../../support/each-database.js';

@Restify('imaged')
@Entity('imaged_owner')
class Owner {
  @PrimaryColumn() id: number;
}

class Row {
  @PrimaryColumn() id: number;
  @Column({ default: 0 }) n: number;
  @Column({ select: false, default: 'secret' }) hidden: string;
  @ManyToOne(() => Owner) owner: Relation<Owner> | null;
  @VersionColumn() version: number;
}

/** Written by single statements. */
@Restify('imaged')
@Entity('imaged_plain')
class Plain extends Row {}

/** Written by TypeORM. */
@Restify('imaged')
@Entity('imaged_heard')
class Heard extends Row {
  @BeforeUpdate() heard(): void {
    // A listener.
  }
}

const ENTITIES = [Owner, Plain, Heard];

class Told implements Recording {
  readonly writes: Completed[] = [];

  constructor(readonly images?: 'after' | 'both') {}

  committed(writes: readonly Completed[]): void {
    this.writes.push(...writes);
  }
}

const stored = (id: number, n: number, version = 1): object => ({
  id,
  n,
  hidden: 'secret',
  owner: 7,
  version,
});

onEachDatabase('stored values before and after writes', (database) => {
  let connected: ConnectedAdapter;
  const log = new StatementLog();
  beforeAll(async () => {
    connected = await connectAdapter({ entities: ENTITIES, database });
    connected.dataSource.setOptions({ logging: ['query'], logger: log });
    await connected.dataSource.getRepository(Owner).insert({ id: 7 });
  });
  afterAll(() => connected.close());
  beforeEach(async () => {
    for (const entity of [Plain, Heard]) await connected.dataSource.getRepository<Row>(entity).clear();
  });

  interface Plans {
    readonly create: (id: number) => CreatePlan;
    readonly update: (id: number, n: number) => UpdatePlan;
    readonly remove: (id: number) => DeletePlan;
  }

  const plans = (model: string, recording?: Recording): Plans => {
    const resource = connected.resource(`imaged.${model}`);
    const mayView = (): Promise<boolean> => Promise.resolve(true);
    const [column] = resource.key.columns;
    const owner = resource.relations.get('owner');
    if (!column || owner?.kind !== 'to-one') throw new Error('No key');
    const where = (id: number): DeletePlan['where'] => equals(column, id);
    const [target] = owner.target.key.columns;
    const exact = target ? equalsAsKey(target, 7) : ALWAYS;
    const check = { relation: owner, path: ['owner'], key: [7], where: exact, exact };
    const written = { resource, errors: {}, hiddenKeys: [], fixed: [], hooks: {}, recording };
    return {
      create: (id) => ({
        ...written,
        kind: 'create',
        keys: [check],
        values: new Map<string, unknown>([
          ['id', id],
          ['owner', [7]],
        ]),
        added: [],
        where: ALWAYS,
      }),
      update: (id, n) => ({
        ...written,
        kind: 'update',
        keys: [],
        values: new Map([['n', n]]),
        where: conjunction([ALWAYS, where(id)]),
        after: ALWAYS,
        given: new Set(),
        mayView,
      }),
      remove: (id) => ({ kind: 'delete', resource, where: where(id), mayView, hooks: {}, recording }),
    };
  };
  const batch = (...steps: BatchPlan['steps']): BatchPlan => ({ kind: 'batch', steps, skipsMissing: true });
  const during = async (work: () => Promise<unknown>): Promise<number> => {
    log.clear();
    await work();
    // Without the question whether the transaction is still open.
    return log.statements.filter((sql) => !/in_transaction|txid_current/.test(sql)).length;
  };

  for (const model of ['plain', 'heard']) {
    test(`are all values of the row: ${model}`, async () => {
      const { adapter } = connected;
      const told = new Told('both');
      const { create, update, remove } = plans(model, told);
      await adapter.write(create(1));
      await adapter.write(update(1, 2));
      await adapter.write(update(9, 2));
      await adapter.write(remove(1));
      expect(told.writes).toMatchObject([
        { kind: 'create', before: undefined, after: stored(1, 0) },
        { kind: 'update', before: stored(1, 0), after: stored(1, 2, 2) },
        { kind: 'delete', before: stored(1, 2, 2), after: undefined },
      ]);
      expect(Object.isFrozen(told.writes[0]?.after)).toBe(true);
    });

    test(`of a list cost two statements at most: ${model}`, async () => {
      const { adapter } = connected;
      const told = new Told('both');
      const keys = [1, 2, 3, 4, 5];
      const steps = <Step>(at: number, write: (by: Plans, id: number) => Step): readonly Step[] =>
        keys.map((id) => write(plans(model, at === 0 ? told : undefined), at + id));
      for (const at of [0, 10, 20])
        await adapter.writeAll(batch(...steps(at, ({ create }, id) => create(id))));
      const change = (at: number): Promise<number> =>
        during(() => adapter.writeAll(batch(...steps(at, ({ update }, id) => update(id, 5)))));
      const remove = (at: number): Promise<number> =>
        during(() =>
          adapter.writeAll(batch(...steps(at, ({ remove: of }, id) => of(id)), plans(model).remove(99))),
        );
      // The first ones read the catalogue.
      await change(10);
      await remove(10);
      const changed = await change(20);
      const removed = await remove(20);
      // On MariaDB the statement that locks and reads each row reads the values before it, too.
      const isRead = database.name === 'mariadb' && model === 'plain';
      expect((await change(0)) - changed).toBe(isRead ? 1 : 2);
      expect((await remove(0)) - removed).toBe(1);
      expect(told.writes.map(({ before, after }) => ({ before, after }))).toEqual([
        ...keys.map((id) => ({ before: undefined, after: stored(id, 0) })),
        ...keys.map((id) => ({ before: stored(id, 0), after: stored(id, 5, 2) })),
        ...keys.map((id) => ({ before: stored(id, 5, 2), after: undefined })),
      ]);
    });

    test(`are read only if a hook needs them: ${model}`, async () => {
      const { adapter } = connected;
      const counts = [];
      for (const [at, recording] of [undefined, new Told(), new Told('after')].entries()) {
        const { create, update, remove } = plans(model, recording);
        await adapter.write(create(at + 20));
        counts.push(
          await during(async () => adapter.write(create(at + 30))),
          await during(async () => adapter.write(update(at + 20, 5))),
          await during(async () => adapter.write(remove(at + 20))),
        );
        if (recording)
          expect(recording.writes.map(({ kind }) => kind)).toEqual(['create', 'create', 'update', 'delete']);
      }
      expect(counts.slice(3, 6)).toEqual(counts.slice(0, 3));
      expect(counts[8]).toBe(counts[2]);
      expect(counts[6]).toBeGreaterThan(counts[0] ?? 0);
    });
  }
});
