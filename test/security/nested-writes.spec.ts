// @tags db
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  allow,
  basic,
  deny,
  hide,
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
import type { Answer, RequestOptions } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

type Rights = Readonly<Record<string, Grant | Denial | undefined>>;

/** What each caller may do with items, by method. Changed by a test. */
let itemRights: Readonly<Record<string, Rights>> = {};
let boxRights: Rights = {};

function nameOf({ actor }: AccessContext): string {
  return (actor as { readonly name?: string } | null)?.name ?? '';
}

class ItemGrants implements Permission {
  decide(context: AccessContext): Grant | Denial {
    const granted = itemRights[nameOf(context)];
    return granted === undefined ? allow() : (granted[context.method] ?? deny());
  }
}

/** Everybody sees and changes the boxes with its own name. */
class OwnBoxes implements Permission {
  decide(context: AccessContext): Grant | Denial {
    return boxRights[context.method] ?? allow({ rows: where('owner', 'in', [nameOf(context), 'all']) });
  }
}

@Restify({
  app: 'nestsafe',
  nested: ['items', 'lid'],
  permissions: [OwnBoxes],
  conditional: true,
  idempotency: true,
  shape: true,
  expandable: ['items'],
  bulk: { upsert: ['code'] },
  mergePatch: true,
  strict: 'writes',
})
@Entity('nestsafe_box')
class Box {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10, unique: true }) code: string;
  @Column({ length: 10 }) owner: string;
  @VersionColumn() version: number;
  @OneToMany(() => Item, (item) => item.box) items: Relation<Item[]>;
  @OneToOne(() => Lid, (lid) => lid.box) lid: Relation<Lid> | null;
}

@Restify({ app: 'nestsafe', permissions: [ItemGrants], filterFields: ['box', 'text'] })
@Entity('nestsafe_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) text: string;
  @Column({ length: 10, default: 'nobody' }) secret: string;
  @Column({ type: 'varchar', length: 10, unique: true, nullable: true }) slug: string | null;
  @ManyToOne(() => Box, (box) => box.items, { nullable: false }) box: Relation<Box>;
  @ManyToOne(() => Shelf, { nullable: true }) shelf: Relation<Shelf> | null;
}

@Restify({ app: 'nestsafe', permissions: [OwnBoxes] })
@Entity('nestsafe_shelf')
class Shelf {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 10 }) owner: string;
}

@Restify({ app: 'nestsafe' })
@Entity('nestsafe_lid')
class Lid {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) color: string;
  @OneToOne(() => Box, (box) => box.lid, { nullable: false }) @JoinColumn() box: Relation<Box>;
}

const told: string[] = [];
const committed: string[] = [];

@RestifyController(Lid)
class LidController extends ResourceController<Lid> implements WriteHooks {
  override beforeWrite({ entity, operation, stored }: Write<Lid>): void {
    told.push(`${operation} ${entity.color}, was ${String(stored?.color)}`);
    if (entity.color === 'no') throw InvalidInput.of('color', 'Not this one.');
  }

  override afterCommit(writes: readonly CommittedWrite[]): void {
    committed.push(
      ...writes.map(
        ({ operation, stored, values }) => `${operation} ${String(stored?.color)} ${String(values?.color)}`,
      ),
    );
  }
}

@RestifyController(Box)
class BoxController extends ResourceController<Box> implements WriteHooks {
  override beforeWrite({ operation }: Write<Box>): void {
    told.push(`before ${operation} of the box`);
  }

  override afterWrite({ operation }: Write<Box>): void {
    told.push(`after ${operation} of the box`);
  }
}

const BOXES = '/rest/v1/nestsafe/box/';
const ITEMS = '/rest/v1/nestsafe/item/';

onEachDatabase('attacks on objects in bodies', (database) => {
  let started: StartedApp;
  let ids: Readonly<Record<string, number>>;
  beforeAll(async () => {
    started = await startApp({
      entities: [Box, Item, Shelf, Lid, IdempotencyRecord],
      controllers: [LidController, BoxController],
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    itemRights = {};
    boxRights = {};
    told.length = 0;
    committed.length = 0;
    const { dataSource } = started;
    for (const entity of [Item, Lid, Box, Shelf])
      await dataSource.createQueryBuilder().delete().from(entity).execute();
    await dataSource.getRepository(Shelf).insert([
      { id: 1, owner: 'ann' },
      { id: 2, owner: 'bob' },
    ]);
    const boxes = dataSource.getRepository(Box);
    const own = await boxes.save({ code: 'a', owner: 'ann' });
    const other = await boxes.save({ code: 'b', owner: 'bob' });
    const items = dataSource.getRepository(Item);
    ids = {
      own: own.id,
      other: other.id,
      item: (await items.save({ text: 'mine', box: own })).id,
      hidden: (await items.save({ text: 'hidden', secret: 'x', box: own })).id,
      foreign: (await items.save({ text: 'foreign', box: other })).id,
    };
  });

  const as = (name: string, headers: Record<string, string> = {}): RequestOptions => ({
    headers: { Authorization: `Basic ${Buffer.from(`${name}:x`).toString('base64')}`, ...headers },
  });
  const stored = async (): Promise<string[]> => {
    const found = await started.dataSource
      .getRepository(Item)
      .find({ relations: { box: true }, order: { id: 'ASC' } });
    return found.map(({ text, box }) => `${box.code}: ${text}`);
  };
  const BEFORE = ['a: mine', 'a: hidden', 'b: foreign'];
  const outcome = ({ status, json }: Answer): unknown => [status, json];
  const own = (): string => `${BOXES}${ids.own}/`;

  test('S7: objects of an object that the caller may not change are out of reach', async () => {
    const { client } = started;
    const ann = as('ann');
    const create = { create: [{ text: 'new' }] };
    const attempts = [
      await client.patch(`${BOXES}${ids.other}/`, { items: create }, ann),
      await client.put(`${BOXES}${ids.other}/`, { code: 'b', owner: 'ann', items: create }, ann),
      await client.patch(BOXES, [{ id: ids.other, items: create }], ann),
      await client.patch(`${BOXES}?keys=${ids.own}`, { items: create }, ann),
      await client.post(`${BOXES}?upsert=true`, { code: 'b', owner: 'ann', items: [{ text: 'new' }] }, ann),
      await client.post(`${BOXES}?upsert=true`, { code: 'z', owner: 'ann', items: [] }, ann),
    ];
    expect(attempts.map(({ status }) => status)).toEqual([404, 404, 400, 400, 400, 400]);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S7: a right that the objects do not grant is not granted by the body of their parent', async () => {
    const { client } = started;
    const ann = as('ann');
    const bodies: readonly (readonly [string, object])[] = [
      ['POST', { items: { create: [{ text: 'new' }] } }],
      ['PATCH', { items: { update: [{ id: ids.item, text: 'new' }] } }],
      ['DELETE', { items: { delete: [ids.item] } }],
    ];
    for (const [method, body] of bodies) {
      itemRights = {
        ann: { GET: allow(), POST: allow(), PATCH: allow(), DELETE: allow(), [method]: deny() },
      };
      expect((await client.patch(own(), body, ann)).status).toBe(403);
      expect((await client.patch(BOXES, [{ id: ids.own, ...body }], ann)).status).toBe(403);
      itemRights = {
        ann: { GET: allow(), POST: allow(), PATCH: allow(), DELETE: allow(), [method]: hide() },
      };
      expect((await client.patch(own(), body, ann)).status).toBe(404);
    }
    itemRights = { ann: { GET: allow() } };
    expect((await client.post(BOXES, { code: 'n', owner: 'ann', items: [{ text: 'x' }] }, ann)).status).toBe(
      403,
    );
    expect((await client.post(BOXES, [{ code: 'n', owner: 'ann', items: [{}] }], ann)).status).toBe(403);
    expect((await client.post(BOXES, { code: 'n', owner: 'ann', items: [] }, ann)).status).toBe(201);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S7: the parent and its entity tag precede a right that the objects do not grant', async () => {
    const { client } = started;
    itemRights = { ann: { GET: allow() } };
    const body = { items: { create: [{ text: 'new' }] } };
    const paths = [`${BOXES}${ids.other}/`, `${BOXES}999999/`];
    for (const path of paths) {
      expect((await client.patch(path, body, as('ann'))).status).toBe(404);
      expect((await client.put(path, { code: 'b', owner: 'ann', ...body }, as('ann'))).status).toBe(404);
    }
    expect((await client.patch(own(), body, as('ann', { 'If-Match': '"old"' }))).status).toBe(412);
    expect((await client.patch(own(), body, as('ann', { 'If-Match': '*' }))).status).toBe(403);
    expect(await stored()).toEqual(BEFORE);
  });

  // contract 25.7
  test('S7: bodies that no caller may send precede that right, and what is wrong in others follows it', async () => {
    const { client } = started;
    itemRights = { ann: { GET: allow() } };
    const body = { items: { create: [{ text: 'new' }] } };
    const merge = { headers: { ...as('ann').headers, 'content-type': 'application/merge-patch+json' } };
    const refused = await client.patch(own(), body, merge);
    expect([refused.status, Object.keys(refused.json as object)]).toEqual([400, ['items']]);
    expect((await client.patch(`${BOXES}?keys=${ids.own}`, body, as('ann'))).status).toBe(400);
    expect(
      (await client.post(`${BOXES}?upsert=true`, { code: 'b', owner: 'ann', ...body }, as('ann'))).status,
    ).toBe(400);
    expect((await client.patch(own(), { version: 'x', code: [], ...body }, as('ann'))).status).toBe(403);
    expect((await client.patch(BOXES, [{ id: 999_999, ...body }], as('ann'))).status).toBe(403);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S6 S11: a hidden object, one of another parent and none are refused with the same bytes', async () => {
    const { client } = started;
    const visible = { rows: where('secret', 'exact', 'nobody') };
    itemRights = { ann: { GET: allow(), POST: allow(), PATCH: allow(visible), DELETE: allow(visible) } };
    const ann = as('ann');
    const answers = async (verb: (id: number) => object): Promise<string[]> => {
      const texts: string[] = [];
      for (const id of [ids.hidden, ids.foreign, 999_999]) {
        const answer = await client.patch(own(), { items: verb(id ?? 0) }, ann);
        expect(answer.status).toBe(400);
        texts.push(answer.text.replace(String(id), 'KEY'));
      }
      return [...new Set(texts)];
    };
    expect(await answers((id) => ({ update: [{ id, text: 'x' }] }))).toEqual([
      '{"items":{"update":[{"id":["Invalid pk \\"KEY\\" - object does not exist."]}]}}',
    ]);
    expect(await answers((id) => ({ update: [{ id, text: 5, shelf: 2 }] }))).toHaveLength(1);
    expect(await answers((id) => ({ delete: [id] }))).toEqual([
      '{"items":{"delete":["Item 0: Invalid pk \\"KEY\\" - object does not exist."]}}',
    ]);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S10: an object cannot be moved to another parent, nor given a key, nor hold objects', async () => {
    const { client } = started;
    const ann = as('ann');
    const bodies = [
      { create: [{ text: 'new', box: ids.other, id: 77 }] },
      { update: [{ id: ids.item, box: ids.other, text: 'moved' }] },
    ];
    for (const items of bodies) expect((await client.patch(own(), { items }, ann)).status).toBe(200);
    expect(await stored()).toEqual(['a: moved', 'a: hidden', 'b: foreign', 'a: new']);
    expect((await client.get(`${ITEMS}77/`, ann)).status).toBe(404);
    const nestedBox = { text: 'x', box: { id: ids.other, code: 'hacked' }, shelf: { id: 1, owner: 'bob' } };
    expect(await client.patch(own(), { items: { create: [nestedBox] } }, ann)).toMatchObject({
      status: 400,
      json: { items: { create: [{ shelf: ['Incorrect type. Expected pk value, received dict.'] }] } },
    });
  });

  test('S11: keys in objects are those that the caller may name', async () => {
    const { client } = started;
    const answer = await client.post(
      BOXES,
      {
        code: 'n',
        owner: 'ann',
        items: [
          { text: 'x', shelf: 1 },
          { text: 'y', shelf: 2 },
        ],
      },
      as('ann'),
    );
    expect(outcome(answer)).toEqual([
      400,
      { items: [{}, { shelf: ['Invalid pk "2" - object does not exist.'] }] },
    ]);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S25: an object outside of the grant is refused, and nothing is stored', async () => {
    const { client } = started;
    const rows = where('secret', 'exact', 'nobody');
    itemRights = { ann: { GET: allow(), POST: allow({ rows }), PATCH: allow({ rows }), DELETE: allow() } };
    const ann = as('ann');
    const attempts = [
      await client.patch(own(), { items: { create: [{ text: 'a' }, { text: 'b', secret: 'x' }] } }, ann),
      await client.patch(own(), { items: { update: [{ id: ids.item, secret: 'x' }] } }, ann),
      await client.post(BOXES, { code: 'n', owner: 'ann', items: [{ text: 'b', secret: 'x' }] }, ann),
      await client.post(BOXES, [{ code: 'n', owner: 'ann', items: [{ text: 'b', secret: 'x' }] }], ann),
    ];
    expect(attempts.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(await stored()).toEqual(BEFORE);
    expect(await started.dataSource.getRepository(Box).count()).toBe(2);
  });

  test('S11: a conflicting value is reported only to callers who may change the parent', async () => {
    const { client, dataSource } = started;
    await dataSource.getRepository(Item).update({ id: ids.foreign }, { slug: 'taken' });
    const ann = as('ann');
    const item = { text: 'x', slug: 'taken' };
    const attempts = async (owner: string): Promise<Answer[]> => [
      await client.post(BOXES, { code: 'n', owner, items: [item] }, ann),
      await client.post(BOXES, [{ code: 'n', owner, items: [item] }], ann),
      await client.patch(own(), { owner, items: { create: [item] } }, ann),
      await client.patch(own(), { owner, items: { update: [{ id: ids.item, slug: 'taken' }] } }, ann),
      await client.patch(BOXES, [{ id: ids.own, owner, items: { create: [item] } }], ann),
    ];
    for (const readers of [{}, { GET: allow() }]) {
      boxRights = readers;
      expect((await attempts('bob')).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    }
    expect((await attempts('all')).map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
    // Whether a box has such an item is known only when all of them are written.
    boxRights = { GET: allow(), POST: allow({ rows: where('items.text', 'exact', 'x') }) };
    expect(outcome(await client.post(BOXES, { code: 'n', owner: 'bob', items: [item] }, ann))).toEqual([
      400,
      { items: [{ slug: ['This field must be unique.'] }] },
    ]);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S7: the rows of a grant over the parent are those of the parent as it is stored', async () => {
    const { client } = started;
    itemRights = { ann: { GET: allow(), POST: allow({ rows: where('box.code', 'exact', 'good') }) } };
    const post = (code: string): Promise<Answer> =>
      client.post(BOXES, { code, owner: 'ann', items: [{ text: 'x' }] }, as('ann'));
    expect((await post('bad')).status).toBe(403);
    expect((await post('good')).status).toBe(201);
  });

  test('S7: fields of a grant are those of the objects, and the key of the parent is one of them', async () => {
    const { client } = started;
    const ann = as('ann');
    itemRights = {
      ann: { GET: allow(), POST: allow({ writable: ['text', 'box'] }), PATCH: allow({ writable: ['text'] }) },
    };
    const sent = [{ id: ids.item, text: 'new', secret: 'x' }];
    expect(
      (await client.patch(own(), { items: { create: [{ text: 'n', secret: 'x' }], update: sent } }, ann))
        .status,
    ).toBe(200);
    const rows = await started.dataSource.getRepository(Item).find({ order: { id: 'ASC' } });
    expect(rows.map(({ text, secret }) => [text, secret])).toEqual([
      ['new', 'nobody'],
      ['hidden', 'x'],
      ['foreign', 'nobody'],
      ['n', 'nobody'],
    ]);
    itemRights = { ann: { GET: allow(), POST: allow({ writable: ['text'] }) } };
    expect((await client.patch(own(), { items: { create: [{ text: 'n' }] } }, ann)).status).toBe(403);
  });

  test('S7: a parent that the caller may not name gets no objects', async () => {
    const { client } = started;
    boxRights = { GET: hide(), POST: allow(), PATCH: allow() };
    const post = await client.post(BOXES, { code: 'n', owner: 'ann', items: [{ text: 'x' }] }, as('ann'));
    const patch = await client.patch(own(), { items: { create: [{ text: 'x' }] } }, as('ann'));
    expect([post.status, patch.status]).toEqual([403, 403]);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S7: a caller who may not write the field of the parent writes no objects', async () => {
    const { client } = started;
    boxRights = {
      GET: allow(),
      PATCH: allow({ writable: ['code'] }),
      POST: allow({ writable: ['code', 'owner'] }),
    };
    const ann = as('ann');
    expect(outcome(await client.patch(own(), { items: { create: [{ text: 'x' }] } }, ann))).toEqual([
      400,
      { items: ['You do not have permission to write this field.'] },
    ]);
    expect(
      outcome(await client.post(BOXES, { code: 'n', owner: 'ann', items: [{ text: 'x' }] }, ann)),
    ).toEqual([400, { items: ['You do not have permission to write this field.'] }]);
    const read = (await client.get(own(), ann)).json as object;
    expect((await client.put(own(), read, ann)).status).toBe(200);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S10: hooks run for each object, in the order of the writes', async () => {
    const { client } = started;
    const created = await client.post(BOXES, { code: 'n', owner: 'ann', lid: { color: 'red' } }, as('ann'));
    const url = `${BOXES}${(created.json as { id: number }).id}/`;
    await client.patch(url, { lid: { update: { color: 'blue' } } }, as('ann'));
    await client.patch(url, { lid: { delete: true } }, as('ann'));
    expect(told).toEqual([
      'before create of the box',
      'create red, was undefined',
      'after create of the box',
      'before partialUpdate of the box',
      'partialUpdate blue, was red',
      'after partialUpdate of the box',
      'before partialUpdate of the box',
      'destroy blue, was blue',
      'after partialUpdate of the box',
    ]);
    expect(outcome(await client.patch(url, { lid: { create: { color: 'no' } } }, as('ann')))).toEqual([
      400,
      { lid: { create: { color: ['Not this one.'] } } },
    ]);
    await started.app.get(RestifyResources).afterCommitEnded();
    expect(committed).toEqual(['create undefined red', 'partialUpdate red blue', 'destroy blue undefined']);
  });

  test('S24: a unique value of a hidden object is refused as any other', async () => {
    const { client } = started;
    await started.dataSource.getRepository(Item).update(ids.foreign ?? 0, { slug: 's' });
    const answer = await client.patch(own(), { items: { create: [{ text: 'x', slug: 's' }] } }, as('ann'));
    expect(outcome(answer)).toEqual([400, { items: { create: [{ slug: ['This field must be unique.'] }] } }]);
  });

  test('S18: of two writers with one entity tag, one writes', async () => {
    const { client } = started;
    const tag = (await client.get(own(), as('ann'))).headers.etag ?? '';
    const send = (text: string): Promise<Answer> =>
      client.patch(own(), { items: { create: [{ text }] } }, as('ann', { 'If-Match': tag }));
    const answers = await Promise.all([send('x'), send('y')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect(await stored()).toHaveLength(4);
  });

  test('S18: a repeated POST with one key creates its objects once', async () => {
    const { client } = started;
    const send = (): Promise<Answer> =>
      client.post(
        `${BOXES}?expand=items`,
        { code: 'n', owner: 'ann', items: [{ text: 'x' }] },
        as('ann', { 'Idempotency-Key': `once-${database.name}` }),
      );
    const first = await send();
    const again = await send();
    expect(again).toMatchObject({
      status: 201,
      json: first.json,
      headers: { 'idempotency-replayed': 'true' },
    });
    expect(first.json).toMatchObject({ items: [{ text: 'x' }] });
    expect(await stored()).toEqual([...BEFORE, 'n: x']);
  });

  test('S8: a request writes no more than 1000 objects, whatever is wrong with them', async () => {
    const { client } = started;
    const many = Array.from({ length: 1000 }, () => ({}));
    const error = ['Ensure that the request writes no more than 1000 objects and related keys in all.'];
    expect(outcome(await client.post(BOXES, { items: many }, as('ann')))).toEqual([
      400,
      { non_field_errors: error },
    ]);
    const half = many.slice(0, 500);
    expect(
      outcome(
        await client.patch(
          BOXES,
          [
            { id: 1, items: { create: half } },
            { id: 2, items: { delete: half } },
          ],
          as('ann'),
        ),
      ),
    ).toEqual([400, { non_field_errors: error }]);
  });
});
