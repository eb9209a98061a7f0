// @tags db nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  allow,
  basic,
  CsvRenderer,
  deny,
  IdempotencyRecord,
  InvalidInput,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type {
  AccessContext,
  CommittedWrite,
  Denial,
  Grant,
  Permission,
  Write,
  WriteHooks,
} from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({
  app: 'blog',
  relatedKeys: ['tags'],
  filterFields: ['tags'],
  shape: true,
  expandable: ['tags'],
  conditional: true,
  idempotency: true,
  returnDeleted: true,
  bulk: { upsert: ['code'] },
  renderers: [new CsvRenderer()],
})
@Entity('keys_post')
class Post {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20, unique: true }) code: string;
  @Column({ length: 20, default: '' }) title: string;
  @VersionColumn() version: number;
  @UpdateDateColumn({ precision: 3 }) changed: Date;
  @ManyToMany(() => Tag, (tag) => tag.posts) @JoinTable({ name: 'keys_post_tag' }) tags: Relation<Tag[]>;
}

@Restify({ app: 'blog', relatedKeys: ['posts'], expandable: ['posts.post'] })
@Entity('keys_tag')
class Tag {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20 }) name: string;
  @DeleteDateColumn() gone: Date | null;
  @ManyToMany(() => Post, (post) => post.tags) posts: Relation<Post[]>;
}

/** Refers to posts, whose keys are part of what it expands. */
@Restify({ app: 'blog', expandable: ['post'] })
@Entity('keys_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Post, { nullable: false, onDelete: 'CASCADE' }) post: Relation<Post>;
}

@Restify({ app: 'blog', relatedKeys: ['friends', 'friendOf'] })
@Entity('keys_person')
class Person {
  @PrimaryColumn({ length: 10 }) name: string;
  @ManyToMany(() => Person, (person) => person.friendOf)
  @JoinTable({ name: 'keys_friend' })
  friends: Relation<Person[]>;
  @ManyToMany(() => Person, (person) => person.friends) friendOf: Relation<Person[]>;
}

@Restify({ app: 'blog', relatedKeys: ['marks'] })
@Entity('keys_cell')
class Cell {
  @PrimaryColumn({ length: 10 }) sheet: string;
  @PrimaryColumn({ type: 'int' }) line: number;
  @ManyToMany(() => Mark, (mark) => mark.cells) @JoinTable({ name: 'keys_cell_mark' }) marks: Relation<
    Mark[]
  >;
}

@Restify({ app: 'blog', relatedKeys: ['cells'] })
@Entity('keys_mark')
class Mark {
  @PrimaryColumn({ type: 'bigint' }) id: string;
  @ManyToMany(() => Cell, (cell) => cell.marks) cells: Relation<Cell[]>;
}

@Restify({ app: 'blog', relatedKeys: ['users'] })
@Entity('keys_team')
class Team {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20 }) name: string;
  @ManyToMany(() => User)
  @JoinTable({
    name: 'keys_membership',
    joinColumn: { name: 'teamId' },
    inverseJoinColumn: { name: 'userId' },
    synchronize: false,
  })
  users: Relation<User[]>;
}

@Restify({ app: 'blog' })
@Entity('keys_user')
class User {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20 }) name: string;
}

@Restify({ app: 'blog' })
@Entity('keys_membership')
@Unique(['team', 'user'])
class Membership {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Team, { nullable: false, onDelete: 'CASCADE' }) team: Relation<Team>;
  @ManyToOne(() => User, { nullable: false }) user: Relation<User>;
  @Column({ length: 20, default: 'member' }) role: string;
}

const told: string[] = [];
const committed: string[] = [];
/** The user whose pairs the hook refuses. */
let refused: number | undefined;

@RestifyController(Membership)
class MembershipController extends ResourceController<Membership> implements WriteHooks {
  override beforeWrite({ entity, operation }: Write<Membership>): void {
    told.push(`before ${operation} ${(entity.user as User | undefined)?.id ?? ''}`);
    if (operation === 'create') entity.role = 'hooked';
    if ((entity.user as User | undefined)?.id === refused) throw InvalidInput.of('user', 'Not this one.');
  }

  override afterWrite({ operation }: Write<Membership>): void {
    told.push(`after ${operation}`);
  }

  override afterCommit(writes: readonly CommittedWrite[]): void {
    committed.push(...writes.map(({ operation }) => `${operation} a pair`));
  }
}

@RestifyController(Team)
class TeamController extends ResourceController<Team> implements WriteHooks {
  override async beforeWrite({ operation, manager }: Write<Team>): Promise<void> {
    told.push(`before ${operation} of the team with ${await manager.count(Membership)}`);
  }

  override async afterWrite({ operation, manager }: Write<Team>): Promise<void> {
    told.push(`after ${operation} of the team with ${await manager.count(Membership)}`);
  }

  override afterCommit(writes: readonly CommittedWrite[]): void {
    committed.push(...writes.map(({ operation }) => `${operation} a team`));
  }
}

const POSTS = '/rest/v1/blog/post/';
const TAGS = '/rest/v1/blog/tag/';
const TEAMS = '/rest/v1/blog/team/';

onEachDatabase('related keys', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Post, Tag, Note, Person, Cell, Mark, Team, User, Membership, IdempotencyRecord],
      controllers: [MembershipController, TeamController],
      database,
    });
  });
  afterAll(() => started.close());

  beforeEach(async () => {
    told.length = 0;
    committed.length = 0;
    const { dataSource } = started;
    for (const table of ['keys_note', 'keys_post_tag', 'keys_membership', 'keys_friend', 'keys_cell_mark'])
      await dataSource.query(`DELETE FROM ${table}`);
    for (const entity of [Post, Tag, Person, Cell, Mark, Team, User])
      await dataSource.createQueryBuilder().delete().from(entity).execute();
    await dataSource.getRepository(Tag).insert([1, 2, 3, 10].map((id) => ({ id, name: `tag ${id}` })));
    await dataSource.getRepository(Post).insert([1, 2].map((id) => ({ id, code: `p${id}` })));
    await dataSource.getRepository(User).insert([1, 2, 3].map((id) => ({ id, name: `user ${id}` })));
    await dataSource.getRepository(Team).insert({ id: 1, name: 'team' });
  });

  const pairs = async (): Promise<string[]> => {
    const { dataSource } = started;
    const relation = dataSource.getMetadata(Post).findRelationWithPropertyPath('tags');
    if (!relation) throw new Error('Post has no tags');
    const [post = '', tag = ''] = [...relation.joinColumns, ...relation.inverseJoinColumns].map(
      ({ databaseName }) => dataSource.driver.escape(databaseName),
    );
    const found = await dataSource.query<{ a: number; b: number }[]>(
      `SELECT ${post} AS a, ${tag} AS b FROM keys_post_tag ORDER BY 1, 2`,
    );
    return found.map(({ a, b }) => `${a}-${b}`);
  };
  const tagsOf = async (id: number): Promise<unknown> =>
    ((await started.client.get(`${POSTS}${id}/`)).json as { tags?: unknown }).tags;

  describe('in a model', () => {
    test('are shown in the order of the key, in an object, a list, a page and CSV', async () => {
      const { client } = started;
      for (const tag of [10, 2]) await client.post(`${POSTS}1/tags/`, { tag });
      expect((await client.get(`${POSTS}1/?fields=id,tags`)).text).toBe('{"id":1,"tags":[2,10]}');
      expect((await client.get(`${POSTS}?fields=id,tags`)).text).toBe(
        '[{"id":1,"tags":[2,10]},{"id":2,"tags":[]}]',
      );
      expect((await client.get(`${POSTS}?omit=title,version,changed&tags=10`)).text).toBe(
        '[{"id":1,"code":"p1","tags":[2,10]}]',
      );
      const csv = await client.get(`${POSTS}?fields=id,tags&format=csv`);
      expect(csv.text).toBe('id,tags\r\n1,"[2,10]"\r\n2,[]\r\n');
      expect((await client.get(`${TAGS}10/`)).text).toBe('{"id":10,"name":"tag 10","gone":null,"posts":[1]}');
      expect((await client.get(`${POSTS}1/tags/`)).json).toHaveLength(2);
    });

    test('are expanded, and are part of expanded objects', async () => {
      const { client } = started;
      await client.patch(`${POSTS}1/`, { tags: [2] });
      expect((await client.get(`${POSTS}1/?fields=tags&expand=tags`)).json).toEqual({
        tags: [{ id: 2, post: 1, tag: 2 }],
      });
      await client.post('/rest/v1/blog/note/', { post: 1 });
      const [note] = (await client.get('/rest/v1/blog/note/?expand=post')).json as { post: object }[];
      expect(note?.post).toMatchObject({ id: 1, tags: [2] });
    });

    test('are created with a new object, each once', async () => {
      const { client } = started;
      const created = await client.post(POSTS, { id: 9, code: 'new', tags: [3, '1', 3] });
      expect(created).toMatchObject({ status: 201, json: { id: 9, code: 'new', tags: [1, 3] } });
      const { id } = created.json as { id: number };
      expect(await pairs()).toEqual([`${id}-1`, `${id}-3`]);
    });

    test('are set, changed and left as they are', async () => {
      const { client } = started;
      const send = async (method: 'PUT' | 'PATCH', body: object): Promise<unknown> => {
        const answer = await client.send(method, `${POSTS}1/`, { body });
        return (answer.json as { tags?: unknown }).tags ?? answer.json;
      };
      expect(await send('PATCH', { tags: [1, 2] })).toEqual([1, 2]);
      expect(await send('PATCH', { title: 'x' })).toEqual([1, 2]);
      expect(await send('PUT', { code: 'p1' })).toEqual([1, 2]);
      expect(await send('PUT', { code: 'p1', tags: [2, 3] })).toEqual([2, 3]);
      expect(await send('PATCH', { tags: { add: [1, 2], remove: [3, 10] } })).toEqual([1, 2]);
      expect(await send('PUT', { code: 'p1', tags: { remove: [1] } })).toEqual([2]);
      expect(await send('PATCH', { tags: {} })).toEqual([2]);
      expect(await send('PATCH', { tags: '/rest/v1/blog/post/1/tags/' })).toEqual([2]);
      expect(await send('PATCH', { tags: [] })).toEqual([]);
      expect(await pairs()).toEqual([]);
    });

    test('are sent back as they were read', async () => {
      const { client } = started;
      await client.patch(`${POSTS}1/`, { tags: [1, 2] });
      const { json } = await client.get(`${POSTS}1/`);
      expect((await client.put(`${POSTS}1/`, json)).json).toEqual(json);
      // Of a tag that has been deleted since.
      await client.delete(`${TAGS}2/`);
      expect(await client.put(`${POSTS}1/`, json)).toMatchObject({ status: 200, json: { tags: [1] } });
      expect(await pairs()).toEqual(['1-1', '1-2']);
    });

    test('of deleted objects are hidden, kept by a set, and shown once these are restored', async () => {
      const { client, dataSource } = started;
      await client.patch(`${POSTS}1/`, { tags: [1, 2] });
      await client.delete(`${TAGS}2/`);
      expect(await tagsOf(1)).toEqual([1]);
      expect((await client.patch(`${POSTS}1/`, { tags: [3] })).json).toMatchObject({ tags: [3] });
      expect((await client.patch(`${POSTS}1/`, { tags: { remove: [2] } })).json).toMatchObject({ tags: [3] });
      await dataSource.getRepository(Tag).restore(2);
      expect(await tagsOf(1)).toEqual([2, 3]);
      await client.delete(`${TAGS}10/`);
      expect(await client.patch(`${POSTS}1/`, { tags: [10] })).toMatchObject({
        status: 400,
        json: { tags: ['Item 0: Invalid pk "10" - object does not exist.'] },
      });
    });

    test.each<[unknown, unknown]>([
      [7, ['Expected a list of items but got type "int".']],
      ['1', ['Expected a list of items but got type "str".']],
      [null, ['This field may not be null.']],
      [[1, 'x', 99], ['Item 1: Incorrect type. Expected pk value, received str.']],
      [
        [1, 98, 99],
        [
          'Item 1: Invalid pk "98" - object does not exist.',
          'Item 2: Invalid pk "99" - object does not exist.',
        ],
      ],
      [{ add: [1], remove: [2, 1] }, { remove: ['Item 1: This key is also among those to add.'] }],
      [{ set: [1] }, { set: ['Unknown field.'] }],
      [{ add: 1 }, { add: ['Expected a list of items but got type "int".'] }],
      [{ add: [1, 98] }, { add: ['Item 1: Invalid pk "98" - object does not exist.'] }],
      [Array.from({ length: 1001 }, () => 1), ['Ensure this field has no more than 1000 elements.']],
    ])('are refused with the places of wrong ones (%#)', async (tags, expected) => {
      const { client } = started;
      await client.patch(`${POSTS}1/`, { tags: [2] });
      const long = 'x'.repeat(21);
      expect(await client.patch(`${POSTS}1/`, { tags, title: long })).toMatchObject({
        status: 400,
        json: { tags: expected, title: ['Ensure this field has no more than 20 characters.'] },
      });
      expect((await client.post(POSTS, { id: 9, code: 'new', title: long, tags })).json).toMatchObject({
        title: ['Ensure this field has no more than 20 characters.'],
      });
      expect(await pairs()).toEqual(['1-2']);
    });

    test('with add and remove are refused in a new object', async () => {
      expect(await started.client.post(POSTS, { id: 9, code: 'new', tags: { add: [1] } })).toMatchObject({
        status: 400,
        json: { tags: ['Expected a list of items but got type "dict".'] },
      });
    });

    test('change the version, the date and the entity tag of the object, which no date has', async () => {
      const { client } = started;
      const before = await client.get(`${POSTS}1/`);
      expect(before.headers['last-modified']).toBeUndefined();
      const set = await client.patch(
        `${POSTS}1/`,
        { tags: [1] },
        { headers: { 'If-Match': String(before.headers.etag) } },
      );
      expect(set).toMatchObject({ status: 200, json: { version: 2, tags: [1] } });
      const after = await client.get(`${POSTS}1/`);
      expect(after.headers.etag).toBe(set.headers.etag);
      expect((await client.patch(`${POSTS}1/`, { tags: [1] })).json).toMatchObject({ version: 2 });
      expect((await client.patch(`${POSTS}1/`, { tags: [2], title: 'both' })).json).toMatchObject({
        version: 3,
      });
      const stale = { headers: { 'If-Match': String(after.headers.etag) } };
      expect((await client.patch(`${POSTS}1/`, { tags: [3] }, stale)).status).toBe(412);
      expect(
        (await client.get(`${POSTS}1/`, { headers: { 'If-None-Match': String(after.headers.etag) } })).status,
      ).toBe(200);
    });

    test('written at their own URLs make an old entity tag stale', async () => {
      const { client } = started;
      await client.patch(`${POSTS}1/`, { tags: [1, 2] });
      const writes: (() => Promise<unknown>)[] = [
        () => client.post(`${POSTS}1/tags/`, { tag: 3 }),
        () => client.patch(`${POSTS}1/tags/3/`, { tag: 10 }),
        () => client.delete(`${POSTS}1/tags/10/`),
        () => client.delete(`${TAGS}2/posts/1/`),
        () => client.patch(`${TAGS}3/`, { posts: [1] }),
      ];
      for (const write of writes) {
        const { etag } = (await client.get(`${POSTS}1/`)).headers;
        await write();
        const stale = { headers: { 'If-Match': String(etag) } };
        expect((await client.patch(`${POSTS}1/`, { title: 'late' }, stale)).status).toBe(412);
      }
    });

    test('are those of each object in bulk writes and upserts', async () => {
      const { client } = started;
      const created = await client.post(POSTS, [
        { id: 11, code: 'a', tags: [1] },
        { id: 12, code: 'b', tags: [2, 3] },
      ]);
      expect(created).toMatchObject({ status: 201, json: [{ tags: [1] }, { tags: [2, 3] }] });
      const [a, b] = created.json as { id: number }[];
      const changed = await client.patch(POSTS, [
        { id: a?.id, tags: [10] },
        { id: b?.id, tags: { remove: [2] } },
      ]);
      expect(changed).toMatchObject({ status: 200, json: [{ tags: [10] }, { tags: [3] }] });
      expect(await client.patch(`${POSTS}?keys=${a?.id},${b?.id}`, { tags: { add: [1] } })).toMatchObject({
        status: 200,
        json: [{ tags: [1, 10] }, { tags: [1, 3] }],
      });
      expect(
        await client.post(`${POSTS}?upsert=true`, [
          { id: 17, code: 'a', tags: [2] },
          { id: 13, code: 'c', tags: [3] },
        ]),
      ).toMatchObject({ status: 201, json: [{ tags: [2] }, { tags: [3] }] });
      expect(
        await client.post(POSTS, [
          { id: 14, code: 'd', tags: [1] },
          { id: 15, code: 'e', tags: [1, 99] },
        ]),
      ).toMatchObject({
        status: 400,
        json: [{}, { tags: ['Item 1: Invalid pk "99" - object does not exist.'] }],
      });
    });

    test('are written once for an Idempotency-Key, and the replay shows those of now', async () => {
      const { client } = started;
      const headers = { 'Idempotency-Key': 'once' };
      const first = await client.post(POSTS, { id: 16, code: 'once', tags: [1] }, { headers });
      expect(first).toMatchObject({ status: 201, json: { tags: [1] } });
      const replayed = await client.post(POSTS, { id: 16, code: 'once', tags: [1] }, { headers });
      expect(replayed.headers['idempotency-replayed']).toBe('true');
      expect(replayed).toMatchObject({ status: 201, json: { tags: [1] } });
    });

    test('are part of a deleted object that is returned', async () => {
      const { client } = started;
      await client.patch(`${POSTS}1/`, { tags: [1] });
      expect(await client.delete(`${POSTS}1/`)).toMatchObject({ status: 200, json: { id: 1, tags: [1] } });
    });

    test('are written and read without HTTP', async () => {
      const resources = started.app.get(RestifyResources);
      const posts = resources.of(Post).as(null);
      expect(await posts.partialUpdate(1, { tags: [3] })).toMatchObject({ tags: [3] });
      expect(await posts.list()).toMatchObject([{ tags: [3] }, { tags: [] }]);
      const { dataSource } = started;
      await dataSource.transaction(async (manager) => {
        const joined = resources.of(Post).as(null, { manager });
        expect(await joined.partialUpdate(1, { tags: { add: [1] } })).toMatchObject({ tags: [1, 3] });
        expect(
          await joined.partialUpdate(1, { tags: [99] }).catch((error: unknown) => String(error)),
        ).toMatch('tags');
      });
      expect(await pairs()).toEqual(['1-1', '1-3']);
    });
  });

  test('of a relation of a model to itself are those of each side', async () => {
    const { client } = started;
    const people = '/rest/v1/blog/person/';
    for (const name of ['a', 'b', 'c']) await client.post(people, { name });
    expect((await client.patch(`${people}a/`, { friends: ['c', 'b', 'a'] })).json).toEqual({
      name: 'a',
      friends: ['a', 'b', 'c'],
      friendOf: ['a'],
    });
    expect((await client.patch(`${people}b/`, { friendOf: ['c'], friends: ['c'] })).json).toEqual({
      name: 'b',
      friends: ['c'],
      friendOf: ['c'],
    });
    expect((await client.get(`${people}a/`)).json).toEqual({
      name: 'a',
      friends: ['a', 'c'],
      friendOf: ['a'],
    });
  });

  test('may be composite, and those of an object with a composite key', async () => {
    const { client } = started;
    const [cells, marks] = ['/rest/v1/blog/cell/', '/rest/v1/blog/mark/'];
    for (const id of ['9007199254740993', '12', '5']) await client.post(marks, { id });
    for (const line of [10, 9]) await client.post(cells, { sheet: 'a b', line });
    expect((await client.patch(`${cells}a%20b,9/`, { marks: ['9007199254740993', 5] })).json).toEqual({
      sheet: 'a b',
      line: 9,
      marks: ['5', '9007199254740993'],
    });
    expect((await client.patch(`${marks}5/`, { cells: ['a%20b,10', 'a%20b,9'] })).json).toEqual({
      id: '5',
      cells: ['a%20b,9', 'a%20b,10'],
    });
    expect((await client.patch(`${marks}5/`, { cells: { remove: ['a%20b,9'] } })).json).toEqual({
      id: '5',
      cells: ['a%20b,10'],
    });
    expect(await client.patch(`${marks}5/`, { cells: ['a%20b,11'] })).toMatchObject({
      status: 400,
      json: { cells: ['Item 0: Invalid pk "a%20b,11" - object does not exist.'] },
    });
  });

  describe('with an entity on the join table', () => {
    test('keep the pairs that stay, with their own columns', async () => {
      const { client, dataSource } = started;
      const rows = dataSource.getRepository(Membership);
      const { identifiers } = await rows.insert({ team: { id: 1 }, user: { id: 1 }, role: 'chief' });
      expect((await client.patch(`${TEAMS}1/`, { users: [3, 1] })).json).toMatchObject({ users: [1, 3] });
      expect(await rows.find({ order: { id: 'ASC' }, select: { role: true, id: true } })).toEqual([
        expect.objectContaining({ ...identifiers[0], role: 'chief' }),
        expect.objectContaining({ role: 'hooked' }),
      ]);
    });

    test('are reported after the COMMIT, and a pair that fails undoes all of them', async () => {
      const { client } = started;
      const resources = started.app.get(RestifyResources);
      await client.patch(`${TEAMS}1/`, { users: [1, 2] });
      await resources.afterCommitEnded();
      expect(committed.sort()).toEqual(['create a pair', 'create a pair', 'partialUpdate a team']);
      committed.length = 0;
      // The hook of the pair refuses the second one.
      refused = 3;
      const failed = await client.patch(`${TEAMS}1/`, { name: 'other', users: [1, 3] });
      refused = undefined;
      expect(failed).toMatchObject({ status: 400, json: { users: ['Item 1: Not this one.'] } });
      await resources.afterCommitEnded();
      expect(committed).toEqual([]);
      expect((await client.get(`${TEAMS}1/`)).json).toEqual({ id: 1, name: 'team', users: [1, 2] });
    });

    test('run the hooks of the object and of each pair', async () => {
      const { client } = started;
      await client.patch(`${TEAMS}1/`, { users: [1, 2] });
      await client.patch(`${TEAMS}1/`, { users: [2, 3] });
      expect(told).toEqual([
        'before partialUpdate of the team with 0',
        'before create 1',
        'after create',
        'before create 2',
        'after create',
        'after partialUpdate of the team with 2',
        'before partialUpdate of the team with 2',
        'before destroy 1',
        'after destroy',
        'before create 3',
        'after create',
        'after partialUpdate of the team with 2',
      ]);
    });
  });
});

/** What a caller may do with pairs is in its name: `view`, `add` and `delete`, and `even` for related keys that are even. */
class PairRights implements Permission {
  decide({ actor, method }: AccessContext): Grant | Denial {
    const { name = '' } = (actor ?? {}) as { readonly name?: string };
    const right = { GET: 'view', POST: 'add' }[method] ?? 'delete';
    if (name.includes(`${right}-even`)) return allow({ rows: where('label', 'in', [2, 4]) });
    return name.includes(right) ? allow() : deny();
  }
}

class OddLabels implements Permission {
  decide({ actor, method }: AccessContext): Grant | Denial {
    const { name = '' } = (actor ?? {}) as { readonly name?: string };
    return method === 'GET' && name.includes('odd') ? allow({ rows: where('odd', true) }) : allow();
  }
}

@Restify({
  app: 'held',
  relatedKeys: ['labels'],
  through: { labels: { permissions: [PairRights] } },
  strict: 'writes',
})
@Entity('held_thing')
class Thing {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20, default: '' }) title: string;
  @ManyToMany(() => Label)
  @JoinTable({ name: 'held_pairs', inverseJoinColumn: { name: 'label' } })
  labels: Relation<Label[]>;
}

@Restify({ app: 'held', permissions: [OddLabels] })
@Entity('held_label')
class Label {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column() odd: boolean;
}

const THING = '/rest/v1/held/thing/1/';

onEachDatabase('rights to related keys', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Thing, Label],
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    const { dataSource } = started;
    await dataSource.getRepository(Label).insert([1, 2, 3, 4, 5].map((id) => ({ id, odd: id % 2 === 1 })));
    await dataSource.getRepository(Thing).insert({ id: 1 });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    const { dataSource } = started;
    await dataSource.query('DELETE FROM held_pairs');
    await dataSource.createQueryBuilder().relation(Thing, 'labels').of(1).add([1, 2]);
  });

  const as = (name: string): { headers: Record<string, string> } => ({
    headers: { Authorization: `Basic ${Buffer.from(`${name}:x`).toString('base64')}` },
  });
  const stored = async (): Promise<unknown> =>
    ((await started.client.get(THING, as('view'))).json as { labels: unknown }).labels;

  test.each([
    ['nobody', undefined],
    ['view', [1, 2]],
    ['view-even', [2]],
    ['view,odd', [1]],
    ['view-even,odd', []],
  ])('a caller with the permissions %s gets %j', async (name, labels) => {
    const { json } = await started.client.get(THING, as(name));
    expect(json).toEqual({ id: 1, title: '', ...(labels && { labels }) });
    const [first] = (await started.client.get('/rest/v1/held/thing/', as(name))).json as object[];
    expect(first).toEqual(json);
  });

  test.each<[string, unknown, number, unknown, readonly number[]]>([
    ['view,add,delete', [2, 3], 200, { labels: [2, 3] }, [2, 3]],
    ['view,add', [1, 2, 3], 400, { labels: ['You do not have permission to write this field.'] }, [1, 2]],
    ['view,delete', [], 400, { labels: ['You do not have permission to write this field.'] }, [1, 2]],
    ['add,delete', [], 400, { labels: ['Unknown field.'] }, [1, 2]],
    // A key that is sent back as it was read is no write.
    ['view', [2, 1], 200, { labels: [1, 2] }, [1, 2]],
    // Only pairs that the caller sees are removed.
    ['view-even,add,delete', [4], 200, { labels: [4] }, [1, 4]],
    ['view-even,add,delete', { remove: [1] }, 200, { labels: [2] }, [1, 2]],
    [
      'view-even,add,delete',
      { add: [1] },
      400,
      { labels: ['An object with these values exists already.'] },
      [1, 2],
    ],
    // Of those that it sees, it may delete some.
    ['view,add,delete-even', [3], 403, {}, [1, 2]],
    ['view,add,delete-even', [1, 3], 200, { labels: [1, 3] }, [1, 3]],
    ['view,add-even,delete', [1, 2, 3], 403, {}, [1, 2]],
    ['view,add-even,delete', [1, 2, 4], 200, { labels: [1, 2, 4] }, [1, 2, 4]],
    // The object of a pair that stays may be hidden, that of a new one not.
    ['view,add,delete,odd', [1, 2, 3], 200, { labels: [1, 3] }, [1, 2, 3]],
    ['view,add,delete,odd', [1], 200, { labels: [1] }, [1, 2]],
    [
      'view,add,delete,odd',
      [1, 4],
      400,
      { labels: ['Item 1: Invalid pk "4" - object does not exist.'] },
      [1, 2],
    ],
  ])('a caller with the rights %s sets %j: %i', async (name, labels, status, json, after) => {
    const answer = await started.client.patch(THING, { labels }, as(name));
    expect(answer).toMatchObject({ status, json });
    expect(await stored()).toEqual(after);
  });

  test('a new object needs the rights to view and to create pairs', async () => {
    const { client } = started;
    const things = '/rest/v1/held/thing/';
    expect(await client.post(things, { id: 2, labels: [1] }, as('view,add'))).toMatchObject({
      status: 201,
      json: { labels: [1] },
    });
    expect((await client.post(things, { id: 3, labels: [1] }, as('view,delete'))).status).toBe(400);
    expect((await client.post(things, { id: 4, labels: [1] }, as('view,add-even'))).status).toBe(403);
  });

  test('descriptions have the field where it is shown, and whether it can be written', async () => {
    const { client } = started;
    const described = async (name: string): Promise<unknown> => {
      const { json } = await client.send('OPTIONS', THING, as(name));
      const { actions, fields } = json as { actions: { PUT: object }; fields: object };
      return [(fields as { labels?: unknown }).labels, (actions.PUT as { labels?: unknown }).labels];
    };
    const field = { kind: 'keys', label: 'Labels', nullable: false };
    const action = { type: 'list', required: false, label: 'Labels' };
    expect(await described('nobody')).toEqual([undefined, undefined]);
    expect(await described('view')).toEqual([field, { ...action, read_only: true }]);
    expect(await described('view,add,delete')).toEqual([field, { ...action, read_only: false }]);
  });
});
