// @tags db http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  allow,
  basic,
  deny,
  IdempotencyRecord,
  ModelPermissions,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission, Write } from 'nestjs-restify';
import {
  AfterRecover,
  BeforeRecover,
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  ManyToOne,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Ann may do everything; Bob only with what is his; others only what is not about deleted objects. */
class BackRules implements Permission {
  readonly decidesOnDeleted = true;

  decide({ actor, operation }: AccessContext): Grant | Denial {
    const { name } = (actor ?? {}) as { readonly name?: string };
    if (name === 'ann') return allow();
    if (name === 'bob') return allow({ rows: where('owner', 'bob') });
    return operation === undefined ? allow() : deny();
  }
}

const told: string[] = [];

@Restify({ app: 'back', permissions: [BackRules], trash: true, conditional: true })
@Entity('back_page')
@Index(['code'], { unique: true })
class BackPage {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) owner: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) code: string | null;
  @ManyToOne(() => BackBook, { nullable: true, createForeignKeyConstraints: false })
  book: Relation<BackBook> | null;
  @VersionColumn() version: number;
  @DeleteDateColumn() deletedAt: Date | null;

  @BeforeRecover() before(): void {
    told.push(`before ${this.owner}`);
  }

  @AfterRecover() after(): void {
    told.push(`after ${String(this.deletedAt)}`);
  }
}

@Restify({ app: 'back', trash: true })
@Entity('back_book')
class BackBook {
  @PrimaryGeneratedColumn() id: number;
  @DeleteDateColumn() deletedAt: Date | null;
}

/** A foreign key keeps its book. */
@Restify({ app: 'back' })
@Entity('back_mark')
class BackMark {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => BackBook, { nullable: false, onDelete: 'RESTRICT' }) book: Relation<BackBook>;
}

@Restify({
  app: 'back',
  permissions: [ModelPermissions],
  trash: true,
  operations: ['list', 'destroy', 'restore'],
})
@Entity('back_right')
class BackRight {
  @PrimaryGeneratedColumn() id: number;
  @DeleteDateColumn() deletedAt: Date | null;
}

@Restify({
  app: 'back',
  permissions: [BackRules],
  trash: true,
  conditional: true,
  idempotency: { require: true },
})
@Entity('back_once')
class BackOnce {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, default: 'ann' }) owner: string;
  @DeleteDateColumn() deletedAt: Date | null;
}

@RestifyController(BackPage)
class BackPageController extends ResourceController<BackPage> {
  override beforeWrite({ entity, operation }: Write<BackPage>): void {
    told.push(`${operation} ${entity.owner}`);
    if (entity.owner === 'nobody') throw new Error('not this one');
  }
}

const PAGES = '/rest/v1/back/backpage/';
const BOOKS = '/rest/v1/back/backbook/';
const ONCE = '/rest/v1/back/backonce/';

onEachDatabase('a deleted object', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [BackPage, BackBook, BackMark, BackRight, BackOnce, IdempotencyRecord],
      controllers: [BackPageController],
      database,
      restify: {
        authentication: [
          basic((name) => ({ name, permissions: name.split('+').map((right) => `back.${right}_backright`) })),
        ],
      },
    });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    for (const table of [BackMark, BackPage, BackBook, BackRight, BackOnce])
      await started.dataSource.manager.createQueryBuilder().delete().from(table).execute();
    told.length = 0;
  });

  const as = (name: string): { headers: { authorization: string } } => ({
    headers: { authorization: `Basic ${Buffer.from(`${name}:pw`).toString('base64')}` },
  });
  const post = async (
    path: string,
    who = 'ann',
    headers: object = {},
  ): Promise<readonly [number, unknown]> => {
    const { status, json } = await started.client.send('POST', path, {
      headers: { ...as(who).headers, ...headers },
    });
    return [status, json];
  };
  const page = async (values: Partial<BackPage> = {}, isDeleted = true): Promise<number> => {
    const { manager } = started.dataSource;
    const { id } = await manager.save(BackPage, { owner: 'ann', code: null, ...values });
    if (isDeleted) await manager.softDelete(BackPage, id);
    return id;
  };

  test('is restored, with its hooks and listeners, and its version', async () => {
    const id = await page();
    const shown = { id, owner: 'ann', code: null, book: null, deletedAt: null };
    const { client } = started;
    const { status, json, headers } = await client.send('POST', `${PAGES}${id}/restore/`, as('ann'));
    expect([status, json]).toEqual([200, { ...shown, version: 3 }]);
    expect(told).toEqual(['restore ann', 'before ann', 'after null']);
    const read = await client.get(`${PAGES}${id}/`, as('ann'));
    expect([read.json, read.headers.etag]).toEqual([json, headers.etag]);
  });

  test('is purged, as by a hard deletion', async () => {
    const id = await page();
    expect(await post(`${PAGES}${id}/purge/`)).toEqual([204, undefined]);
    expect(told).toEqual(['purge ann']);
    expect(await started.dataSource.manager.count(BackPage, { withDeleted: true })).toBe(0);
    const { id: book } = await started.dataSource.manager.save(BackBook, new BackBook());
    await started.dataSource.manager.save(BackMark, { book: { id: book } });
    await started.dataSource.manager.softDelete(BackBook, book);
    expect(await post(`${BOOKS}${book}/purge/`)).toEqual([
      409,
      { detail: 'This object cannot be deleted: objects of "back.backmark" still refer to it.' },
    ]);
  });

  test.each(['restore', 'purge'])('is 403, then 404, then 409 for %s', async (operation) => {
    const [kept, hidden, missing] = [await page({}, false), await page(), 999999];
    const foreign = await page({ owner: 'ann' }, false);
    expect(await post(`${PAGES}${kept}/${operation}/`, 'eve')).toMatchObject([403, expect.anything()]);
    expect(await post(`${PAGES}${missing}/${operation}/`, 'eve')).toMatchObject([403, expect.anything()]);
    expect(await post(`${PAGES}${hidden}/${operation}/`, 'bob')).toMatchObject([404, expect.anything()]);
    expect(await post(`${PAGES}${foreign}/${operation}/`, 'bob')).toMatchObject([404, expect.anything()]);
    expect(await post(`${PAGES}${missing}/${operation}/`)).toMatchObject([404, expect.anything()]);
    expect(await post(`${PAGES}${kept}/${operation}/`)).toEqual([
      409,
      { detail: 'This object is not deleted.' },
    ]);
    expect(told).toEqual([]);
    expect((await started.client.get(`${PAGES}${kept}/${operation}/`, as('ann'))).status).toBe(405);
  });

  test('is restored by none whose row has a unique value of it now', async () => {
    const { manager, options } = started.dataSource;
    // The index keeps deleted rows apart on databases that have partial ones.
    if (options.type === 'mysql' || options.type === 'mariadb') return;
    const [index] = started.dataSource.getMetadata(BackPage).indices;
    await manager.query(`DROP INDEX "${String(index?.name)}"`);
    await manager.query(
      `CREATE UNIQUE INDEX "${String(index?.name)}" ON back_page (code) WHERE "deletedAt" IS NULL`,
    );
    const id = await page({ owner: 'bob', code: 'x' });
    const other = await page({ owner: 'ann', code: 'x' }, false);
    expect(await post(`${PAGES}${id}/restore/`)).toEqual([
      409,
      { detail: 'This object cannot be restored: another object has the same "code".' },
    ]);
    expect(await post(`${PAGES}${id}/restore/`, 'bob')).toEqual([
      409,
      { detail: 'This object cannot be restored: an object with these values exists already.' },
    ]);
    await manager.delete(BackPage, other);
    expect(await post(`${PAGES}${id}/restore/`, 'bob')).toMatchObject([200, expect.anything()]);
  });

  test('is not restored if its related row was purged, and is if that row is in the trash', async () => {
    const { manager } = started.dataSource;
    const book = await manager.save(BackBook, new BackBook());
    const id = await page({ book });
    await manager.softDelete(BackBook, book.id);
    expect(await post(`${PAGES}${id}/restore/`)).toMatchObject([200, { book: book.id }]);
    await manager.softDelete(BackPage, id);
    expect(await post(`${BOOKS}${book.id}/purge/`)).toEqual([204, undefined]);
    expect(await post(`${PAGES}${id}/restore/`)).toEqual([
      409,
      {
        detail: 'This object cannot be restored: the object to which "book" refers does not exist any more.',
      },
    ]);
  });

  test.each(['restore', 'purge'])('obeys conditions of %s', async (operation) => {
    const id = await page();
    const { headers } = await started.client.get(`${PAGES}${id}/?deleted=only`, as('ann'));
    const path = `${PAGES}${id}/${operation}/`;
    expect(await post(path, 'ann', { 'if-match': '"other"' })).toMatchObject([412, expect.anything()]);
    expect(await post(path, 'ann', { 'if-match': String(headers.etag) })).toEqual(
      operation === 'restore' ? [200, expect.anything()] : [204, undefined],
    );
  });

  test('is restored or purged by one of those who try at once', async () => {
    const id = await page();
    const paths = ['restore', 'purge', 'restore', 'purge'].map((operation) => `${PAGES}${id}/${operation}/`);
    const statuses = (await Promise.all(paths.map((path) => post(path)))).map(([status]) => status);
    expect(statuses.filter((status) => status < 300)).toHaveLength(1);
    const loser = statuses.includes(200) ? 409 : 404;
    expect(statuses.filter((status) => status === loser)).toHaveLength(3);
  });

  test('stays deleted if a hook throws', async () => {
    const id = await page({ owner: 'nobody' });
    for (const operation of ['restore', 'purge'])
      expect(await post(`${PAGES}${id}/${operation}/`)).toMatchObject([500, expect.anything()]);
    expect((await started.client.get(`${PAGES}${id}/?deleted=only`, as('ann'))).status).toBe(200);
  });

  test('needs the permission restore, and has no URL without its operation', async () => {
    const { manager } = started.dataSource;
    const { id } = await manager.save(BackRight, new BackRight());
    await manager.softDelete(BackRight, id);
    const path = `/rest/v1/back/backright/${id}/`;
    expect(await post(`${path}restore/`, 'change+add+view_deleted')).toMatchObject([403, expect.anything()]);
    expect(await post(`${path}purge/`, 'purge')).toMatchObject([404, expect.anything()]);
    expect(await post(`${path}restore/`, 'restore')).toMatchObject([200, { id }]);
    const options = await started.client.send('OPTIONS', '/rest/v1/back/backright/', as('restore'));
    expect(options.json).toMatchObject({ trash: { restore: true, purge: false } });
  });

  test('is restored and purged by the code of the application', async () => {
    const pages = started.app.get(RestifyResources).of(BackPage);
    const id = await page();
    await expect(pages.as({ name: 'eve' }).restore(id)).rejects.toMatchObject({ response: { status: 403 } });
    expect(await pages.as({ name: 'ann' }).restore(id)).toMatchObject({ id, deletedAt: null });
    await pages.as({ name: 'ann' }).destroy(id);
    await pages.as({ name: 'ann' }).purge(id);
    expect(await started.dataSource.manager.count(BackPage, { withDeleted: true })).toBe(0);
  });

  describe('with an Idempotency-Key', () => {
    const once = async (): Promise<string> => {
      const { manager } = started.dataSource;
      const { id } = await manager.save(BackOnce, new BackOnce());
      await manager.softDelete(BackOnce, id);
      return `${ONCE}${id}/`;
    };
    let keys = 0;
    const freshKey = (): string => `key-${++keys}`;
    const keyed = (
      path: string,
      key: string,
      { who = 'ann', ...more }: { who?: string; body?: string } = {},
    ) =>
      started.client.send('POST', path, {
        headers: { ...as(who).headers, 'idempotency-key': key, 'content-type': 'text/plain' },
        ...more,
      });

    test('is restored once, and a repetition gets the same response', async () => {
      const [path, key] = [await once(), freshKey()];
      const first = await keyed(`${path}restore/`, key, { body: 'ignored' });
      expect([first.status, first.headers['idempotency-replayed']]).toEqual([200, undefined]);
      await started.dataSource.manager.softDelete(BackOnce, (first.json as { id: number }).id);
      const again = await keyed(`${path}restore/`, key);
      expect(again).toMatchObject({
        status: 200,
        text: first.text,
        headers: { 'idempotency-replayed': 'true' },
      });
      expect(again.headers.etag).toBe(first.headers.etag);
      expect((await started.client.get(path, as('ann'))).status).toBe(404);
      expect((await keyed(`${path}restore/`, freshKey())).status).toBe(200);
    });

    test('is purged once, and a repetition is no error', async () => {
      const [path, key] = [await once(), freshKey()];
      expect((await keyed(`${path}purge/`, key)).status).toBe(204);
      expect(await keyed(`${path}purge/`, key)).toMatchObject({
        status: 204,
        headers: { 'idempotency-replayed': 'true' },
      });
      expect((await post(`${path}purge/`))[0]).toBe(404);
      expect((await keyed(`${path}purge/`, key, { who: 'eve' })).status).toBe(403);
      expect((await keyed(`${path}purge/`, key, { who: 'bob' })).status).toBe(404);
    });

    test('is one for each object and operation, and for none that has failed', async () => {
      const [one, other, key] = [await once(), await once(), freshKey()];
      expect((await keyed(`${one}restore/`, key)).status).toBe(200);
      expect(await keyed(`${other}restore/`, key)).toMatchObject({
        status: 200,
        json: { id: expect.any(Number) },
      });
      expect((await keyed(`${one}purge/`, key)).status).toBe(409);
      expect((await started.client.send('DELETE', one, as('ann'))).status).toBe(204);
      expect((await keyed(`${one}purge/`, key)).status).toBe(204);
    });

    test('is read after the rights, and before the object', async () => {
      const missing = `${ONCE}999999/restore/`;
      expect((await keyed(missing, 'not one', { who: 'eve' })).status).toBe(403);
      expect((await keyed(missing, 'not one')).status).toBe(400);
      expect((await keyed(missing, freshKey())).status).toBe(404);
      expect((await post(missing))[0]).toBe(404);
    });

    test('is executed by one of those who send it at once', async () => {
      const [path, key] = [await once(), freshKey()];
      const answers = await Promise.all([1, 2, 3].map(() => keyed(`${path}restore/`, key)));
      const executed = answers.filter(
        ({ status, headers }) => status === 200 && headers['idempotency-replayed'] === undefined,
      );
      expect(executed).toHaveLength(1);
      expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    });
  });
});
