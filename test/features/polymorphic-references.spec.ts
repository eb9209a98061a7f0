// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, Restify, RestifyController, ResourceController, where } from 'nestjs-restify';
import type { Grant, Permission, Write } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const UNBOUND = { createForeignKeyConstraints: false, nullable: true } as const;

class OfAnn implements Permission {
  decide(): Grant {
    return allow({ rows: where('tenant', 'ann') });
  }
}

@Restify({ app: 'pr', permissions: [OfAnn] })
@Entity('pr_post')
class PrPost {
  @PrimaryColumn('int') id: number;
  @Column({ type: 'varchar', length: 10, nullable: true }) tenant: string | null;
  @OneToMany(() => PrMark, (mark) => mark.post) marks: Relation<PrMark[]>;
  @ManyToMany(() => PrTag)
  @JoinTable({
    name: 'pr_tagging',
    joinColumn: { name: 'subjectId' },
    inverseJoinColumn: { name: 'tagId' },
    synchronize: false,
  })
  tags: Relation<PrTag[]>;
}

@Restify({ app: 'pr', permissions: [OfAnn] })
@Entity('pr_photo')
class PrPhoto {
  @PrimaryColumn('int') id: number;
  @Column({ type: 'varchar', length: 10, nullable: true }) tenant: string | null;
}

/** A type and a key of one of two tables. The relations cascade, and yet create no rows. */
@Restify({ app: 'pr', bulk: { upsert: ['name'] } })
@Entity('pr_mark')
class PrMark {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10, unique: true }) name: string;
  @Column({ length: 10 }) subjectType: string;
  @Column('int', { nullable: true }) subjectId: number | null;
  @ManyToOne(() => PrPost, (post) => post.marks, { ...UNBOUND, cascade: true })
  @JoinColumn({ name: 'subjectId' })
  post: Relation<PrPost> | null;
  @ManyToOne(() => PrPhoto, { ...UNBOUND, cascade: true })
  @JoinColumn({ name: 'subjectId' })
  photo: Relation<PrPhoto> | null;
}

/** In an embedded object. */
class PrAbout {
  @Column('int', { nullable: true, name: 'subjectId' }) subjectId: number | null;
  @ManyToOne(() => PrPost, UNBOUND) @JoinColumn({ name: 'subjectId' }) post: Relation<PrPost> | null;
  @ManyToOne(() => PrPhoto, UNBOUND) @JoinColumn({ name: 'subjectId' }) photo: Relation<PrPhoto> | null;
}

@Restify('pr')
@Entity('pr_nested')
class PrNested {
  @PrimaryGeneratedColumn() id: number;
  @Column(() => PrAbout) about: PrAbout;
}

@Restify('pr')
@Entity('pr_hooked')
class PrHooked {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10, default: '' }) name: string;
  @Column('int') subjectId: number;
  @ManyToOne(() => PrPost, { createForeignKeyConstraints: false, cascade: true })
  @JoinColumn({ name: 'subjectId' })
  post: Relation<PrPost>;
  @ManyToOne(() => PrPhoto, { createForeignKeyConstraints: false, cascade: true })
  @JoinColumn({ name: 'subjectId' })
  photo: Relation<PrPhoto>;
}

@Restify('pr')
@Entity('pr_tag')
class PrTag {
  @PrimaryColumn('int') id: number;
}

/** The pairs of posts and tags; one side of each is a key of several tables. */
@Restify('pr')
@Entity('pr_tagging')
class PrTagging {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') tagId: number;
  @Column('int') subjectId: number;
  @Column('int', { nullable: true }) originId: number | null;
  @ManyToOne(() => PrTag) @JoinColumn({ name: 'tagId' }) tag: Relation<PrTag>;
  @ManyToOne(() => PrPost, UNBOUND) @JoinColumn({ name: 'subjectId' }) post: Relation<PrPost>;
  @ManyToOne(() => PrPhoto, UNBOUND) @JoinColumn({ name: 'subjectId' }) photo: Relation<PrPhoto>;
  @ManyToOne(() => PrPost, UNBOUND) @JoinColumn({ name: 'originId' }) from: Relation<PrPost> | null;
  @ManyToOne(() => PrPhoto, UNBOUND) @JoinColumn({ name: 'originId' }) of: Relation<PrPhoto> | null;
}

@RestifyController(PrHooked)
class PrHookedController extends ResourceController<PrHooked> {
  override beforeWrite({ entity }: Write<PrHooked>): void {
    if (entity.name === 'plain') entity.subjectId = 71;
    if (entity.name === 'post') entity.post = { id: 1 } as PrPost;
  }
}

/** The column is read-only, so that the relations are written. */
@Restify({ app: 'pr', readOnly: ['subjectId'] })
@Entity('pr_closed')
class PrClosed {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) subjectId: number | null;
  @ManyToOne(() => PrPost, UNBOUND) @JoinColumn({ name: 'subjectId' }) post: Relation<PrPost> | null;
  @ManyToOne(() => PrPhoto, UNBOUND) @JoinColumn({ name: 'subjectId' }) photo: Relation<PrPhoto> | null;
}

/** The column has no property. */
@Restify('pr')
@Entity('pr_bare')
class PrBare {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => PrPost, UNBOUND) @JoinColumn({ name: 'subjectId' }) post: Relation<PrPost> | null;
  @ManyToOne(() => PrPhoto, UNBOUND) @JoinColumn({ name: 'subjectId' }) photo: Relation<PrPhoto> | null;
}

onEachDatabase('a key of several tables', (database) => {
  let started: StartedApp;
  const warnings: string[] = [];
  beforeAll(async () => {
    const ignore = (): void => undefined;
    const warn = (message: string): void => void warnings.push(message);
    started = await startApp({
      entities: [PrPost, PrPhoto, PrMark, PrNested, PrHooked, PrClosed, PrBare, PrTag, PrTagging],
      controllers: [PrHookedController],
      database,
      nest: { logger: { log: ignore, error: ignore, warn, debug: ignore, verbose: ignore, fatal: ignore } },
    });
    const { manager } = started.dataSource;
    // Visible are 1 in both, 2 as a post and 3 as a photo; 4 is a photo of somebody else, 5 of nobody, 6 also a post of Ann's.
    await manager.insert(
      PrPost,
      [1, 2, 6].map((id) => ({ id, tenant: 'ann' })),
    );
    await manager.insert(
      PrPhoto,
      [1, 3].map((id) => ({ id, tenant: 'ann' })),
    );
    await manager.insert(PrPhoto, [
      { id: 4, tenant: 'bob' },
      { id: 5, tenant: null },
      { id: 6, tenant: 'bob' },
    ]);
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    for (const entity of [PrMark, PrNested, PrHooked, PrClosed, PrBare])
      await started.dataSource.manager.createQueryBuilder().delete().from(entity).execute();
  });

  const noSuch = (id: number): object => ({ subjectId: [`Invalid pk "${id}" - object does not exist.`] });
  const storedMarks = async (): Promise<unknown> => {
    const marks = await started.dataSource.manager.find(PrMark, { order: { id: 'ASC' } });
    return marks.map(({ name, subjectType, subjectId }) => [name, subjectType, subjectId]);
  };
  const mark = async (subjectId: number): Promise<string> => {
    const body = { name: 'mark', subjectType: 'post', subjectId };
    const made = await started.client.post('/rest/v1/pr/prmark/', body);
    expect([subjectId, made.status, made.json]).toEqual([subjectId, 201, expect.objectContaining(body)]);
    return `/rest/v1/pr/prmark/${(made.json as { id: number }).id}/`;
  };

  test('is written as a column if each row that has it is visible, or none has it', async () => {
    for (const id of [1, 2, 3, 99]) {
      const url = await mark(id);
      for (const next of [3, 98, 2, 1]) {
        const changed = await started.client.patch(url, { subjectType: 'photo', subjectId: next });
        expect([next, changed.status, changed.json]).toEqual([
          next,
          200,
          expect.objectContaining({ subjectType: 'photo', subjectId: next }),
        ]);
      }
      const put = await started.client.put(url, { name: 'put', subjectType: 'post', subjectId: null });
      expect([put.status, put.json]).toMatchObject([
        200,
        { name: 'put', subjectType: 'post', subjectId: null, post: null, photo: null },
      ]);
      expect(await storedMarks()).toEqual([['put', 'post', null]]);
      await started.client.delete(url);
    }
    // No relation has created a row.
    expect(await started.dataSource.manager.count(PrPost)).toBe(3);
    expect(await started.dataSource.manager.count(PrPhoto)).toBe(5);
  });

  test('is a key of no object if a row that has it is hidden', async () => {
    const { client } = started;
    const url = await mark(1);
    for (const id of [4, 5, 6]) {
      const body = { name: 'other', subjectType: 'post', subjectId: id };
      for (const answer of [
        await client.post('/rest/v1/pr/prmark/', body),
        await client.put(url, body),
        await client.patch(url, { subjectId: id }),
      ])
        expect([id, answer.status, answer.json]).toEqual([id, 400, noSuch(id)]);
    }
    expect(await storedMarks()).toEqual([['mark', 'post', 1]]);
  });

  test('is written in lists', async () => {
    const { client } = started;
    const item = (name: string, subjectId: number): object => ({ name, subjectType: 'post', subjectId });
    const list = '/rest/v1/pr/prmark/';
    const made = await client.post(list, [item('a', 1), item('b', 97)]);
    expect(made.status).toBe(201);
    const [a, b] = made.json as readonly { readonly id: number }[];
    const refused = await client.post(list, [item('c', 2), item('d', 4)]);
    expect([refused.status, refused.json]).toEqual([400, [{}, noSuch(4)]]);
    const changes = (second: number): object[] => [
      { id: a?.id, subjectId: 3 },
      { id: b?.id, subjectId: second },
    ];
    const denied = await client.patch(list, changes(6));
    expect([denied.status, denied.json]).toEqual([400, [{}, noSuch(6)]]);
    expect(await storedMarks()).toEqual([
      ['a', 'post', 1],
      ['b', 'post', 97],
    ]);
    expect((await client.patch(list, changes(96))).status).toBe(200);
    const upserted = await client.post(`${list}?upsert=true`, [item('a', 2), item('e', 95)]);
    expect([upserted.status, await storedMarks()]).toEqual([
      201,
      [
        ['a', 'post', 2],
        ['b', 'post', 96],
        ['e', 'post', 95],
      ],
    ]);
    const none = await client.post(`${list}?upsert=true`, [item('a', 5)]);
    expect([none.status, none.json]).toEqual([400, [noSuch(5)]]);
    const nested = await client.get('/rest/v1/pr/prpost/2/marks/');
    expect((nested.json as readonly { name: string }[]).map(({ name }) => name)).toEqual(['a']);
  });

  test('is not written by the relations', async () => {
    const { client } = started;
    const made = await client.post('/rest/v1/pr/prmark/', {
      name: 'mark',
      subjectType: 'post',
      post: 2,
      photo: 3,
    });
    expect([made.status, made.json]).toMatchObject([201, { subjectId: null, post: null, photo: null }]);
    const url = `/rest/v1/pr/prmark/${(made.json as { id: number }).id}/`;
    expect((await client.patch(url, { post: 2, subjectId: 3 })).json).toMatchObject({ subjectId: 3 });
    expect((await client.patch(url, { photo: null })).json).toMatchObject({ subjectId: 3 });
  });

  test('is set by the URL of a through object, and written in it', async () => {
    const { client, dataSource } = started;
    await dataSource.manager.save(PrTag, [{ id: 7 }, { id: 8 }]);
    const list = '/rest/v1/pr/prpost/2/tags/';
    const denied = await client.post(list, { tag: 7, originId: 4 });
    expect([denied.status, denied.json]).toEqual([
      400,
      { originId: ['Invalid pk "4" - object does not exist.'] },
    ]);
    const made = await client.post(list, { tag: 7, subjectId: 1, originId: 92 });
    expect([made.status, made.json]).toMatchObject([201, { tag: 7, subjectId: 2, originId: 92 }]);
    const url = `${list}${(made.json as { id: number }).id}/`;
    const changed = await client.patch(url, { tag: 8, subjectId: 1, originId: 3 });
    expect([changed.status, changed.json]).toMatchObject([200, { tag: 8, subjectId: 2, originId: 3 }]);
    expect((await client.patch(url, { originId: 6 })).status).toBe(400);
    const own = await client.post('/rest/v1/pr/prtagging/', { tag: 7, subjectId: 91 });
    expect([own.status, own.json]).toMatchObject([201, { tag: 7, subjectId: 91 }]);
  });

  test('is written in an embedded object', async () => {
    const { client } = started;
    const made = await client.post('/rest/v1/pr/prnested/', { about: { subjectId: 94 } });
    expect([made.status, made.json]).toMatchObject([201, { about: { subjectId: 94 } }]);
    const url = `/rest/v1/pr/prnested/${(made.json as { id: number }).id}/`;
    const changed = await client.patch(url, { about: { subjectId: 2 } });
    expect([changed.status, changed.json]).toMatchObject([200, { about: { subjectId: 2 } }]);
    const denied = await client.patch(url, { about: { subjectId: 4 } });
    expect([denied.status, denied.json]).toEqual([400, { about: noSuch(4) }]);
  });

  test('is set by hooks, which takes precedence', async () => {
    const { client } = started;
    const list = '/rest/v1/pr/prhooked/';
    expect((await client.post(list, {})).json).toEqual({ subjectId: ['This field is required.'] });
    for (const [name, subjectId] of [
      ['', 93],
      ['plain', 71],
      ['post', 1],
    ] as const) {
      const made = await client.post(list, { name, subjectId: 93 });
      expect([name, made.status, made.json]).toMatchObject([name, 201, { subjectId }]);
      const url = `${list}${(made.json as { id: number }).id}/`;
      const before = await client.patch(url, { name: '', subjectId: 2 });
      expect([before.status, before.json]).toMatchObject([200, { subjectId: 2 }]);
      const after = await client.patch(url, { name, subjectId: 93 });
      expect([name, after.status, after.json]).toMatchObject([name, 200, { subjectId }]);
    }
    expect(await started.dataSource.manager.count(PrPhoto)).toBe(5);
  });

  test('is written by relations that agree where bodies do not write the column, or no property has it', async () => {
    const { client } = started;
    for (const model of ['prclosed', 'prbare']) {
      const list = `/rest/v1/pr/${model}/`;
      const made = await client.post(list, { subjectId: 2, post: 1, photo: 1 });
      expect([model, made.status, made.json]).toMatchObject([model, 201, { post: 1, photo: 1 }]);
      const url = `${list}${(made.json as { id: number }).id}/`;
      for (const [body, status] of [
        [{ post: 2, photo: 3 }, 400],
        [{ photo: 4 }, 400],
        [{ post: 99 }, 400],
        [{ post: null, photo: null }, 200],
        [{ post: 1 }, 200],
      ] as const)
        expect([model, body, (await client.patch(url, body)).status]).toEqual([model, body, status]);
      expect((await client.get(url)).json).toMatchObject({ post: 1, photo: 1 });
    }
  });

  test('is named in a warning at the start', () => {
    const told = (relations: string, name: string, path = 'subjectId'): string =>
      `${relations} have the same column and no foreign key constraint: they are read-only, and bodies write ${name}.${path}.` +
      ` To write the relations, which then must agree, list '${path}' in readOnly.`;
    expect(warnings.filter((each) => each.includes('have the same column'))).toEqual([
      told('PrMark.post, PrMark.photo', 'PrMark'),
      told('PrNested.about.post, PrNested.about.photo', 'PrNested', 'about.subjectId'),
      told('PrHooked.post, PrHooked.photo', 'PrHooked'),
      told('PrTagging.post, PrTagging.photo', 'PrTagging'),
      told('PrTagging.from, PrTagging.of', 'PrTagging', 'originId'),
    ]);
  });
});
