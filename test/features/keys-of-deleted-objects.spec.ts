// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, basic, Restify, RestifyResources, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import {
  BeforeUpdate,
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Bob may not name shelves of Ann, and `blind` does not see the shelf of a page. */
class Names implements Permission {
  readonly decidesOnDeleted = true;

  decide({ actor, resource }: AccessContext): Grant {
    const { name } = (actor ?? {}) as { readonly name?: string };
    if (name === 'bob' && resource.model === 'shelf') return allow({ rows: where('owner', 'bob') });
    if (name === 'blind' && resource.model !== 'shelf') return allow({ readable: ['id', 'title'] });
    return allow();
  }
}

const APP = { app: 'stale', permissions: [Names] };

@Restify({ ...APP, trash: true })
@Entity('stale_shelf')
class Shelf {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, default: 'ann' }) owner: string;
  @DeleteDateColumn() deletedAt: Date | null;
}

@Restify({ ...APP, trash: true })
@Entity('stale_code')
class Code {
  @PrimaryColumn({ length: 10 }) land: string;
  @PrimaryColumn({ type: 'int' }) no: number;
  @DeleteDateColumn() deletedAt: Date | null;
}

/** Without a trash. */
@Restify(APP)
@Entity('stale_box')
class Box {
  @PrimaryGeneratedColumn() id: number;
  @DeleteDateColumn() deletedAt: Date | null;
}

class Place {
  @Column({ length: 20, default: '' }) room: string;
  @ManyToOne(() => Shelf, { nullable: true }) shelf: Relation<Shelf> | null;
}

/** Written by one statement where the database suits it. */
@Restify({ ...APP, bulk: { upsert: ['title'] } })
@Entity('stale_page')
class Page {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @ManyToOne(() => Shelf, { nullable: false }) shelf: Relation<Shelf>;
  @ManyToOne(() => Code, { nullable: true }) code: Relation<Code> | null;
  @ManyToOne(() => Box, { nullable: true }) box: Relation<Box> | null;
  @Column(() => Place) place: Place;
}

/** Written through TypeORM. */
@Restify({ ...APP, bulk: true })
@Entity('stale_heard')
class Heard {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) title: string;
  @ManyToOne(() => Shelf, { nullable: false }) @JoinColumn({ name: 'shelfId' }) shelf: Relation<Shelf>;
  @Column({ nullable: true }) shelfId: number;

  @BeforeUpdate() trim(): void {
    this.title = this.title.trim();
  }
}

onEachDatabase('the key of an object that has been deleted since', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Shelf, Code, Box, Page, Heard],
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
  });
  afterAll(() => started.close());

  let shelf: number;
  let other: number;
  let pages: readonly string[];
  let heard: string;
  const url = (model: string, id = ''): string => `/rest/v1/stale/${model}/${id === '' ? '' : `${id}/`}`;
  beforeEach(async () => {
    const { manager } = started.dataSource;
    for (const table of [Page, Heard, Shelf, Code, Box])
      await manager.createQueryBuilder().delete().from(table).execute();
    [shelf, other] = (await manager.save(Shelf, [{}, {}])).map(({ id }) => id) as [number, number];
    const code = await manager.save(Code, { land: 'de', no: 3 });
    const box = await manager.save(Box, new Box());
    const values = { shelf: { id: shelf }, code, box, place: { room: 'a', shelf: { id: shelf } } };
    const saved = await manager.save(Page, [
      { ...values, title: 'one' },
      { ...values, title: 'two', shelf: { id: other } },
    ]);
    pages = saved.map(({ id }) => url('page', String(id)));
    heard = url('heard', String((await manager.save(Heard, { title: 'h', shelf: { id: shelf } })).id));
    await manager.softDelete(Shelf, [shelf, other]);
    await manager.softDelete(Code, { land: 'de', no: 3 });
  });

  const send = async (method: string, path: string, body: unknown, who = 'ann') => {
    const { status, json } = await started.client.send(method, path, {
      headers: { authorization: `Basic ${Buffer.from(`${who}:pw`).toString('base64')}` },
      ...(body === undefined ? {} : { body }),
    });
    return [status, json] as const;
  };
  const get = async (path: string): Promise<Record<string, unknown>> =>
    (await send('GET', path, undefined))[1] as Record<string, unknown>;
  const wrong = (key: number | string): readonly string[] => [`Invalid pk "${key}" - object does not exist.`];

  test('is taken back as it is, of one or several columns and of an embedded object', async () => {
    const [path = ''] = pages;
    const shown = await get(path);
    expect(shown).toMatchObject({ shelf, code: 'de,3', place: { shelf } });
    expect(await send('PUT', path, { ...shown, title: 'changed' })).toEqual([
      200,
      { ...shown, title: 'changed' },
    ]);
    expect(await send('PATCH', path, { shelf: String(shelf), title: 'again' })).toEqual([
      200,
      { ...shown, title: 'again' },
    ]);
    expect(await send('PATCH', path, { place: { shelf, room: 'b' } })).toMatchObject([
      200,
      { place: { shelf, room: 'b' } },
    ]);
    const operations = started.app.get(RestifyResources).of(Page).as({ name: 'ann' });
    expect(await operations.update(shown.id as number, shown)).toEqual(shown);
  });

  test('is taken back where listeners hear of the change, by the relation and by its column', async () => {
    const shown = await get(heard);
    expect(shown).toMatchObject({ shelf, shelfId: shelf });
    expect(await send('PUT', heard, { ...shown, title: ' x ' })).toEqual([200, { ...shown, title: 'x' }]);
    expect(await send('PATCH', heard, { shelfId: shelf, title: 'y' })).toMatchObject([
      200,
      { title: 'y', shelf },
    ]);
    expect(await send('PATCH', heard, { shelfId: other })).toEqual([400, { shelfId: wrong(other) }]);
  });

  test('is taken back in bulk, of each object its own', async () => {
    const shown = await Promise.all(pages.map(get));
    const changed = shown.map((each) => ({ ...each, title: `${String(each.title)}!` }));
    expect(await send('PATCH', url('page'), changed)).toEqual([200, changed]);
    const [one, two] = shown;
    expect(await send('PATCH', url('page'), [one, { ...two, shelf }])).toEqual([
      400,
      [{}, { shelf: wrong(shelf) }],
    ]);
    expect(await send('PATCH', `${url('page')}?title=one!`, { shelf })).toMatchObject([200, [{ shelf }]]);
    expect(
      await send('PATCH', `${url('page')}?keys=${String(one?.id)},${String(two?.id)}`, { shelf }),
    ).toEqual([400, { shelf: wrong(shelf) }]);
  });

  test('is no key of another object, of a new one and of an upsert', async () => {
    const [path = ''] = pages;
    expect(await send('PATCH', path, { shelf: other })).toEqual([400, { shelf: wrong(other) }]);
    expect(await send('PATCH', path, { shelf: 999999, title: '' })).toMatchObject([
      400,
      { shelf: wrong(999999), title: expect.anything() },
    ]);
    expect(await send('PUT', path, { title: '', shelf })).toEqual([
      400,
      { title: ['This field may not be blank.'] },
    ]);
    const body = { title: 'one', shelf };
    expect(await send('POST', url('page'), { ...body, title: 'new' })).toEqual([
      400,
      { shelf: wrong(shelf) },
    ]);
    expect(await send('POST', `${url('page')}?upsert=true`, [body])).toEqual([
      400,
      [{ shelf: wrong(shelf) }],
    ]);
  });

  test('is rejected in a model without a trash', async () => {
    const [path = ''] = pages;
    const { box } = await get(path);
    await started.dataSource.manager.softDelete(Box, box);
    expect(await send('PATCH', path, { box })).toEqual([400, { box: wrong(box as number) }]);
  });

  test('is rejected if the caller may not name it, or may not read the field', async () => {
    const [path = ''] = pages;
    expect(await send('PATCH', path, { shelf }, 'bob')).toEqual([400, { shelf: wrong(shelf) }]);
    expect(await send('PATCH', path, { shelf }, 'blind')).toEqual([400, { shelf: wrong(shelf) }]);
    expect(await send('PATCH', path, { shelf: other }, 'blind')).toEqual([400, { shelf: wrong(other) }]);
  });
});
