// @tags db nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { allow, basic, deny, PageNumberPagination, Restify, where } from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const SHOWN = ['id', 'title', 'code', 'owner', 'folder', 'tags', 'deletedAt'];

/** Each sees, changes, restores and purges what is his own; of deleted objects he does not see `secret`. A reader has no trash. */
class Owners implements Permission {
  readonly decidesOnDeleted = true;

  decide({ actor, operation }: AccessContext): Grant | Denial {
    const { name = '' } = (actor ?? {}) as { readonly name?: string };
    if (name === 'root') return allow();
    if (name === 'reader') return operation === undefined ? allow() : deny();
    const rows = where('owner', name);
    return operation === undefined ? allow({ rows }) : allow({ rows, readable: SHOWN });
  }
}

@Restify({
  app: 'bag',
  permissions: [Owners],
  trash: true,
  conditional: true,
  shape: true,
  expandable: ['folder', 'tags'],
  bulk: { upsert: ['code'] },
  pagination: new PageNumberPagination({ pageSize: 50 }),
  searchFields: ['title', 'secret', 'folder.title'],
  orderingFields: ['id', 'title', 'secret', 'folder.title'],
  filterFields: {
    title: ['exact', 'icontains'],
    owner: ['exact'],
    secret: ['exact'],
    folder: ['exact', 'isnull'],
    'folder.title': ['exact'],
    deletedAt: ['isnull'],
  },
})
@Entity('bag_note')
class BagNote {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) title: string;
  @Column({ length: 20, unique: true }) code: string;
  @Column({ length: 20 }) owner: string;
  @Column({ length: 20, default: 'hush' }) secret: string;
  @ManyToOne(() => BagFolder, (folder) => folder.notes, { nullable: true, onDelete: 'CASCADE' })
  folder: Relation<BagFolder> | null;
  @ManyToMany(() => BagTag, (tag) => tag.notes) @JoinTable({ name: 'bag_pairs' }) tags: Relation<BagTag[]>;
  @DeleteDateColumn() deletedAt: Date | null;
}

@Restify({
  app: 'bag',
  trash: true,
  filterFields: ['title', 'notes.title'],
  shape: true,
  expandable: ['notes'],
})
@Entity('bag_folder')
class BagFolder {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) title: string;
  @OneToMany(() => BagNote, (note) => note.folder) notes: Relation<BagNote[]>;
  @OneToMany(() => BagStamp, (stamp) => stamp.folder) stamps: Relation<BagStamp[]>;
  @DeleteDateColumn() deletedAt: Date | null;
}

/** Restricts its folder. */
@Restify({ app: 'bag', trash: true, operations: ['list', 'create', 'retrieve', 'destroy', 'restore'] })
@Entity('bag_stamp')
class BagStamp {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => BagFolder, (folder) => folder.stamps, { nullable: false, onDelete: 'RESTRICT' })
  folder: Relation<BagFolder>;
  @DeleteDateColumn() deletedAt: Date | null;
}

@Restify({ app: 'bag', trash: true, permissions: [Owners], through: { notes: { permissions: [] } } })
@Entity('bag_tag')
class BagTag {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) owner: string;
  @ManyToMany(() => BagNote, (note) => note.tags) notes: Relation<BagNote[]>;
  @DeleteDateColumn() deletedAt: Date | null;
}

@Restify({ app: 'bag', trash: true })
@Entity('bag_node')
@Tree('closure-table')
class BagNode {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) title: string;
  @TreeParent({ onDelete: 'CASCADE' }) above: Relation<BagNode> | null;
  @TreeChildren() below: Relation<BagNode[]>;
  @DeleteDateColumn() deletedAt: Date | null;
}

const NOTES = '/rest/v1/bag/bagnote/';
const FOLDERS = '/rest/v1/bag/bagfolder/';
const STAMPS = '/rest/v1/bag/bagstamp/';
const TAGS = '/rest/v1/bag/bagtag/';
const NODES = '/rest/v1/bag/bagnode/';
const MISSING = { detail: 'Not found.' };

onEachDatabase('a trash', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [BagNote, BagFolder, BagStamp, BagTag, BagNode],
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
  });
  afterAll(() => started.close());

  let folder: BagFolder;
  let kept: BagNote;
  let gone: BagNote;
  let his: BagNote;
  beforeEach(async () => {
    const { manager } = started.dataSource;
    for (const table of ['bag_pairs', BagStamp, BagNote, BagFolder, BagTag])
      await manager.createQueryBuilder().delete().from(table).execute();
    folder = await manager.save(BagFolder, { title: 'f' });
    [kept, gone, his] = (await manager.save(BagNote, [
      { title: 'kept', code: 'k', owner: 'ann', folder },
      { title: 'gone', code: 'g', owner: 'ann', folder, secret: 'mine' },
      { title: 'his', code: 'h', owner: 'bob', folder, secret: 'his' },
    ])) as [BagNote, BagNote, BagNote];
    await manager.softDelete(BagNote, [gone.id, his.id]);
  });

  const send = (method: string, path: string, who = 'ann', body?: unknown, headers: object = {}) =>
    started.client.send(method, path, {
      headers: { authorization: `Basic ${Buffer.from(`${who}:pw`).toString('base64')}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  const titles = async (query: string, who = 'ann'): Promise<unknown> => {
    const { status, json } = await send('GET', `${NOTES}${query}`, who);
    if (status !== 200) return status;
    const { results, count } = json as { results: { title: string }[]; count: number };
    expect(count).toBe(results.length);
    return results.map(({ title }) => title);
  };
  const stored = async (): Promise<readonly unknown[]> =>
    (await started.dataSource.manager.find(BagNote, { withDeleted: true, order: { id: 'ASC' } })).map(
      ({ title, deletedAt }) => [title, deletedAt !== null],
    );
  const UNCHANGED = [
    ['kept', false],
    ['gone', true],
    ['his', true],
  ];

  test('S7 whose list is not among the operations is not read by the parameter', async () => {
    const { manager } = started.dataSource;
    const { id } = await manager.save(BagStamp, { folder });
    await manager.softDelete(BagStamp, id);
    for (const query of ['?deleted=only', '?deleted=with']) {
      expect((await send('GET', `${STAMPS}${query}`)).json).toEqual([]);
      expect((await send('GET', `${FOLDERS}${folder.id}/stamps/${query}`)).json).toEqual([]);
      expect((await send('GET', `${STAMPS}${id}/${query}`)).status).toBe(404);
    }
    expect((await send('POST', `${STAMPS}${id}/purge/`)).status).toBe(404);
  });

  test.each([
    '?deleted=ONLY',
    '?deleted=only%20',
    '?deleted=only%00',
    '?deleted=__proto__',
    '?deleted=only,with',
    '?deleted=with&deleted=true',
  ])('S5 is not shown by %s', async (query) => {
    expect(await titles(query)).toBe(400);
    expect(await titles(query, 'reader')).toBe(400);
  });

  test.each([
    '?DELETED=only',
    '?deleted[]=only',
    '?deleted[only]=1',
    '?deleted=only&deleted=',
    '?deleted.x=only',
  ])('S5 is not shown by %s, which is no such parameter', async (query) => {
    expect(await titles(query, 'reader')).toEqual(['kept']);
  });

  test('S5 is shown by a name in another encoding, to those who have the right', async () => {
    expect(await titles('?%64eleted=%6Fnly')).toEqual(['gone']);
    expect(await titles('?%64eleted=%6Fnly', 'reader')).toBe(403);
  });

  test('S2 has no hidden field in filters, searches, orders and selections', async () => {
    expect(await titles('?deleted=only&secret=nothing')).toEqual(['gone']);
    expect(await titles('?deleted=only&search=mine')).toEqual([]);
    expect(await titles('?deleted=only&search=gone')).toEqual(['gone']);
    const { json } = await send('GET', `${NOTES}?deleted=only&fields=title,secret&ordering=secret`);
    expect(json).toMatchObject({ results: [{ title: 'gone' }] });
    expect(JSON.stringify(json)).not.toContain('mine');
    const one = await send('GET', `${NOTES}${gone.id}/?deleted=with`);
    expect(Object.keys(one.json as object).sort()).toEqual([...SHOWN].sort());
    expect((await send('POST', `${NOTES}${gone.id}/restore/`)).json).not.toHaveProperty('secret');
  });

  test('S13 has counts of the rows of its grant', async () => {
    expect(await titles('?deleted=only')).toEqual(['gone']);
    expect(await titles('?deleted=with')).toEqual(['kept', 'gone']);
    expect(await titles('?deleted=only&owner=bob')).toEqual([]);
    expect(await titles('?deleted=only', 'root')).toEqual(['gone', 'his']);
    const { json } = await send('GET', `${NOTES}?deleted=only&page=2`);
    expect(json).toEqual({ detail: 'Invalid page.' });
  });

  test('S16 shows no deleted row of another model: in filters, orders, searches and expansions', async () => {
    await started.dataSource.manager.softDelete(BagFolder, folder.id);
    expect(await titles('?deleted=only&folder__title=f')).toEqual([]);
    expect(await titles('?deleted=only&search=f')).toEqual([]);
    expect(await titles(`?deleted=only&folder=${folder.id}`)).toEqual(['gone']);
    expect(await titles('?deleted=with&ordering=folder__title,id')).toEqual(['kept', 'gone']);
    const { json } = await send('GET', `${NOTES}${gone.id}/?deleted=only&expand=folder&fields=folder`);
    expect(json).toEqual({ folder: folder.id });
    expect((await send('GET', `${FOLDERS}${folder.id}/notes/?deleted=only`)).status).toBe(404);
  });

  test('S16 is not reached through its parent, by filters or expansions', async () => {
    expect((await send('GET', `${FOLDERS}?notes__title=gone`)).json).toEqual([]);
    expect((await send('GET', `${FOLDERS}?notes__title=gone&deleted=with`)).json).toEqual([]);
    const { json } = await send(
      'GET',
      `${FOLDERS}${folder.id}/?deleted=with&expand=notes&fields=notes.title`,
    );
    expect(json).toEqual({ notes: [{ title: 'kept' }] });
  });

  test('S11 has no key for a body, single, in bulk, in an upsert and in a pair', async () => {
    const { manager } = started.dataSource;
    const tag = await manager.save(BagTag, { owner: 'ann' });
    await manager.softDelete(BagFolder, folder.id);
    const message = { folder: [`Invalid pk "${folder.id}" - object does not exist.`] };
    const body = { title: 'new', code: 'n', owner: 'ann', folder: folder.id };
    for (const query of ['', '?deleted=with', '?deleted=only'])
      expect(await send('POST', `${NOTES}${query}`, 'ann', body)).toMatchObject({
        status: 400,
        json: message,
      });
    expect((await send('POST', NOTES, 'ann', [body])).json).toEqual([message]);
    expect((await send('POST', `${NOTES}?upsert=true`, 'ann', [body])).json).toEqual([message]);
    await manager.softDelete(BagTag, tag.id);
    expect((await send('POST', `${NOTES}${kept.id}/tags/`, 'root', { tag: tag.id })).status).toBe(400);
    expect(await stored()).toEqual(UNCHANGED);
  });

  test('S24 an upsert that conflicts with a deleted row reports only that its value is taken', async () => {
    const body = (code: string): object => ({ title: 'new', code, owner: 'ann' });
    for (const code of ['g', 'h'])
      expect(await send('POST', `${NOTES}?upsert=true`, 'ann', body(code))).toMatchObject({ status: 400 });
    expect((await send('POST', `${NOTES}?upsert=true`, 'ann', body('g'))).text.replaceAll('g', '')).toBe(
      (await send('POST', `${NOTES}?upsert=true`, 'ann', body('h'))).text.replaceAll('g', ''),
    );
    expect(await stored()).toEqual(UNCHANGED);
  });

  test('S7 is written by no other request', async () => {
    const one = `${NOTES}${gone.id}/`;
    for (const query of ['', '?deleted=only', '?deleted=with']) {
      expect((await send('PATCH', `${one}${query}`, 'ann', { title: 'x' })).status).toBe(404);
      expect(
        (await send('PUT', `${one}${query}`, 'ann', { title: 'x', code: 'g', owner: 'ann' })).status,
      ).toBe(404);
      expect((await send('DELETE', `${one}${query}`)).status).toBe(404);
    }
    for (const query of [`?keys=${gone.id}`, '?deleted=only', '?deleted=with', '?deleted=only&title=gone']) {
      expect((await send('PATCH', `${NOTES}${query}`, 'ann', { title: 'x' })).status).toBe(400);
      expect((await send('DELETE', `${NOTES}${query}`)).status).toBe(400);
    }
    expect((await send('PATCH', NOTES, 'ann', [{ id: gone.id, title: 'x' }])).status).toBe(400);
    expect((await send('PATCH', one, 'ann', { deletedAt: null })).status).toBe(404);
    expect(
      (await send('PATCH', `${NOTES}${kept.id}/`, 'ann', { deletedAt: '2020-01-01T00:00:00Z' })).status,
    ).toBe(200);
    for (const name of ['restore', 'purge']) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
        expect((await send(method, `${one}${name}/`)).status).toBe(405);
      expect((await send('POST', `${NOTES}${name}/`)).status).not.toBeLessThan(400);
    }
    expect(await stored()).toEqual(UNCHANGED);
  });

  test('S7 has rows of another caller that are as absent as those that were never there', async () => {
    for (const name of ['restore', 'purge'])
      for (const id of [his.id, 999999])
        expect(await send('POST', `${NOTES}${id}/${name}/`)).toMatchObject({ status: 404, json: MISSING });
    expect((await send('GET', `${NOTES}${his.id}/?deleted=only`)).json).toEqual(MISSING);
    for (const name of ['restore', 'purge'])
      expect((await send('POST', `${NOTES}${gone.id}/${name}/`, 'reader')).status).toBe(403);
    expect(await stored()).toEqual(UNCHANGED);
  });

  test('S12 has entity tags that hold for their own view, and conditions that hide nothing', async () => {
    const tag = String((await send('GET', `${NOTES}${his.id}/?deleted=only`, 'root')).headers.etag);
    const restore = (id: number, match: string, who = 'ann') =>
      send('POST', `${NOTES}${id}/restore/`, who, undefined, { 'if-match': match });
    for (const match of [tag, '*', '"x"', 'nonsense'])
      expect(await restore(his.id, match)).toMatchObject({ status: 404, json: MISSING });
    expect((await restore(gone.id, tag)).status).toBe(412);
    expect((await restore(gone.id, 'nonsense')).status).toBe(400);
    expect(
      (await send('GET', `${NOTES}${his.id}/?deleted=only`, 'bob', undefined, { 'if-none-match': tag }))
        .status,
    ).toBe(200);
    expect(await stored()).toEqual(UNCHANGED);
    expect((await restore(gone.id, '*')).status).toBe(200);
  });

  describe('S18 of requests at once', () => {
    const outcomes = async (paths: readonly string[]): Promise<readonly number[]> =>
      (await Promise.all(paths.map((path) => send('POST', path, 'root')))).map(({ status }) => status);

    test('a purge of the parent takes a child with it, restored or not', async () => {
      const { manager } = started.dataSource;
      await manager.softDelete(BagFolder, folder.id);
      const [purged, restored] = await outcomes([
        `${FOLDERS}${folder.id}/purge/`,
        `${NOTES}${gone.id}/restore/`,
      ]);
      expect(purged).toBe(204);
      expect([200, 404, 409]).toContain(restored);
      expect(await stored()).toEqual([]);
    });

    test('a child that restricts its parent keeps it, deleted or not', async () => {
      const { manager } = started.dataSource;
      const { id } = await manager.save(BagStamp, { folder });
      await manager.softDelete(BagStamp, id);
      await manager.softDelete(BagFolder, folder.id);
      expect(await outcomes([`${FOLDERS}${folder.id}/purge/`, `${STAMPS}${id}/restore/`])).toEqual([
        409, 200,
      ]);
      expect(await stored()).toEqual(UNCHANGED);
    });

    test('a restoration and a deletion of the parent both happen', async () => {
      const [deleted, restored] = await Promise.all([
        send('DELETE', `${FOLDERS}${folder.id}/`, 'root'),
        send('POST', `${NOTES}${gone.id}/restore/`, 'root'),
      ]);
      expect([deleted.status, restored.status]).toEqual([204, 200]);
    });

    test('of restorations with one tag one succeeds', async () => {
      const tag = String((await send('GET', `${NOTES}${gone.id}/?deleted=only`)).headers.etag);
      const answers = await Promise.all(
        [1, 2, 3].map(() =>
          send('POST', `${NOTES}${gone.id}/restore/`, 'ann', undefined, { 'if-match': tag }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    });
  });

  test('S7 of a tree: nodes below a purged one go with it, and a restored one is below its parent', async () => {
    const { client } = started;
    const create = async (title: string, above: number | null): Promise<number> =>
      ((await client.post(NODES, { title, above })).json as { id: number }).id;
    const root = await create('root', null);
    const middle = await create('middle', root);
    const leaf = await create('leaf', middle);
    for (const id of [leaf, middle]) expect((await client.send('DELETE', `${NODES}${id}/`)).status).toBe(204);
    expect((await send('POST', `${NODES}${leaf}/restore/`)).json).toMatchObject({ above: middle });
    expect((await send('PATCH', `${NODES}${leaf}/`, 'ann', { above: root })).status).toBe(200);
    expect((await send('POST', `${NODES}${middle}/purge/`)).status).toBe(204);
    expect((await send('GET', NODES)).json).toMatchObject([{ id: root }, { id: leaf, above: root }]);
  });

  test('S6 is listed below its own parent alone', async () => {
    const other = await started.dataSource.manager.save(BagFolder, { title: 'other' });
    const { json } = await send('GET', `${FOLDERS}${other.id}/notes/?deleted=only`);
    expect(json).toMatchObject({ count: 0, results: [] });
    expect((await send('GET', `${FOLDERS}${folder.id}/notes/?deleted=only`)).json).toMatchObject({
      count: 1,
    });
    expect((await send('GET', `${FOLDERS}${folder.id}/notes/?deleted=only`, 'reader')).status).toBe(403);
    expect((await send('GET', `${TAGS}?deleted=only`)).status).toBe(200);
  });
});
