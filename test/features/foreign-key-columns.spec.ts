// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  CsvRenderer,
  IdempotencyRecord,
  Restify,
  RestifyController,
  ResourceController,
} from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('tw')
@Entity('tw_user')
class TwUser {
  @PrimaryColumn('int') id: number;
  @Column({ length: 10, unique: true }) code: string;
  @ManyToMany(() => TwClub, (club) => club.members)
  @JoinTable({
    name: 'tw_member',
    joinColumn: { name: 'userId' },
    inverseJoinColumn: { name: 'clubId' },
    synchronize: false,
  })
  clubs: Relation<TwClub[]>;
}

@Restify('tw')
@Entity('tw_club')
class TwClub {
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => TwUser, (user) => user.clubs) members: Relation<TwUser[]>;
}

/** Nobody registers it. */
@Entity('tw_hidden')
class TwHidden {
  @PrimaryColumn('int') id: number;
}

class TwPlace {
  @Column({ length: 10, default: '' }) room: string;
  @Column('int', { nullable: true, name: 'placeKeeperId' }) keeperId: number | null;
  @ManyToOne(() => TwUser, { nullable: true })
  @JoinColumn({ name: 'placeKeeperId' })
  keeper: Relation<TwUser> | null;
}

@Restify({
  app: 'tw',
  bulk: { upsert: ['title'] },
  idempotency: true,
  conditional: true,
  strict: true,
  renderers: [new CsvRenderer()],
})
@Entity('tw_task')
class TwTask {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @Column('int') userId: number;
  @ManyToOne(() => TwUser) @JoinColumn({ name: 'userId' }) user: Relation<TwUser>;
  @Column('int', { nullable: true }) reviewerId: number | null;
  @ManyToOne(() => TwUser) @JoinColumn({ name: 'reviewerId' }) reviewer: Relation<TwUser> | null;
  @Column({ length: 10, nullable: true }) ownerCode: string | null;
  @ManyToOne(() => TwUser)
  @JoinColumn({ name: 'ownerCode', referencedColumnName: 'code' })
  owner: Relation<TwUser> | null;
  @Column('int', { nullable: true }) hiddenId: number | null;
  @ManyToOne(() => TwHidden) @JoinColumn({ name: 'hiddenId' }) hidden: Relation<TwHidden> | null;
}

/** Its rows are written through TypeORM, for its embedded object. */
@Restify('tw')
@Entity('tw_visit')
class TwVisit {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') userId: number;
  @ManyToOne(() => TwUser) @JoinColumn({ name: 'userId' }) user: Relation<TwUser>;
  @Column(() => TwPlace) place: TwPlace;
}

@Restify({ app: 'tw', exclude: ['userId'] })
@Entity('tw_by_relation')
class TwByRelation {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') userId: number;
  @ManyToOne(() => TwUser) @JoinColumn({ name: 'userId' }) user: Relation<TwUser>;
}

@Restify({ app: 'tw', exclude: ['user'] })
@Entity('tw_by_column')
class TwByColumn {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') userId: number;
  @ManyToOne(() => TwUser) @JoinColumn({ name: 'userId' }) user: Relation<TwUser>;
}

@Restify({ app: 'tw', readOnly: ['userId'], optional: ['reviewerId'] })
@Entity('tw_read_only')
class TwReadOnly {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) userId: number | null;
  @ManyToOne(() => TwUser) @JoinColumn({ name: 'userId' }) user: Relation<TwUser> | null;
  @Column('int', { default: 1 }) reviewerId: number;
  @ManyToOne(() => TwUser) @JoinColumn({ name: 'reviewerId' }) reviewer: Relation<TwUser>;
}

/** The key is a foreign key. */
@Restify({ app: 'tw', bulk: true })
@Entity('tw_profile')
class TwProfile {
  @PrimaryColumn('int') userId: number;
  @OneToOne(() => TwUser) @JoinColumn({ name: 'userId' }) user: Relation<TwUser>;
  @Column({ length: 20, default: '' }) text: string;
}

@Restify('tw')
@Entity('tw_member')
class TwMember {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') userId: number;
  @Column('int') clubId: number;
  @Column({ length: 10, default: '' }) role: string;
  @ManyToOne(() => TwUser) @JoinColumn({ name: 'userId' }) user: Relation<TwUser>;
  @ManyToOne(() => TwClub) @JoinColumn({ name: 'clubId' }) club: Relation<TwClub>;
}

@Restify('tw')
@Entity('tw_note')
class TwNote {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) text: string;
  @Column('int') userId: number;
  @ManyToOne(() => TwUser) @JoinColumn({ name: 'userId' }) user: Relation<TwUser>;
}

@Restify('tw')
@Tree('closure-table')
@Entity('tw_node')
class TwNode {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) parentId: number | null;
  @TreeParent() @JoinColumn({ name: 'parentId' }) parent: Relation<TwNode> | null;
  @TreeChildren() children: Relation<TwNode[]>;
}

@RestifyController(TwNote)
class TwNotes extends ResourceController<TwNote> {
  override valuesOnCreate(): { user: number } {
    return { user: 1 };
  }
}

const TW = '/rest/v1/tw';
const TASKS = `${TW}/twtask/`;

interface Shown {
  readonly id: number;
  readonly title: string;
  readonly userId: number;
  readonly user: number;
}

function seen({ status, json }: Answer): readonly [number, unknown] {
  return [status, json];
}

function none(key: string | number): string[] {
  return [`Invalid pk "${key}" - object does not exist.`];
}

function differ(one: string, other: string): Record<string, string[]> {
  return {
    [one]: [`This field and "${other}" name different objects.`],
    [other]: [`This field and "${one}" name different objects.`],
  };
}

onEachDatabase('the plain column of a foreign key beside its relation', (database) => {
  let started: StartedApp;
  let task: Shown;
  let url: string;
  beforeAll(async () => {
    started = await startApp({
      entities: [
        TwUser,
        TwClub,
        TwHidden,
        TwTask,
        TwVisit,
        TwByRelation,
        TwByColumn,
        TwReadOnly,
        TwProfile,
        TwMember,
        TwNote,
        TwNode,
        IdempotencyRecord,
      ],
      controllers: [TwNotes],
      database,
    });
    const { manager } = started.dataSource;
    await manager.insert(
      TwUser,
      [1, 2, 3].map((id) => ({ id, code: `c${id}` })),
    );
    await manager.insert(TwClub, [{ id: 1 }, { id: 2 }]);
    await manager.insert(TwHidden, [{ id: 5 }]);
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    await started.dataSource.manager.deleteAll(TwTask);
    task = (await started.client.post(TASKS, { title: 'first', user: 1, reviewer: 1, owner: 1, hiddenId: 5 }))
      .json as Shown;
    url = `${TASKS}${task.id}/`;
  });

  test('either name is written, and one is required', async () => {
    const { client } = started;
    expect(task).toEqual({
      id: task.id,
      title: 'first',
      userId: 1,
      reviewerId: 1,
      ownerCode: 'c1',
      hiddenId: 5,
      user: 1,
      reviewer: 1,
      owner: 1,
    });
    expect(await client.post(TASKS, { title: 'second', userId: '2', ownerCode: 'c3' })).toMatchObject({
      status: 201,
      json: { userId: 2, user: 2, reviewerId: null, reviewer: null, ownerCode: 'c3', owner: 3 },
    });
    expect(seen(await client.post(TASKS, { title: 'none' }))).toEqual([
      400,
      { user: ['This field is required.'] },
    ]);
    expect(
      seen(await client.post(TASKS, { title: 'none', userId: null, reviewerId: 'x', ownerCode: 'c9' })),
    ).toEqual([
      400,
      {
        userId: ['This field may not be null.'],
        reviewerId: ['A valid integer is required.'],
        ownerCode: none('c9'),
      },
    ]);
    expect(seen(await client.put(url, { title: 'first' }))).toEqual([
      400,
      { user: ['This field is required.'] },
    ]);
    expect(await client.put(url, { title: 'first', userId: 2 })).toMatchObject({
      status: 200,
      json: { userId: 2, user: 2, reviewerId: 1 },
    });
    expect(await client.patch(url, { reviewerId: null, ownerCode: null })).toMatchObject({
      status: 200,
      json: { reviewer: null, reviewerId: null, owner: null, ownerCode: null },
    });
    for (const method of ['PUT', 'PATCH'])
      expect(seen(await client.send(method, url, { body: { title: 'first', userId: 9 } }))).toEqual([
        400,
        { userId: none(9) },
      ]);
  });

  test('an object that was read is put back whole with one of both changed', async () => {
    const { client } = started;
    for (const [changed, shown] of [
      [{ user: 2 }, { user: 2, userId: 2 }],
      [{ userId: 3 }, { user: 3, userId: 3 }],
      [{ reviewer: null }, { reviewer: null, reviewerId: null }],
      [{ reviewerId: 2 }, { reviewer: 2, reviewerId: 2 }],
      [{ reviewerId: null }, { reviewer: null, reviewerId: null }],
      [
        { reviewer: 3, userId: 1 },
        { reviewer: 3, reviewerId: 3, user: 1, userId: 1 },
      ],
      [{ owner: 2 }, { owner: 2, ownerCode: 'c2' }],
      [{ ownerCode: 'c3' }, { owner: 3, ownerCode: 'c3' }],
      [{ owner: null }, { owner: null, ownerCode: null }],
      [{ ownerCode: 'c1' }, { owner: 1, ownerCode: 'c1' }],
      [{ title: 'renamed' }, { owner: 1, ownerCode: 'c1', title: 'renamed' }],
    ] as const) {
      const before = (await client.get(url)).json as Shown;
      for (const method of ['PUT', 'PATCH']) {
        await started.dataSource.manager.update(TwTask, task.id, {
          userId: before.userId,
          reviewerId: (before as unknown as TwTask).reviewerId,
          ownerCode: (before as unknown as TwTask).ownerCode,
        });
        expect([
          method,
          changed,
          ...seen(await client.send(method, url, { body: { ...before, ...changed } })),
        ]).toEqual([method, changed, 200, { ...before, ...shown }]);
      }
    }
  });

  test('both that mean different rows are an error, unless one is what is stored', async () => {
    const { client } = started;
    for (const body of [
      { user: 2, userId: 3 },
      { user: 1, userId: 2 },
      { userId: 1, user: 2 },
    ])
      expect(seen(await client.post(TASKS, { title: 'second', ...body }))).toEqual([
        400,
        differ('user', 'userId'),
      ]);
    for (const method of ['PUT', 'PATCH'])
      expect(
        seen(
          await client.send(method, url, {
            body: { ...task, user: 2, userId: 3, reviewer: null, reviewerId: 2, owner: 2, ownerCode: 'c3' },
          }),
        ),
      ).toEqual([
        400,
        { ...differ('user', 'userId'), ...differ('reviewer', 'reviewerId'), ...differ('owner', 'ownerCode') },
      ]);
    expect(seen(await client.post(TASKS, { title: 'x', user: 1, owner: 2, ownerCode: 'c3' }))).toEqual([
      400,
      differ('owner', 'ownerCode'),
    ]);
    // The error is of the name that is taken.
    expect(seen(await client.patch(url, { user: 9, userId: 1 }))).toEqual([400, { user: none(9) }]);
    expect(seen(await client.patch(url, { user: 1, userId: 9 }))).toEqual([400, { userId: none(9) }]);
    expect(seen(await client.patch(url, { owner: 9, ownerCode: 'c2' }))).toEqual([400, { owner: none(9) }]);
    // One value by two names.
    expect(
      await client.post(TASKS, { title: 'same', user: 2, userId: 2, owner: 3, ownerCode: 'c3' }),
    ).toMatchObject({ status: 201, json: { user: 2, userId: 2, owner: 3, ownerCode: 'c3' } });
    expect(await client.patch(url, { user: 2, userId: 2, owner: 3, ownerCode: 'c3' })).toMatchObject({
      status: 200,
      json: { user: 2, userId: 2, owner: 3, ownerCode: 'c3' },
    });
  });

  test('a value that cannot be read is an error of the name that was sent with it', async () => {
    const { client } = started;
    const visits = `${TW}/twvisit/`;
    const visit = (await client.post(visits, { user: 1, place: {} })).json as Shown;
    const wrong = { userId: ['A valid integer is required.'] };
    const incorrect = { user: ['Incorrect type. Expected pk value, received str.'] };
    for (const [list, of, rest] of [
      [TASKS, url, { title: 'odd' }],
      [visits, `${visits}${String(visit.id)}/`, { place: {} }],
    ] as const)
      for (const [method, at] of [
        ['POST', list],
        ['PATCH', of],
        ['PUT', of],
      ] as const) {
        const send = async (body: object): Promise<unknown> =>
          seen(await client.send(method, at, { body: { ...rest, ...body } }));
        expect(await send({ user: 2, userId: 'x' })).toEqual([400, wrong]);
        expect(await send({ user: 'x', userId: 2 })).toEqual([400, incorrect]);
        expect(await send({ user: 'x', userId: 'x' })).toEqual([400, { ...incorrect, ...wrong }]);
        expect(await send({ user: 9, userId: 'x' })).toEqual([400, { user: none(9), ...wrong }]);
      }
  });

  test('in lists, upserts, requests that come twice, and conditional requests', async () => {
    const { client } = started;
    expect(
      seen(
        await client.post(TASKS, [
          { title: 'a', userId: 2 },
          { title: 'b', user: 2, userId: 3 },
        ]),
      ),
    ).toEqual([400, [{}, differ('user', 'userId')]]);
    expect(
      await client.post(TASKS, [
        { title: 'a', userId: 2 },
        { title: 'b', user: 3, userId: 3 },
      ]),
    ).toMatchObject({ status: 201, json: [{ user: 2 }, { userId: 3 }] });
    expect(await client.patch(TASKS, [{ ...task, user: 3 }])).toMatchObject({
      status: 200,
      json: [{ user: 3, userId: 3 }],
    });
    // Of each row that a filter names, what is stored there counts.
    expect(await client.patch(`${TASKS}?title=a`, { user: 2, userId: 1 })).toMatchObject({
      status: 200,
      json: [{ user: 1, userId: 1 }],
    });
    expect(
      await client.post(`${TASKS}?upsert=true`, [
        { title: 'a', user: 1, userId: 3 },
        { title: 'new', userId: 2 },
      ]),
    ).toMatchObject({ json: [{ user: 3 }, { user: 2 }] });
    const headers = { 'idempotency-key': `"${database.name}-1"` };
    const made = await client.post(TASKS, { title: 'once', userId: 2 }, { headers });
    const again = await client.post(TASKS, { title: 'once', userId: 2 }, { headers });
    expect([made.status, again.status, again.json]).toEqual([201, 201, made.json]);
    const etag = String((await client.get(url)).headers.etag);
    expect((await client.put(url, { ...task, userId: 3 }, { headers: { 'if-match': '"old"' } })).status).toBe(
      412,
    );
    expect(
      await client.put(url, { ...task, user: 3, userId: 2 }, { headers: { 'if-match': etag } }),
    ).toMatchObject({ status: 200, json: { user: 2 } });
    expect((await client.patch(`${TASKS}999999/`, { user: 1, userId: 2 })).status).toBe(404);
  });

  test('both are filtered, ordered and rendered by', async () => {
    const { client } = started;
    await client.post(TASKS, { title: 'second', userId: 2 });
    for (const name of ['user', 'userId']) {
      expect((await client.get(`${TASKS}?${name}=2`)).json).toMatchObject([{ title: 'second' }]);
      expect((await client.get(`${TASKS}?ordering=-${name}`)).json).toMatchObject([
        { title: 'second' },
        { title: 'first' },
      ]);
    }
    expect((await client.get(`${TASKS}?ownerCode=c1`)).json).toMatchObject([{ title: 'first' }]);
    expect((await client.get(`${TASKS}?user=2`, { headers: { accept: 'text/csv' } })).text).toContain(
      'id,title,userId,reviewerId,ownerCode,hiddenId,user,reviewer,owner',
    );
  });

  test('in an embedded object, and of rows that TypeORM writes', async () => {
    const { client } = started;
    const made = await client.post(`${TW}/twvisit/`, { userId: 1, place: { room: 'a', keeperId: 2 } });
    expect(made).toMatchObject({
      status: 201,
      json: { user: 1, place: { room: 'a', keeperId: 2, keeper: 2 } },
    });
    const visit = made.json as { id: number; place: object };
    const at = `${TW}/twvisit/${visit.id}/`;
    expect(await client.put(at, { ...visit, user: 2, place: { ...visit.place, keeper: 3 } })).toMatchObject({
      status: 200,
      json: { user: 2, userId: 2, place: { keeper: 3, keeperId: 3 } },
    });
    expect(await client.put(at, { ...visit, userId: 2, place: { keeper: 3, keeperId: null } })).toMatchObject(
      {
        status: 200,
        json: { user: 1, userId: 1, place: { keeper: null, keeperId: null } },
      },
    );
    expect(seen(await client.patch(at, { place: { keeper: 1, keeperId: 2 } }))).toEqual([
      400,
      { place: differ('keeper', 'keeperId') },
    ]);
    expect(seen(await client.post(`${TW}/twvisit/`, { user: 1, place: { keeper: 1, keeperId: 2 } }))).toEqual(
      [400, { place: differ('keeper', 'keeperId') }],
    );
  });

  test('one of both is left out by exclude, and the other one is written', async () => {
    const { client } = started;
    expect(await client.post(`${TW}/twbyrelation/`, { user: 1 })).toMatchObject({
      status: 201,
      json: { id: expect.any(Number), user: 1 },
    });
    expect(seen(await client.post(`${TW}/twbyrelation/`, { userId: 1 }))).toEqual([
      400,
      { user: ['This field is required.'] },
    ]);
    expect(await client.post(`${TW}/twbycolumn/`, { userId: 1 })).toMatchObject({
      status: 201,
      json: { id: expect.any(Number), userId: 1 },
    });
    expect(seen(await client.post(`${TW}/twbycolumn/`, { user: 1 }))).toEqual([
      400,
      { userId: ['This field is required.'] },
    ]);
    const { POST: byColumn } = ((await client.send('OPTIONS', `${TW}/twbycolumn/`)).json as Options).actions;
    expect(byColumn).toMatchObject({ userId: { required: true, read_only: false } });
    // Not said of the column that it is read-only by the model: it is ignored.
    expect(await client.post(`${TW}/twreadonly/`, { userId: 1, reviewerId: 2 })).toMatchObject({
      status: 201,
      json: { userId: null, user: null, reviewerId: 2 },
    });
  });

  test('of a key that is a foreign key', async () => {
    const { client } = started;
    expect(await client.post(`${TW}/twprofile/`, { userId: 1 })).toMatchObject({
      status: 201,
      headers: { location: expect.stringMatching(/twprofile\/1\/$/) },
    });
    expect(await client.patch(`${TW}/twprofile/1/`, { userId: 2, text: 'a' })).toMatchObject({
      status: 200,
      json: { userId: 1, user: 1, text: 'a' },
    });
    expect(await client.patch(`${TW}/twprofile/`, [{ userId: 1, user: 2, text: 'b' }])).toMatchObject({
      status: 200,
      json: [{ userId: 1, text: 'b' }],
    });
    // Told under the name that was sent.
    expect(seen(await client.post(`${TW}/twprofile/`, { userId: 1 }))).toEqual([
      400,
      { userId: ['This field must be unique.'] },
    ]);
    expect(seen(await client.post(`${TW}/twprofile/`, { user: 1 }))).toEqual([
      400,
      { user: ['This field must be unique.'] },
    ]);
  });

  test('of through objects, whose parent is in the URL', async () => {
    const { client } = started;
    const list = `${TW}/twuser/1/clubs/`;
    expect(await client.post(list, { clubId: 1, userId: 2 })).toMatchObject({
      status: 201,
      json: { userId: 1, user: 1, clubId: 1, club: 1 },
    });
    const made = (await client.post(`${TW}/twclub/1/members/`, { userId: 3, club: 2 })).json as TwMember;
    expect(made).toMatchObject({ userId: 3, user: 3, clubId: 1, club: 1 });
    expect(seen(await client.post(list, {}))).toEqual([400, { club: ['This field is required.'] }]);
    expect(seen(await client.post(list, { clubId: 9 }))).toEqual([400, { clubId: none(9) }]);
    expect(seen(await client.post(list, { club: 1, clubId: 2 }))).toEqual([400, differ('club', 'clubId')]);
    expect(await client.put(`${TW}/twuser/3/clubs/${made.id}/`, { ...made, clubId: 2 })).toMatchObject({
      status: 200,
      json: { userId: 3, clubId: 2, club: 2 },
    });
    const { POST } = ((await client.send('OPTIONS', list)).json as Options).actions;
    expect(POST).toMatchObject({
      user: { read_only: true },
      userId: { read_only: true },
      club: { required: true },
      clubId: { read_only: true, required: false },
    });
  });

  test('what the application fills wins over both', async () => {
    const { client } = started;
    for (const body of [{}, { user: 2 }, { userId: 2 }, { user: 2, userId: 3 }])
      expect(await client.post(`${TW}/twnote/`, { text: 'a', ...body })).toMatchObject({
        status: 201,
        json: { user: 1, userId: 1 },
      });
  });

  test('the column of a relation to a model that is not served is a column like any other', async () => {
    const { client } = started;
    expect(await client.patch(url, { hiddenId: null })).toMatchObject({
      status: 200,
      json: { hiddenId: null },
    });
    expect(seen(await client.patch(url, { hiddenId: 6 }))).toEqual([400, { hiddenId: none(6) }]);
  });

  test('of the parent in a tree', async () => {
    const { client } = started;
    const url = `${TW}/twnode/`;
    const [a, b, c] = await Promise.all(
      [1, 2, 3].map(async () => ((await client.post(url, {})).json as TwNode).id),
    );
    await client.patch(`${url}${b}/`, { parentId: a });
    await client.patch(`${url}${c}/`, { parentId: b });
    const below = await started.dataSource.getTreeRepository(TwNode).findDescendants({ id: a } as TwNode);
    expect(new Set(below.map(({ id }) => id))).toEqual(new Set([a, b, c]));
    expect(seen(await client.patch(`${url}${a}/`, { parentId: c }))).toEqual([
      400,
      { parentId: ['An object cannot stand below itself.'] },
    ]);
    expect(await client.put(`${url}${b}/`, { parent: a, parentId: null })).toMatchObject({
      status: 200,
      json: { parent: null, parentId: null },
    });
    expect(await started.dataSource.getTreeRepository(TwNode).countDescendants({ id: a } as TwNode)).toBe(1);
  });

  test('is read-only as OPTIONS describe it, and its relation is required', async () => {
    const { POST, PUT } = ((await started.client.send('OPTIONS', TASKS)).json as Options).actions;
    expect(PUT).toBeUndefined();
    expect(POST).toMatchObject({
      user: { required: true, read_only: false },
      userId: { required: false, read_only: true },
      reviewer: { required: false, read_only: false },
      reviewerId: { required: false, read_only: true },
      hiddenId: { required: false, read_only: false },
    });
  });
});

interface Options {
  readonly actions: Readonly<Record<string, unknown>>;
}
