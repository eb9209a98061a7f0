// @tags db http nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, basic, Restify } from 'nestjs-restify';
import type { AccessContext, Grant, Permission, Write, WriteHooks } from 'nestjs-restify';
import { Column, DeleteDateColumn, Entity, PrimaryGeneratedColumn, UpdateDateColumn } from 'typeorm';
import { documentOf, parametersOf } from '../openapi/document.js';
import type { PlainDocument } from '../openapi/document.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Bob does not see `secret`, and may write only `title`. */
class KeeperRules implements Permission {
  readonly decidesOnDeleted = true;

  decide({ actor }: AccessContext): Grant {
    const { name } = (actor ?? {}) as { readonly name?: string };
    if (name !== 'bob') return allow();
    return allow({ readable: ['id', 'title', 'price', 'changed'], writable: ['title'] });
  }
}

@Restify({
  app: 'keep',
  permissions: [KeeperRules],
  trash: true,
  strict: 'writes',
  conditional: { require: true },
  exclude: ['gone'],
  shape: true,
})
@Entity('keep_item')
class KeepItem {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) title: string;
  @Column({ default: 7 }) price: number;
  @Column({ length: 20, default: 'hush' }) secret: string;
  @UpdateDateColumn({ precision: 3 }) changed: Date;
  @DeleteDateColumn({ precision: 3 }) gone: Date | null;
}

@Entity('keep_entry')
class KeepEntry {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 60 }) text: string;
}

/** Notes each write in its transaction. */
class KeepHooks implements WriteHooks {
  async beforeWrite({ operation, manager }: Write): Promise<void> {
    await manager.save(KeepEntry, { text: `before ${operation}` });
  }

  async afterWrite({ operation, manager, entity }: Write): Promise<void> {
    await manager.save(KeepEntry, { text: `after ${operation}` });
    if ((entity as KeepItem).title === 'refused') throw new Error('refused by a hook');
  }
}

const ITEMS = '/rest/v1/keep/keepitem/';

onEachDatabase('a trash beside hooks of the prefix, strict writes and conditions', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [KeepItem, KeepEntry],
      database,
      restify: { authentication: [basic((name) => ({ name }))], hooks: [KeepHooks] },
    });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    const { manager } = started.dataSource;
    for (const table of [KeepItem, KeepEntry])
      await manager.createQueryBuilder().delete().from(table).execute();
  });

  const send = (
    method: string,
    path: string,
    { who = 'ann', body, match }: { who?: string; body?: object; match?: string | undefined } = {},
  ) =>
    started.client.send(method, path, {
      headers: {
        authorization: `Basic ${Buffer.from(`${who}:pw`).toString('base64')}`,
        ...(match === undefined ? {} : { 'if-match': match }),
      },
      ...(body ? { body } : {}),
    });
  const deleted = async (title = 'gone'): Promise<string> => {
    const { manager } = started.dataSource;
    const { id } = await manager.save(KeepItem, { title });
    await manager.softDelete(KeepItem, id);
    return `${ITEMS}${id}/`;
  };
  const tagOf = async (path: string, who = 'ann'): Promise<string> =>
    String((await send('GET', path, { who })).headers.etag);
  const entries = async (): Promise<readonly string[]> =>
    (await started.dataSource.getRepository(KeepEntry).find({ order: { id: 'ASC' } })).map(
      ({ text }) => text,
    );

  test.each([
    ['restore', 200],
    ['purge', 204],
  ])('demands the state of the object, of %s too, and hooks run once it is the one', async (name, status) => {
    const path = await deleted();
    const url = `${path}${name}/`;
    expect((await send('POST', url)).status).toBe(428);
    expect((await send('POST', url, { match: '"other"' })).status).toBe(412);
    const live = `${ITEMS}${(await started.dataSource.manager.save(KeepItem, { title: 'live' })).id}/`;
    expect((await send('POST', `${live}${name}/`, { match: await tagOf(live) })).status).toBe(409);
    expect(await entries()).toEqual([]);
    expect((await send('POST', url, { match: await tagOf(`${path}?deleted=only`) })).status).toBe(status);
    expect(await entries()).toEqual([`before ${name}`, `after ${name}`]);
  });

  test('is left by an object that goes on with the tag of its restoration, under the grant of its caller', async () => {
    const path = await deleted();
    const who = 'bob';
    const match = await tagOf(`${path}?deleted=only`, who);
    expect(match).not.toBe(await tagOf(`${path}?deleted=only`));
    const restored = await send('POST', `${path}restore/`, { who, match, body: { secret: 'ignored' } });
    expect([restored.status, Object.keys(restored.json as object)]).toEqual([
      200,
      ['id', 'title', 'price', 'changed'],
    ]);
    expect(restored.headers.etag).toBe(await tagOf(path, who));
    const tag = String(restored.headers.etag);
    expect(await send('PATCH', path, { who, match: tag, body: { price: 8, secret: 'x' } })).toMatchObject({
      status: 400,
      json: { price: ['You do not have permission to write this field.'], secret: ['Unknown field.'] },
    });
    expect(await send('PUT', path, { who, match: tag, body: restored.json as object })).toMatchObject({
      status: 200,
    });
    expect(await started.dataSource.manager.find(KeepItem)).toMatchObject([{ secret: 'hush', price: 7 }]);
  });

  test('is written by its own URLs alone', async () => {
    const path = await deleted();
    const match = await tagOf(`${path}?deleted=only`);
    for (const [method, body] of [
      ['PUT', { title: 'x' }],
      ['PATCH', { title: 'x' }],
      ['DELETE', undefined],
    ] as const)
      expect((await send(method, path, { match, ...(body ? { body } : {}) })).status).toBe(404);
    for (const name of ['restore', 'purge'])
      expect(await send('POST', `${path}${name}/?deleted=only`, { match })).toMatchObject({
        status: 400,
        json: { deleted: ['Unknown parameter.'] },
      });
    expect((await send('POST', `${path}restore/?fields=title`, { match })).json).toEqual({ title: 'gone' });
  });

  test('is as it was if a hook of the prefix throws', async () => {
    const path = await deleted('refused');
    const match = await tagOf(`${path}?deleted=only`);
    for (const name of ['restore', 'purge'])
      expect((await send('POST', `${path}${name}/`, { match })).status).toBe(500);
    expect(await entries()).toEqual([]);
    expect(await tagOf(`${path}?deleted=only`)).toBe(match);
  });

  test('is in the OpenAPI document, with its parameter and the statuses of its URLs', () => {
    const document: PlainDocument = documentOf(started.app);
    const one = '/rest/v1/keep/keepitem/{pk}';
    const values = { type: 'string', enum: ['only', 'with'] };
    for (const path of ['/rest/v1/keep/keepitem', one]) {
      const { get } = document.paths[path] ?? {};
      expect(get && parametersOf(get, 'query')).toMatchObject({ deleted: values });
      expect(Object.keys(get?.responses ?? {})).toEqual(expect.arrayContaining(['200', '400', '401', '403']));
    }
    for (const [name, status] of [
      ['restore', '200'],
      ['purge', '204'],
    ] as const) {
      const { post, ...others } = document.paths[`${one}/${name}`] ?? {};
      expect(others).toEqual({});
      expect(post?.requestBody).toBeUndefined();
      expect(post && Object.keys(parametersOf(post, 'header'))).toContain('If-Match');
      expect(Object.keys(post?.responses ?? {}).sort()).toEqual(
        [status, '400', '401', '403', '404', '406', '409', '412', '428', '429', '500', '503'].sort(),
      );
    }
  });
});
