// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, IdempotencyRecord, Restify, RestifyResources, restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import {
  BeforeInsert,
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation, ValueTransformer } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import type { Answer } from '../support/client.js';
import { idOf, seen } from './nested-answers.js';

/** Stores what it cannot read. */
const UNREADING: ValueTransformer = {
  to: (text: unknown) => text,
  from: (text: unknown) => {
    if (String(text).startsWith('bad')) throw new Error('secret words of the transformer');
    return text;
  },
};

/** As many transformers are: without a thought of null. */
const CARELESS: ValueTransformer = {
  to: (text: string) => text.toLowerCase(),
  from: (text: unknown) => text,
};

class Place {
  @Column({ type: 'varchar', length: 20, nullable: true, transformer: UNREADING }) city: string | null;
}

@Restify({
  app: 'ft',
  bulk: { upsert: ['name'] },
  idempotency: true,
  type: { code: 'string', 'place.city': 'string' },
})
@Entity('ft_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ type: 'varchar', length: 20, nullable: true, transformer: UNREADING }) code: string | null;
  @Column({ length: 20, default: 'good', transformer: UNREADING }) label: string;
  @Column(() => Place) place: Place;
  @ManyToOne(() => Box, (box) => box.items) @JoinColumn() box: Relation<Box> | null;
}

@Entity('ft_box')
class Box {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => Item, (item) => item.box) items: Relation<Item[]>;
  @ManyToMany(() => Tag) @JoinTable({ name: 'ft_tagging', synchronize: false }) tags: Relation<Tag[]>;
}

@Entity('ft_tag')
class Tag {
  @PrimaryGeneratedColumn() id: number;
}

@Entity('ft_tagging')
class Tagging {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Box, { nullable: false }) @JoinColumn({ name: 'ftBoxId' }) box: Relation<Box>;
  @ManyToOne(() => Tag, { nullable: false }) @JoinColumn({ name: 'ftTagId' }) tag: Relation<Tag>;
  @Column({ type: 'varchar', length: 20, nullable: true, transformer: UNREADING }) note: string | null;
}

/** The rows without a slug, where a header asks for them. */
class Unnamed implements Permission {
  decide({ request }: AccessContext): Grant {
    const { headers } = request as { headers: Record<string, string | undefined> };
    return allow(headers['x-rows'] === undefined ? {} : { rows: where('slug', 'isnull', true) });
  }
}

/** `slug` may be omitted: it is nullable. */
@Restify({ app: 'ft', bulk: { upsert: ['name'] }, type: { slug: 'string' }, permissions: [Unnamed] })
@Entity('ft_page')
class Page {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ type: 'varchar', length: 20, nullable: true, transformer: CARELESS }) slug: string | null;
}

/** The caller cannot repair what bodies do not write. */
@Restify({ app: 'ft', readOnly: ['slug'], type: { slug: 'string' } })
@Entity('ft_sealed')
class Sealed {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ type: 'varchar', length: 20, nullable: true, transformer: CARELESS }) slug: string | null;
}

/** Its default cannot be read, and its listener sets what the body omits. */
@Restify({ app: 'ft', type: { slug: 'string' } })
@Entity('ft_listened')
class Listened {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, default: 'bad', transformer: UNREADING }) state: string;
  @Column({ type: 'varchar', length: 20, nullable: true, transformer: CARELESS }) slug: string | null;
  @BeforeInsert() set(): void {
    if (this.slug === 'throw') throw new Error('listener');
    this.slug ??= 'Set';
  }
}
restify(Box, { app: 'ft', bulk: true });
restify(Tag, 'ft');
restify(Tagging, { app: 'ft', type: { note: 'string' } });

const ITEMS = '/rest/v1/ft/item/';
const PAGES = '/rest/v1/ft/page/';
const BAD = ['Not a valid value.'];

onEachDatabase('a transformer that throws', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({
      entities: [Item, Box, Tag, Tagging, Page, Sealed, Listened, IdempotencyRecord],
      database,
      nest: { logger: false },
    });
    client = started.client;
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    for (const table of ['ft_tagging', 'ft_item', 'ft_page', 'ft_sealed', 'ft_listened'])
      await started.dataSource.query(`DELETE FROM ${table}`);
  });

  const stored = (table: string, columns: string): Promise<unknown> =>
    started.dataSource.query(`SELECT ${columns} FROM ${table} ORDER BY id`);
  const expectBad = (answer: Answer, errors: unknown): void => {
    expect(seen(answer)).toEqual([400, errors]);
    expect(answer.text).not.toContain('secret');
  };

  test('in `from` on the written value is an error of the field, and nothing is stored', async () => {
    const id = idOf(await client.post(ITEMS, { name: 'a', code: 'good' }));
    const object = `${ITEMS}${id}/`;
    expectBad(await client.post(ITEMS, { name: 'b', code: 'bad' }), { code: BAD });
    expectBad(await client.post(ITEMS, { name: 'b', label: 'bad' }), { label: BAD });
    expectBad(await client.post(ITEMS, { name: 'b', place: { city: 'bad' } }), { place: { city: BAD } });
    expectBad(await client.patch(object, { name: 'b', code: 'bad' }), { code: BAD });
    expectBad(await client.patch(object, { place: { city: 'bad' } }), { place: { city: BAD } });
    expectBad(await client.put(object, { name: 'b', code: 'bad' }), { code: BAD });
    expectBad(
      await client.send('POST', ITEMS, {
        body: { name: 'b', code: 'bad' },
        headers: { 'Idempotency-Key': `k-${id}` },
      }),
      { code: BAD },
    );
    const resources = started.app.get(RestifyResources).of(Item).as(null);
    await expect(resources.create({ name: 'b', code: 'bad' })).rejects.toMatchObject({
      fields: { code: BAD },
    });
    expect(await stored('ft_item', 'name, code')).toEqual([{ name: 'a', code: 'good' }]);
    expect((await client.patch(object, { code: 'fine' })).json).toMatchObject({ name: 'a', code: 'fine' });
  });

  test('in `from` of objects in a list is an error at its place, and nothing is stored', async () => {
    const id = idOf(await client.post(ITEMS, { name: 'a' }));
    const second = idOf(await client.post(ITEMS, { name: 'b' }));
    const errors = [{}, { code: BAD }];
    const create = [{ name: 'x' }, { name: 'y', code: 'bad' }];
    expectBad(await client.post(ITEMS, create), errors);
    expectBad(await client.post(ITEMS, [...create, { name: 'z', label: 'bad' }]), [
      ...errors,
      { label: BAD },
    ]);
    expectBad(
      await client.patch(ITEMS, [
        { id, name: 'x' },
        { id: second, code: 'bad' },
      ]),
      errors,
    );
    expectBad(await client.post(`${ITEMS}?upsert=true`, [{ name: 'a' }, { name: 'b', code: 'bad' }]), errors);
    expectBad(await client.post(`${ITEMS}?upsert=true`, [{ name: 'a' }, { name: 'y', code: 'bad' }]), errors);
    const filtered = await client.patch(`${ITEMS}?keys=${id}`, { code: 'bad' });
    expect([filtered.status, filtered.text]).toEqual([400, expect.stringContaining(BAD[0] ?? '')]);
    expect(await stored('ft_item', 'name, code')).toEqual([
      { name: 'a', code: null },
      { name: 'b', code: null },
    ]);
  });

  test('in `from` of through objects is an error of the field', async () => {
    const box = idOf(await client.post('/rest/v1/ft/box/', {}));
    const tag = idOf(await client.post('/rest/v1/ft/tag/', {}));
    const tags = `/rest/v1/ft/box/${box}/tags/`;
    expectBad(await client.post(tags, { tag, note: 'bad' }), { note: BAD });
    expect(await stored('ft_tagging', 'note')).toEqual([]);
    const pair = idOf(await client.post(tags, { tag, note: 'good' }));
    expectBad(await client.patch(`${tags}${pair}/`, { note: 'bad' }), { note: BAD });
    expect(await stored('ft_tagging', 'note')).toEqual([{ note: 'good' }]);
  });

  test('in `to` for a field that the body omits is an error of the field', async () => {
    expectBad(await client.post(PAGES, { name: 'a' }), { slug: BAD });
    expectBad(await client.post(PAGES, { name: 'a', slug: null }), { slug: BAD });
    expectBad(await client.post(PAGES, [{ name: 'a', slug: 'A' }, { name: 'b' }]), [{}, { slug: BAD }]);
    expectBad(await client.post(`${PAGES}?upsert=true`, [{ name: 'a' }]), [{ slug: BAD }]);
    const id = idOf(await client.post(PAGES, { name: 'a', slug: 'A' }));
    expect(seen(await client.put(`${PAGES}${id}/`, { name: 'b' }))).toEqual([
      200,
      { id, name: 'b', slug: 'a' },
    ]);
    expect(await stored('ft_page', 'name, slug')).toEqual([{ name: 'b', slug: 'a' }]);
  });

  test('in `to` on the stored value does not keep the row from being changed', async () => {
    await started.dataSource.query(`INSERT INTO ft_page (id, name) VALUES (7, 'a')`);
    const object = `${PAGES}7/`;
    expect(seen(await client.get(object))).toEqual([200, { id: 7, name: 'a', slug: null }]);
    expect(seen(await client.patch(object, { name: 'b' }))).toEqual([200, { id: 7, name: 'b', slug: null }]);
    expect(seen(await client.put(object, { name: 'c' }))).toEqual([200, { id: 7, name: 'c', slug: null }]);
    expect(seen(await client.patch(PAGES, [{ id: 7, name: 'd' }]))).toEqual([
      200,
      [{ id: 7, name: 'd', slug: null }],
    ]);
    const headers = { 'x-rows': 'unnamed' };
    expect(seen(await client.patch(object, { name: 'd' }, { headers }))).toEqual([
      200,
      { id: 7, name: 'd', slug: null },
    ]);
    expect((await client.patch(object, { slug: 'D' }, { headers })).status).toBe(403);
    expect(seen(await client.patch(object, { slug: 'D' }))).toEqual([200, { id: 7, name: 'd', slug: 'd' }]);
  });

  test('for a value that bodies do not write is 500', async () => {
    expect((await client.post('/rest/v1/ft/sealed/', { name: 'a' })).status).toBe(500);
    expect(await stored('ft_sealed', 'name')).toEqual([]);
  });

  test('in `from` on the default is 500, and a listener may set what `to` throws on', async () => {
    const url = '/rest/v1/ft/listened/';
    expect((await client.post(url, { slug: 'a' })).status).toBe(500);
    expect(await stored('ft_listened', 'state')).toEqual([]);
    expect((await client.post(url, { state: 'good' })).json).toMatchObject({ state: 'good', slug: 'set' });
    expect((await client.post(url, { slug: 'throw' })).status).toBe(500);
  });
});
