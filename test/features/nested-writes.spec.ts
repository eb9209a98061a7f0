// @tags db nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({
  app: 'desk',
  nested: ['comments', 'detail'],
  conditional: true,
  shape: true,
  expandable: ['comments', 'detail'],
  bulk: { upsert: ['code'] },
})
@Entity('nested_ticket')
class Ticket {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) code: string;
  @Column({ length: 20, default: '' }) title: string;
  @VersionColumn() version: number;
  @OneToMany(() => Comment, (comment) => comment.ticket) comments: Relation<Comment[]>;
  @OneToOne(() => Detail, (detail) => detail.ticket) detail: Relation<Detail> | null;
}

@Restify({ app: 'desk' })
@Entity('nested_comment')
class Comment {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) text: string;
  @Column({ type: 'int', default: 0 }) votes: number;
  @Column({ length: 10, nullable: true, unique: true, type: 'varchar' }) slug: string | null;
  @ManyToOne(() => Ticket, (ticket) => ticket.comments, { nullable: false, onDelete: 'CASCADE' })
  ticket: Relation<Ticket>;
}

@Restify({ app: 'desk' })
@Entity('nested_detail')
class Detail {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) text: string;
  @OneToOne(() => Ticket, (ticket) => ticket.detail, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn()
  ticket: Relation<Ticket>;
}

/** Folders below folders, and lines whose key is that of their parent and a number. */
@Restify({
  app: 'desk',
  nested: { children: { create: true }, lines: { create: true, update: true, delete: true } },
})
@Entity('nested_folder')
class Folder {
  @PrimaryColumn({ length: 10 }) name: string;
  @ManyToOne(() => Folder, (folder) => folder.children, { nullable: true }) parent: Relation<Folder> | null;
  @OneToMany(() => Folder, (folder) => folder.parent) children: Relation<Folder[]>;
  @OneToMany(() => Line, (line) => line.folder) lines: Relation<Line[]>;
}

@Restify({ app: 'desk' })
@Entity('nested_line')
class Line {
  @PrimaryColumn({ length: 10 }) folderName: string;
  @PrimaryColumn({ type: 'int' }) no: number;
  @Column({ length: 20, default: '' }) text: string;
  @DeleteDateColumn() gone: Date | null;
  @ManyToOne(() => Folder, (folder) => folder.lines, { nullable: false })
  @JoinColumn({ name: 'folderName' })
  folder: Relation<Folder>;
}

const TICKETS = '/rest/v1/desk/ticket/';
const COMMENTS = '/rest/v1/desk/comment/';
const FOLDERS = '/rest/v1/desk/folder/';

onEachDatabase('objects in bodies', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Ticket, Comment, Detail, Folder, Line], database });
  });
  afterAll(() => started.close());

  beforeEach(async () => {
    for (const entity of [Comment, Detail, Ticket, Line])
      await started.dataSource.createQueryBuilder().delete().from(entity).execute();
    await started.dataSource.createQueryBuilder().update(Folder).set({ parent: null }).execute();
    await started.dataSource.createQueryBuilder().delete().from(Folder).execute();
  });

  const comments = async (): Promise<string[]> => {
    const found = await started.dataSource
      .getRepository(Comment)
      .find({ relations: { ticket: true }, order: { id: 'ASC' } });
    return found.map(({ text, votes, ticket }) => `${ticket.code}: ${text} ${votes}`);
  };
  const idsOf = async (): Promise<number[]> =>
    (await started.dataSource.getRepository(Comment).find({ order: { id: 'ASC' } })).map(({ id }) => id);

  describe('of a new object', () => {
    test('are created with it', async () => {
      const { client } = started;
      const created = await client.post(TICKETS, {
        code: 'a',
        comments: [{ text: 'one' }, { text: 'two', votes: 3, ticket: 99 }],
        detail: { text: 'more' },
      });
      const { id, detail } = created.json as { id: number; detail: number };
      expect(created).toMatchObject({
        status: 201,
        json: { id, code: 'a', title: '', version: 1, comments: `${TICKETS}${id}/comments/` },
      });
      expect(await comments()).toEqual(['a: one 0', 'a: two 3']);
      expect((await client.get(`/rest/v1/desk/detail/${detail}/`)).json).toMatchObject({
        text: 'more',
        ticket: id,
      });
    });

    test('have their errors beside its own, and nothing is stored', async () => {
      const { client } = started;
      const refused = await client.post(TICKETS, {
        title: 7,
        code: 'x'.repeat(30),
        comments: [{ text: 'fine' }, { votes: 'many' }, 3],
        detail: {},
      });
      expect(refused.status).toBe(400);
      expect(refused.json).toEqual({
        code: ['Ensure this field has no more than 20 characters.'],
        comments: [
          {},
          { text: ['This field is required.'], votes: ['A valid integer is required.'] },
          { non_field_errors: ['Invalid data. Expected a dictionary, but got int.'] },
        ],
        detail: { text: ['This field is required.'] },
      });
      expect(await client.post(TICKETS, { code: 'a', comments: [{}] })).toMatchObject({
        status: 400,
        json: { comments: [{ text: ['This field is required.'] }] },
      });
      expect((await client.get(TICKETS)).text).toBe('[]');
    });

    test('are stored with it or not at all', async () => {
      const { client } = started;
      const refused = await client.post(TICKETS, {
        code: 'a',
        comments: [{ text: 'one', slug: 's' }, { text: 'two' }, { text: 'three', slug: 's' }],
      });
      expect(refused).toMatchObject({
        status: 400,
        json: { comments: [{}, {}, { slug: ['This field must be unique.'] }] },
      });
      expect((await client.get(TICKETS)).text).toBe('[]');
      expect(await comments()).toEqual([]);
      await client.post(TICKETS, { code: 'a', comments: [{ text: 'first' }] });
      const again = await client.post(TICKETS, { code: 'a', comments: [{ text: 'second' }] });
      expect(again).toMatchObject({ status: 400, json: { code: ['This field must be unique.'] } });
      expect(await comments()).toEqual(['a: first 0']);
    });

    test('are created in bulk', async () => {
      const { client } = started;
      const created = await client.post(TICKETS, [
        { code: 'a', comments: [{ text: 'one' }] },
        { code: 'b' },
        { code: 'c', comments: [{ text: 'two' }, { text: 'three' }] },
      ]);
      expect(created.status).toBe(201);
      expect(await comments()).toEqual(['a: one 0', 'c: two 0', 'c: three 0']);
      const refused = await client.post(TICKETS, [
        { code: 'd', comments: [{ text: 'one' }] },
        { comments: [{ text: 'two' }, {}] },
      ]);
      expect(refused).toMatchObject({
        status: 400,
        json: [
          {},
          { code: ['This field is required.'], comments: [{}, { text: ['This field is required.'] }] },
        ],
      });
      const mixed = await client.post(TICKETS, [{ code: 'e', comments: [{}] }, {}, { comments: [] }, 7]);
      expect(mixed).toMatchObject({
        status: 400,
        json: [
          { comments: [{ text: ['This field is required.'] }] },
          { code: ['This field is required.'] },
          { code: ['This field is required.'] },
          { non_field_errors: ['Invalid data. Expected a dictionary, but got int.'] },
        ],
      });
      expect(await comments()).toHaveLength(3);
    });
  });

  describe('of a changed object', () => {
    test('are created, changed and deleted by verbs', async () => {
      const { client } = started;
      const { id } = (
        await client.post(TICKETS, {
          code: 'a',
          comments: [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
        })
      ).json as { id: number };
      const [first = 0, second = 0] = await idsOf();
      const changed = await client.patch(`${TICKETS}${id}/`, {
        title: 'new',
        comments: {
          create: [{ text: 'four' }],
          update: [{ id: second, votes: 2, ticket: 99 }],
          delete: [first],
        },
      });
      expect(changed).toMatchObject({ status: 200, json: { title: 'new', version: 2 } });
      expect(await comments()).toEqual(['a: two 2', 'a: three 0', 'a: four 0']);
    });

    test('raise its version, and are expanded in the response', async () => {
      const { client } = started;
      const created = await client.post(TICKETS, { code: 'a' });
      const { id } = created.json as { id: number };
      const tag = created.headers.etag ?? '';
      const changed = await client.patch(
        `${TICKETS}${id}/?expand=comments`,
        { comments: { create: [{ text: 'one' }] } },
        { headers: { 'if-match': tag } },
      );
      expect(changed).toMatchObject({ status: 200, json: { version: 2, comments: [{ text: 'one' }] } });
      const stale = await client.patch(
        `${TICKETS}${id}/`,
        { comments: { create: [{ text: 'two' }] } },
        { headers: { 'if-match': tag } },
      );
      expect(stale.status).toBe(412);
      expect(await comments()).toEqual(['a: one 0']);
    });

    test('have their errors under their verbs, also those of missing objects', async () => {
      const { client } = started;
      const { id } = (await client.post(TICKETS, { code: 'a', comments: [{ text: 'one' }] })).json as {
        id: number;
      };
      await client.post(TICKETS, { code: 'b', comments: [{ text: 'other' }] });
      const [own = 0, other = 0] = await idsOf();
      const refused = await client.patch(`${TICKETS}${id}/`, {
        title: 'x'.repeat(30),
        comments: {
          create: [{ text: 'fine' }, {}],
          update: [{ id: own, votes: 'x' }, { id: other, text: 'moved' }, { text: 'no key' }, { id: 999999 }],
          delete: [other, 'x', 888888],
        },
      });
      expect(refused.status).toBe(400);
      expect(refused.json).toMatchObject({
        title: ['Ensure this field has no more than 20 characters.'],
        comments: { delete: ['Item 1: Incorrect type. Expected pk value, received str.'] },
      });
      const missing = await client.patch(`${TICKETS}${id}/`, {
        title: 'x'.repeat(30),
        comments: {
          create: [{ text: 'fine' }, {}],
          update: [{ id: own, votes: 'x' }, { id: other, text: 'moved' }, { text: 'no key' }, { id: 999999 }],
          delete: [own, other, 888888],
        },
      });
      expect(missing.json).toEqual({
        title: ['Ensure this field has no more than 20 characters.'],
        comments: {
          create: [{}, { text: ['This field is required.'] }],
          update: [
            { votes: ['A valid integer is required.'] },
            { id: [`Invalid pk "${other}" - object does not exist.`] },
            { id: ['This field is required.'] },
            { id: ['Invalid pk "999999" - object does not exist.'] },
          ],
          delete: [
            'Item 0: This object is also among those to update.',
            'Item 1: This object is also among those to update.',
            'Item 2: Invalid pk "888888" - object does not exist.',
          ],
        },
      });
      expect(await comments()).toEqual(['a: one 0', 'b: other 0']);
    });

    test('are not written by a bare list, nor by what reads show', async () => {
      const { client } = started;
      const { id } = (
        await client.post(TICKETS, { code: 'a', comments: [{ text: 'one' }], detail: { text: 'x' } })
      ).json as { id: number };
      const refused = await client.patch(`${TICKETS}${id}/`, { comments: [] });
      expect(refused).toMatchObject({
        status: 400,
        json: {
          comments: [
            'Send an object with the members "create", "update" and "delete": a list would not say what becomes of the objects that it leaves out.',
          ],
        },
      });
      const read = (await client.get(`${TICKETS}${id}/`)).json as object;
      expect(await client.put(`${TICKETS}${id}/`, read)).toMatchObject({ status: 200 });
      expect(await client.put(`${TICKETS}${id}/`, { ...read, detail: null })).toMatchObject({ status: 200 });
      expect(await comments()).toEqual(['a: one 0']);
      expect(await started.dataSource.getRepository(Detail).count()).toBe(1);
    });
  });

  describe('of a one-to-one', () => {
    test('take one verb', async () => {
      const { client } = started;
      const { id } = (await client.post(TICKETS, { code: 'a' })).json as { id: number };
      const send = async (detail: unknown): Promise<unknown> => {
        const { status, json } = await client.patch(`${TICKETS}${id}/`, { detail });
        return status === 200
          ? (await started.dataSource.getRepository(Detail).find()).map(({ text }) => text)
          : json;
      };
      expect(await send({ update: { text: 'y' } })).toEqual({
        detail: { update: { non_field_errors: ['Not found.'] } },
      });
      expect(await send({ delete: true })).toEqual({ detail: { delete: ['Not found.'] } });
      expect(await send({ create: { text: 'x' } })).toEqual(['x']);
      expect(await send({ create: { text: 'z' } })).toEqual({
        detail: { create: { ticket: ['This field must be unique.'] } },
      });
      expect(await send({ update: { text: 'y' } })).toEqual(['y']);
      expect(await send({ update: {}, delete: true })).toEqual({
        detail: ['Send exactly one of "create", "update" and "delete".'],
      });
      expect(await send({ delete: 1 })).toEqual({ detail: { delete: ['Send true.'] } });
      expect(await send({ delete: true })).toEqual([]);
    });
  });

  describe('of other kinds', () => {
    test('may be of the same model, one level deep, and only by the verbs of the model', async () => {
      const { client } = started;
      const created = await client.post(FOLDERS, { name: 'a', children: [{ name: 'b' }, { name: 'c' }] });
      expect(created.status).toBe(201);
      expect((await client.get(`${FOLDERS}b/`)).json).toMatchObject({ name: 'b', parent: 'a' });
      expect(
        await client.post(FOLDERS, { name: 'd', children: [{ name: 'e', children: [{ name: 'f' }] }] }),
      ).toMatchObject({
        status: 400,
        json: { children: [{ children: ['Objects in objects are written at their own URL.'] }] },
      });
      expect(await client.patch(`${FOLDERS}a/`, { children: { delete: ['b'], move: [] } })).toMatchObject({
        status: 400,
        json: { children: { delete: ['Method "DELETE" not allowed.'], move: ['Unknown field.'] } },
      });
    });

    test('may have the key of their parent in their own', async () => {
      const { client } = started;
      expect(
        await client.post(FOLDERS, {
          name: 'a',
          lines: [
            { no: 1, text: 'x' },
            { no: 2, folder: 'z' },
          ],
        }),
      ).toMatchObject({ status: 201 });
      await client.post(FOLDERS, { name: 'b', lines: [{ no: 1 }] });
      const changed = await client.patch(`${FOLDERS}a/`, {
        lines: { update: [{ folderName: 'a', no: 1, text: 'y' }], delete: ['a,2'], create: [{ no: 3 }] },
      });
      expect(changed.json).toMatchObject({ name: 'a' });
      expect((await client.get('/rest/v1/desk/line/?ordering=folderName,no')).json).toMatchObject([
        { folderName: 'a', no: 1, text: 'y' },
        { folderName: 'a', no: 3 },
        { folderName: 'b', no: 1 },
      ]);
      expect(await client.patch(`${FOLDERS}a/`, { lines: { delete: ['b,1', 'a,2'] } })).toMatchObject({
        status: 400,
        json: {
          lines: {
            delete: [
              'Item 0: Invalid pk "b,1" - object does not exist.',
              'Item 1: Invalid pk "a,2" - object does not exist.',
            ],
          },
        },
      });
      expect(await client.post(FOLDERS, { name: 'c', lines: [{ no: 1 }, { no: 1 }] })).toMatchObject({
        status: 400,
      });
      expect((await client.get(`${FOLDERS}c/`)).status).toBe(404);
    });
  });

  test('are not written by upserts and changes by filter', async () => {
    const { client } = started;
    await client.post(TICKETS, { code: 'a' });
    expect(await client.post(`${TICKETS}?upsert=true`, [{ code: 'a', comments: [] }])).toMatchObject({
      status: 400,
    });
    expect(await client.patch(`${TICKETS}?code=a`, { comments: { create: [] } })).toMatchObject({
      status: 400,
    });
    expect(await client.get(COMMENTS)).toMatchObject({ text: '[]' });
  });
});
