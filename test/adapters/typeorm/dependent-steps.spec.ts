// @tags db nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
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
  @Column({ type: 'int', nullable: true, unique: true }) code: number | null;
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

  describe('of every kind', () => {
    /** One that the database or the application rejects, by its index. */
    interface Fault {
      readonly at: number;
      readonly by: 'hook' | 'database';
    }

    const NAMES = ['new', 'changed', 'own', 'm1', 'm3'];
    /** A name that another row of the model has. */
    const TAKEN: Readonly<Record<number, string>> = { 0: 'own', 1: 'c2', 4: 'm2' };
    const INVALID: Readonly<Record<number, object>> = {
      0: { name: UNIQUE },
      1: { name: UNIQUE },
      2: { code: [expect.any(String)] },
      4: { name: UNIQUE },
    };

    beforeEach(async () => {
      const { manager } = connected.dataSource;
      const [own] = await manager.save(Post, [
        { name: 'own', code: 1 },
        { name: 'other', code: 2 },
      ]);
      const [first] = await manager.save(
        Comment,
        ['c1', 'c2'].map((name) => manager.create(Comment, { name, ...(own && { up: own }) })),
      );
      await manager.save(
        Mark,
        ['m1', 'm2'].map((name) => manager.create(Mark, { name, ...(first && { up: first }) })),
      );
    });

    const named = (resource: Resource, name: string): Condition => {
      const column = resource.columns.get('name');
      if (!column) throw new Error(`${resource.id} has no name`);
      return { kind: 'compare', operand: { joinPath: [], column }, lookup: 'exact', value: name };
    };

    /** Creates a post, changes a comment, upserts a post, deletes a mark, and creates a mark of the comment. */
    function planMixed(fault?: Fault): BatchPlan {
      const [post, comment, mark] = ['post', 'comment', 'mark'].map((model) =>
        connected.resource(`steps.${model}`),
      ) as [Resource, Resource, Resource];
      const failing = (at: number): object =>
        fault?.by === 'hook' && fault.at === at
          ? { hooks: { after: () => Promise.reject(new Error(`hook ${at}`)) } }
          : { hooks: {} };
      const isRejected = (at: number): boolean => fault?.by === 'database' && fault.at === at;
      const nameAt = (at: number): string => (isRejected(at) ? (TAKEN[at] ?? '') : (NAMES[at] ?? ''));
      const written = (at: number, resource: Resource): Omit<CreatePlan, 'kind' | 'added' | 'where'> => ({
        resource,
        values: new Map([['name', nameAt(at)]]),
        errors: {},
        keys: [],
        hiddenKeys: [],
        fixed: [],
        recording,
        hooks: {},
        ...failing(at),
      });
      const mayView = (): Promise<boolean> => Promise.resolve(true);
      const up = mark.relations.get('up');
      const [pair] = up?.kind === 'to-one' ? up.on : [];
      const name = post.columns.get('name');
      if (!pair || !name) throw new Error('No such column');
      const values = new Map<string, unknown>([
        ['name', 'own'],
        ['code', isRejected(2) ? 2 : 3],
      ]);
      const upserted = { ...written(2, post), values };
      return {
        kind: 'batch',
        skipsMissing: false,
        steps: [
          { kind: 'create', ...written(0, post), added: [], where: ALWAYS },
          {
            kind: 'update',
            ...written(1, comment),
            where: named(comment, 'c1'),
            after: ALWAYS,
            given: new Set(),
            mayView,
          },
          {
            kind: 'upsert',
            update: {
              kind: 'update',
              ...upserted,
              where: named(post, 'own'),
              after: ALWAYS,
              given: new Set(),
              mayView,
            },
            create: { kind: 'create', ...upserted, added: [], where: ALWAYS },
            identifying: [{ column: name, value: 'own' }],
            repeated: { name: ['Repeated.'] },
          },
          {
            kind: 'delete',
            resource: mark,
            where: named(mark, isRejected(3) ? 'none' : 'm1'),
            mayView,
            recording,
            hooks: {},
            ...failing(3),
          },
          {
            kind: 'create',
            ...written(4, mark),
            added: [],
            where: ALWAYS,
            references: [{ column: pair.localColumn, step: 1, from: pair.referencedColumn }],
          },
        ],
      };
    }

    const stored = async (): Promise<object> => {
      const { manager } = connected.dataSource;
      const [posts, comments, marks] = await Promise.all([
        manager.find(Post, { order: { name: 'ASC' } }),
        manager.find(Comment, { relations: { up: true }, order: { name: 'ASC' } }),
        manager.find(Mark, { relations: { up: true }, order: { name: 'ASC' } }),
      ]);
      return {
        posts: posts.map(({ name, code }) => [name, code]),
        comments: comments.map(({ name, up }) => [name, up.name]),
        marks: marks.map(({ name, up }) => [name, up.name]),
      };
    };

    test('are written in one transaction', async () => {
      await connected.adapter.writeAll(planMixed());
      expect(await stored()).toEqual({
        posts: [
          ['new', null],
          ['other', 2],
          ['own', 3],
        ],
        comments: [
          ['c2', 'own'],
          ['changed', 'own'],
        ],
        marks: [
          ['m2', 'changed'],
          ['m3', 'changed'],
        ],
      });
      expect(told).toEqual([['create post', 'update comment', 'update post', 'delete mark', 'create mark']]);
    });

    test.each([0, 1, 2, 3, 4])('are not written if a hook of step %i fails', async (at) => {
      const before = await stored();
      await expect(connected.adapter.writeAll(planMixed({ at, by: 'hook' }))).rejects.toThrow(`hook ${at}`);
      expect(await stored()).toEqual(before);
      expect(told).toEqual([]);
    });

    test.each([0, 1, 2, 3, 4])(
      'are not written if step %i is rejected, whose error has its place',
      async (at) => {
        const before = await stored();
        const error: unknown = await connected.adapter
          .writeAll(planMixed({ at, by: 'database' }))
          .catch((thrown: unknown) => thrown);
        const { rejections } = error as { readonly rejections: ReadonlyMap<number, unknown> };
        expect([...rejections]).toEqual([[at, INVALID[at] ?? 'missing']]);
        expect(await stored()).toEqual(before);
        expect(told).toEqual([]);
      },
    );
  });
});
