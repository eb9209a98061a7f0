// @tags db http
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  allow,
  AllowAny,
  CsvRenderer,
  IdempotencyRecord,
  NdjsonRenderer,
  PageNumberPagination,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
} from 'nestjs-restify';
import type { AccessContext, CommittedWrite, Grant, Permission, Write, WriteHooks } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const MERGE = { 'content-type': 'application/merge-patch+json' };

/** Everybody sees all fields, and writes all but `owner`. */
class MostFields implements Permission {
  readonly decidesOnDeleted = true;

  decide({ method }: AccessContext): Grant {
    const fields = [
      'id',
      'code',
      'title',
      'meta',
      'shelf',
      'tags',
      'labels',
      'deletedAt',
      'changed',
      'version',
      'parts',
    ];
    return allow(method === 'GET' ? {} : { writable: fields });
  }
}

@Restify({ app: 'options', label: 'name', shape: true })
@Entity('options_shelf')
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;
}

@Restify({
  app: 'options',
  label: 'title',
  trash: true,
  mergePatch: true,
  relatedKeys: ['tags'],
  nested: ['parts'],
  through: { tags: { permissions: [AllowAny] } },
  strict: 'writes',
  conditional: true,
  idempotency: true,
  returnDeleted: true,
  bulk: { upsert: ['code'] },
  shape: true,
  expandable: ['shelf', 'parts', 'tags'],
  filterGroups: true,
  filterFields: {
    title: ['exact', 'icontains'],
    shelf: ['exact', 'in'],
    'shelf.name': ['exact'],
    owner: ['exact'],
  },
  searchFields: ['title', 'shelf.name'],
  orderingNulls: true,
  ordering: ['title'],
  pagination: new PageNumberPagination({ pageSize: 2 }),
  renderers: [new CsvRenderer(), new NdjsonRenderer()],
  computed: { shout: (box: Box) => box.title.toUpperCase() },
  permissions: [MostFields],
})
@Entity('options_box')
class Box {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  code: string;

  @Column({ length: 20 })
  title: string;

  @Column({ length: 20, default: 'nobody' })
  owner: string;

  @Column({ type: 'simple-json', nullable: true })
  meta: unknown;

  @ManyToOne(() => Shelf, { nullable: true })
  shelf: Relation<Shelf> | null;

  @OneToMany(() => Part, (part) => part.box)
  parts: Relation<Part[]>;

  @ManyToMany(() => Tag, (tag) => tag.boxes)
  @JoinTable({ name: 'options_box_tags' })
  tags: Relation<Tag[]>;

  @DeleteDateColumn({ precision: 3 })
  deletedAt: Date | null;

  @UpdateDateColumn({ precision: 3 })
  changed: Date;

  @VersionColumn()
  version: number;
}

@Restify('options')
@Entity('options_tag')
class Tag {
  @PrimaryColumn({ length: 10 })
  word: string;

  @ManyToMany(() => Box, (box) => box.tags)
  boxes: Relation<Box[]>;
}

@Restify('options')
@Entity('options_part')
class Part {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @ManyToOne(() => Box, (box) => box.parts, { nullable: false, onDelete: 'CASCADE' })
  box: Relation<Box>;
}

/** What hooks and callbacks have seen, by their names. */
const seen: string[] = [];

class OfPrefix implements WriteHooks {
  beforeWrite({ operation, resource }: Write): void {
    seen.push(`before ${operation} ${resource.className}`);
  }
}

@RestifyController(Box)
class BoxController extends ResourceController<Box> {
  override beforeWrite({ operation, entity, stored }: Write<Box>): void {
    seen.push(`own ${operation} ${entity.title} ${String(stored?.title)}`);
  }

  override afterCommit(writes: readonly CommittedWrite[]): void {
    for (const { operation, stored, values } of writes)
      seen.push(`committed ${operation} ${String(stored?.title)} ${String(values?.title)}`);
  }
}

onEachDatabase('a model with every option', (database) => {
  let started: StartedApp;
  let boxes = '';
  beforeAll(async () => {
    started = await startApp({
      entities: [Shelf, Box, Part, Tag, IdempotencyRecord],
      controllers: [BoxController],
      providers: [OfPrefix],
      restify: { hooks: [OfPrefix], browsable: true },
      database,
      undescribed: [412],
    });
    boxes = '/rest/v1/options/box/';
    await started.dataSource.manager.save(Shelf, [{ name: 'low' }, { name: 'high' }]);
    await started.dataSource.manager.save(Tag, [{ word: 'red' }, { word: 'blue' }]);
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    await started.dataSource.query(`DELETE FROM options_part`);
    await started.dataSource.query(`DELETE FROM options_box_tags`);
    await started.dataSource.query(`DELETE FROM options_box`);
    await started.app.get(RestifyResources).afterCommitEnded();
    seen.length = 0;
  });

  const send = (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> =>
    started.client.send(method, `${boxes}${path}`, { headers, ...(body === undefined ? {} : { body }) });

  async function create(
    code: string,
    more: object = {},
  ): Promise<{ readonly id: number; readonly version: number }> {
    const { status, json } = await send('POST', '', {
      code,
      title: code,
      shelf: 1,
      meta: { a: 1 },
      tags: ['red'],
      ...more,
    });
    expect([status, json]).toMatchObject([201, { code }]);
    return json as { id: number; version: number };
  }

  async function seenSince(): Promise<readonly string[]> {
    await started.app.get(RestifyResources).afterCommitEnded();
    return seen.splice(0);
  }

  test('takes back what it has shown, and stores nothing new', async () => {
    const { id, version } = await create('a');
    const read = await send('GET', `${id}/`);
    for (const method of ['PUT', 'PATCH']) {
      const written = await send(method, `${id}/`, read.json, { 'if-match': read.headers.etag ?? '' });
      expect([written.status, written.json]).toMatchObject([200, { code: 'a', owner: 'nobody', version }]);
    }
    expect((await send('GET', `${id}/`)).text).toBe(read.text);
    const { results } = (await send('GET', '')).json as { results: object[] };
    expect((await send('PATCH', '', results)).status).toBe(200);
    expect((await send('POST', '?upsert=true', results)).status).toBe(200);
    expect((await send('PATCH', `${id}/`, { tags: { add: ['blue'] } })).json).toMatchObject({
      tags: ['blue', 'red'],
    });
    for (const tags of [['blue'], { add: ['red'] }])
      expect((await send('PATCH', `${id}/`, { tags, meta: null }, MERGE)).json).toEqual({
        tags: ['This field cannot be merged. Send its whole value in a PATCH of application/json.'],
      });
    expect((await send('PATCH', `${id}/`, { owner: 'me' })).json).toEqual({
      owner: ['You do not have permission to write this field.'],
    });
  });

  test('merges, deletes, restores and purges, each with one call of afterCommit', async () => {
    const { id } = await create('a');
    expect(await seenSince()).toEqual([
      'before create Box',
      'own create a undefined',
      'committed create undefined a',
    ]);
    const { headers } = await send('GET', `${id}/`);
    const merged = await send(
      'PATCH',
      `${id}/?expand=shelf&fields=meta,shelf,shout`,
      { title: 'b', meta: { b: 2 } },
      {
        ...MERGE,
        'if-match': headers.etag ?? '',
      },
    );
    expect([merged.status, merged.json]).toEqual([
      200,
      { meta: { a: 1, b: 2 }, shelf: { id: 1, name: 'low' }, shout: 'B' },
    ]);
    expect(await seenSince()).toEqual([
      'before partialUpdate Box',
      'own partialUpdate b a',
      'committed partialUpdate a b',
    ]);
    const deleted = await send('DELETE', `${id}/`);
    expect([deleted.status, deleted.json]).toMatchObject([200, { title: 'b', meta: { a: 1, b: 2 } }]);
    expect(await seenSince()).toEqual([
      'before destroy Box',
      'own destroy b b',
      'committed destroy b undefined',
    ]);
    expect((await send('GET', `${id}/`)).status).toBe(404);
    expect((await send('PATCH', `${id}/`, { meta: { c: 3 } }, MERGE)).status).toBe(404);
    expect((await send('PUT', `${id}/?deleted=only`, {})).status).toBe(404);
    const trash = await send(
      'GET',
      '?deleted=only&with=labels&fields=title,shelf&title__icontains=B&search=low',
    );
    expect(trash.json).toMatchObject({
      count: 1,
      results: [{ title: 'b', shelf: 1, labels: { shelf: 'low' } }],
    });
    expect((await send('POST', `${id}/restore/`, undefined, { 'if-match': '"other"' })).status).toBe(412);
    expect(await seenSince()).toEqual([]);
    const key = { 'idempotency-key': `restore-${database.name}` };
    const restored = await send('POST', `${id}/restore/`, undefined, key);
    expect([restored.status, restored.json]).toMatchObject([200, { title: 'b', deletedAt: null }]);
    expect(await seenSince()).toEqual(['before restore Box', 'own restore b b', 'committed restore b b']);
    expect([(await send('POST', `${id}/restore/`, undefined, key)).status, await seenSince()]).toEqual([
      200,
      [],
    ]);
    expect((await send('POST', `${id}/purge/`)).status).toBe(409);
    await send('DELETE', `${id}/`);
    await seenSince();
    expect((await send('POST', `${id}/purge/`)).status).toBe(204);
    expect(await seenSince()).toEqual(['before purge Box', 'own purge b b', 'committed purge b undefined']);
    expect((await send('POST', `${id}/restore/`)).status).toBe(404);
  });

  test('writes its parts in its body, and reports both', async () => {
    const { id } = await create('a', { parts: [{ name: 'one' }, { name: 'two' }], tags: ['red'] });
    expect(await seenSince()).toEqual([
      'before create Box',
      'own create a undefined',
      'before create Part',
      'before create Part',
      'committed create undefined a',
    ]);
    const { headers } = await send('GET', `${id}/`);
    const [one, two] = (await send('GET', `${id}/parts/`)).json as { id: number }[];
    const changed = await send(
      'PATCH',
      `${id}/?expand=parts&fields=title,parts`,
      {
        title: 'b',
        tags: { add: ['blue'] },
        parts: { create: [{ name: 'new' }], update: [{ id: two?.id, name: 'other' }], delete: [one?.id] },
      },
      { 'if-match': headers.etag ?? '' },
    );
    expect([changed.status, changed.json]).toMatchObject([
      200,
      { title: 'b', parts: [{ name: 'other' }, { name: 'new' }] },
    ]);
    expect(await seenSince()).toEqual([
      'before partialUpdate Box',
      'own partialUpdate b a',
      'before destroy Part',
      'before partialUpdate Part',
      'before create Part',
      'committed partialUpdate a b',
    ]);
    const refused = await send('PATCH', `${id}/`, { title: 'c', owner: 'me', parts: { create: [{}] } });
    expect([refused.status, refused.json]).toEqual([
      400,
      {
        owner: ['You do not have permission to write this field.'],
        parts: { create: [{ name: ['This field is required.'] }] },
      },
    ]);
    expect(await seenSince()).toEqual([]);
    const key = { 'idempotency-key': `nested-${database.name}` };
    const body = { code: 'k', title: 'k', parts: [{ name: 'once' }] };
    expect((await send('POST', '', body, key)).status).toBe(201);
    expect((await send('POST', '', body, key)).headers['idempotency-replayed']).toBe('true');
    expect(await started.dataSource.getRepository(Part).countBy({ name: 'once' })).toBe(1);
  });

  test('reports a bulk write in one call, and nothing of one that fails', async () => {
    const rows = ['a', 'b', 'c'].map((code) => ({ code, title: code }));
    expect((await send('POST', '', rows)).status).toBe(201);
    expect((await seenSince()).filter((each) => each.startsWith('committed'))).toEqual(
      rows.map(({ code }) => `committed create undefined ${code}`),
    );
    expect(
      (
        await send('POST', '', [
          { code: 'd', title: 'd' },
          { code: 'a', title: 'd' },
        ])
      ).status,
    ).toBe(400);
    expect((await send('PATCH', '?title=a', { title: 'A', meta: { x: 1 } })).status).toBe(200);
    expect((await seenSince()).filter((each) => each.startsWith('committed'))).toEqual([
      'committed partialUpdate a A',
    ]);
    expect(
      (
        await send('POST', '?upsert=true', [
          { code: 'a', title: 'B' },
          { code: 'e', title: 'e' },
        ])
      ).status,
    ).toBe(201);
    expect((await seenSince()).filter((each) => each.startsWith('committed'))).toEqual([
      'committed update A B',
      'committed create undefined e',
    ]);
    expect((await send('DELETE', '?filter=or(title=B,title=e)')).status).toBe(204);
    expect((await seenSince()).filter((each) => each.startsWith('committed')).sort()).toEqual([
      'committed destroy B undefined',
      'committed destroy e undefined',
    ]);
  });

  test('shows deleted objects in each format, and pages of them', async () => {
    for (const code of ['a', 'b', 'c']) await send('DELETE', `${(await create(code)).id}/`);
    const page = (await send('GET', '?deleted=only&ordering=-title&fields=code')).json as { next: string };
    expect(page).toMatchObject({ count: 3, results: [{ code: 'c' }, { code: 'b' }] });
    const { pathname, search } = new URL(page.next);
    expect((await started.client.get(pathname + search)).json).toMatchObject({
      next: null,
      results: [{ code: 'a' }],
    });
    expect(
      (await send('GET', '?deleted=only&format=csv&fields=code,title')).text.split('\r\n').slice(0, 3),
    ).toEqual(['code,title', 'a,a', 'b,b']);
    expect((await send('GET', '?deleted=with&format=ndjson&fields=code')).text).toContain('{"code":"a"}\n');
  });
});
