// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { BeforeInsert, Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { ALWAYS } from '../../../src/core/query/condition.js';
import type { Condition } from '../../../src/core/query/condition.js';
import type {
  BatchPlan,
  Completed,
  CreatePlan,
  Recording,
  StepReference,
} from '../../../src/core/query/plan.js';
import type { Resource } from '../../../src/core/schema/resource.js';
import { connectAdapter } from '../../support/connect-adapter.js';
import type { ConnectedAdapter } from '../../support/connect-adapter.js';
import { onEachDatabase } from '../../support/each-database.js';

@Restify('steps')
@Entity('steps_post')
class Post {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
}

/** Written by TypeORM. */
@Restify('steps')
@Entity('steps_comment')
class Comment {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @ManyToOne(() => Post, { nullable: false }) up: Relation<Post>;

  @BeforeInsert() heard(): void {
    // A listener.
  }
}

@Restify('steps')
@Entity('steps_mark')
class Mark {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @ManyToOne(() => Comment, { nullable: false }) up: Relation<Comment>;
}

const ENTITIES = [Post, Comment, Mark];
const UNIQUE = [expect.stringMatching(/with this name already exists|must be unique|exists/)];

/** The model of each step, and the step whose row it refers to. */
const STEPS: readonly { readonly model: string; readonly up?: number }[] = [
  { model: 'post' },
  { model: 'comment', up: 0 },
  { model: 'mark', up: 1 },
  { model: 'comment', up: 0 },
  { model: 'mark', up: 3 },
];

onEachDatabase('steps that refer to rows of earlier ones', (database) => {
  let connected: ConnectedAdapter;
  let told: string[][];
  beforeAll(async () => {
    connected = await connectAdapter({ entities: ENTITIES, database });
  });
  afterAll(() => connected.close());
  beforeEach(async () => {
    told = [];
    for (const entity of [...ENTITIES].reverse())
      await connected.dataSource.createQueryBuilder().delete().from(entity).execute();
  });

  const recording: Recording = {
    committed: (writes: readonly Completed[]) => {
      told.push(writes.map(({ kind, resource }) => `${kind} ${resource.model}`));
    },
  };

  /** The caller may have children of the post `own` only. */
  function grantOf(resource: Resource): Condition {
    const up = resource.relations.get('up');
    if (up?.kind !== 'to-one') return ALWAYS;
    const above = up.target.relations.get('up');
    const joinPath = above?.kind === 'to-one' ? [up, above] : [up];
    const column = joinPath.at(-1)?.target.columns.get('name');
    return column
      ? { kind: 'compare', operand: { joinPath, column }, lookup: 'exact', value: 'own' }
      : ALWAYS;
  }

  function plan(names: readonly string[]): BatchPlan {
    const steps = STEPS.map(({ model, up }, index): CreatePlan => {
      const resource = connected.resource(`steps.${model}`);
      const relation = resource.relations.get('up');
      const [pair] = relation?.kind === 'to-one' ? relation.on : [];
      const references: readonly StepReference[] =
        up === undefined || !pair
          ? []
          : [{ column: pair.localColumn, step: up, from: pair.referencedColumn }];
      return {
        kind: 'create',
        resource,
        values: new Map([['name', names[index] ?? `row ${index}`]]),
        errors: {},
        keys: [],
        hiddenKeys: [],
        fixed: [],
        added: [],
        hooks: {},
        recording,
        where: grantOf(resource),
        ...(references.length > 0 ? { references } : {}),
      };
    });
    return { kind: 'batch', steps, skipsMissing: false };
  }

  const counts = (): Promise<readonly number[]> =>
    Promise.all(ENTITIES.map((entity) => connected.dataSource.getRepository<object>(entity).count()));

  test('are written in order, in one transaction', async () => {
    await connected.adapter.writeAll(plan(['own']));
    const marks = await connected.dataSource
      .getRepository(Mark)
      .find({ relations: { up: { up: true } }, order: { name: 'ASC' } });
    expect(marks.map(({ name, up }) => [name, up.name, up.up.name])).toEqual([
      ['row 2', 'row 1', 'own'],
      ['row 4', 'row 3', 'own'],
    ]);
    expect(told).toEqual([['create post', 'create comment', 'create mark', 'create comment', 'create mark']]);
  });

  for (const index of STEPS.keys()) {
    test(`are not written if the database rejects step ${index}, whose error has its place`, async () => {
      await connected.adapter.writeAll(plan(['own']));
      const before = await counts();
      // The caller may have the row, so that the error is that of the value.
      if (index > 0)
        await connected.dataSource.getRepository(Post).update({ name: 'own' }, { name: 'former' });
      const taken = ['own', 'a', 'b', 'c', 'd'].map((name, at) =>
        at === index && index > 0 ? `row ${index}` : name,
      );
      const error: unknown = await connected.adapter.writeAll(plan(taken)).catch((thrown: unknown) => thrown);
      const { rejections } = error as { readonly rejections: ReadonlyMap<number, object> };
      expect([...rejections]).toEqual([[index, { name: UNIQUE }]]);
      expect(await counts()).toEqual(before);
      expect(told).toHaveLength(1);
    });
  }

  test('are all checked, though an earlier one is rejected', async () => {
    await connected.adapter.writeAll(plan(['own']));
    await connected.dataSource.getRepository(Post).update({ name: 'own' }, { name: 'former' });
    const error: unknown = await connected.adapter
      .writeAll(plan(['own', 'row 1', 'x', 'row 3', 'y']))
      .catch((thrown: unknown) => thrown);
    const { rejections } = error as { readonly rejections: ReadonlyMap<number, object> };
    expect([...rejections.keys()]).toEqual([1, 3]);
  });

  test('are denied where the caller may not have the row', async () => {
    await expect(connected.adapter.writeAll(plan(['of another']))).rejects.toMatchObject({
      response: { status: 403 },
    });
    expect(await counts()).toEqual([0, 0, 0]);
    expect(told).toEqual([]);
  });
});
