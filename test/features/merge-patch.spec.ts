// @tags db http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  allow,
  deny,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
} from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission, Write } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
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

/** Callers of the role `blind` write everything and read titles; of the role `reader` read everything; others may do everything. */
class Roles implements Permission {
  decide({ actor, method }: AccessContext): Grant | Denial {
    const role = (actor as { readonly role: string } | null)?.role;
    if (role === 'reader' && method !== 'GET') return deny();
    return role === 'blind' ? allow({ readable: ['id', 'title'] }) : allow();
  }
}

class Address {
  @Column({ length: 20, default: '' })
  city: string;

  @Column({ type: 'simple-json', nullable: true })
  access: unknown;
}

@Restify({
  app: 'merging',
  mergePatch: true,
  permissions: [Roles],
  conditional: true,
  bulk: { upsert: ['title'] },
})
@Entity('merging_device')
class Device {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  title: string;

  @Column({ type: 'json', nullable: true })
  meta: unknown;

  @Column({ type: 'simple-json', nullable: true })
  limits: unknown;

  @Column({
    type: 'simple-json',
    nullable: true,
    transformer: { from: (v: unknown) => v, to: (v: unknown) => v },
  })
  packed: unknown;

  @Column(() => Address)
  address: Address;

  @UpdateDateColumn({ precision: 3 })
  changed: Date;

  @VersionColumn()
  version: number;

  @ManyToMany(() => Tag, (tag) => tag.devices)
  @JoinTable({
    name: 'merging_tagging',
    joinColumn: { name: 'deviceId' },
    inverseJoinColumn: { name: 'tagCode' },
    synchronize: false,
  })
  tags: Relation<Tag[]>;
}

@Restify({ app: 'merging', mergePatch: true, strict: 'writes' })
@Entity('merging_tagging')
class Tagging {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  deviceId: number;

  @ManyToOne(() => Device, { nullable: false })
  device: Relation<Device>;

  @ManyToOne(() => Tag, { nullable: false })
  tag: Relation<Tag>;

  @Column({ type: 'simple-json', nullable: true })
  note: unknown;
}

/** Without the option. */
@Restify('merging')
@Entity('merging_tag')
class Tag {
  @PrimaryColumn({ length: 10 })
  code: string;

  @Column({ type: 'simple-json', nullable: true })
  meta: unknown;

  @ManyToMany(() => Device, (device) => device.tags)
  devices: Relation<Device[]>;
}

/** Its hook sees what will be stored, and PATCH is a method of the application in `Custom`. */
@Restify({ app: 'merging', mergePatch: true })
@Entity('merging_hooked')
class Hooked {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'simple-json' })
  meta: Record<string, unknown>;
}

@RestifyController(Hooked)
class HookedController extends ResourceController<Hooked> {
  static seen: unknown[] = [];

  override beforeWrite({ entity }: Write<Hooked>): void {
    HookedController.seen.push(structuredClone(entity.meta));
    if (entity.meta.bad === true) throw new Error('bad');
    entity.meta = { ...entity.meta, hooked: true };
  }
}

@Restify({ app: 'merging', mergePatch: true })
@Entity('merging_custom')
class Custom {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'simple-json', nullable: true })
  meta: unknown;
}

@RestifyController(Custom)
class CustomController extends ResourceController<Custom> {
  override partialUpdate(request: object): Promise<unknown> {
    return super.partialUpdate(request) as Promise<unknown>;
  }
}

onEachDatabase('merge patches', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Device, Tag, Tagging, Hooked, Custom],
      controllers: [HookedController, CustomController],
      database,
      configure: (app) => {
        app.use(
          (request: { headers: Record<string, string>; user?: object }, _: unknown, next: () => void) => {
            if (request.headers['x-role']) request.user = { role: request.headers['x-role'] };
            next();
          },
        );
      },
    });
    const { manager } = started.dataSource;
    await manager.save(Device, { title: 'one' });
    await manager.save(Tag, { code: 'x', meta: { a: 1 } });
    await manager.insert(Tagging, { device: { id: 1 }, tag: { code: 'x' }, note: { a: { b: 1, c: 2 } } });
    await manager.save(Hooked, { meta: { a: 1 } });
    await manager.save(Custom, { meta: { a: 1 } });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    const put = {
      title: 'one',
      meta: { a: 1, b: { c: 2, d: [3] } },
      limits: null,
      address: { city: 'Oslo', access: { gate: 1 } },
    };
    expect((await send('PATCH', 'device/1/', put, { 'content-type': 'application/json' })).status).toBe(200);
  });

  const send = (
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = MERGE,
  ): Promise<Answer> =>
    started.client.send(method, `/rest/v1/merging/${path}`, {
      headers: { ...MERGE, ...headers },
      raw: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const read = async (path = 'device/1/'): Promise<Answer> => started.client.get(`/rest/v1/merging/${path}`);

  test.each<readonly [string, unknown, unknown]>([
    ['a member', { meta: { a: 5 } }, { meta: { a: 5, b: { c: 2, d: [3] } } }],
    ['a member of a member', { meta: { b: { c: null, e: 1 } } }, { meta: { a: 1, b: { d: [3], e: 1 } } }],
    ['a list, as a whole', { meta: { b: { d: [null, 4] } } }, { meta: { a: 1, b: { c: 2, d: [null, 4] } } }],
    ['NULL, as an empty object', { limits: { a: { b: null }, c: null } }, { limits: { a: {} } }],
    ['a list as the value', { meta: [1] }, { meta: [1] }],
    ['null as the value', { meta: null }, { meta: null }],
    [
      'an embedded object',
      { address: { access: { gate: null, key: 2 } } },
      { address: { city: 'Oslo', access: { key: 2 } } },
    ],
    [
      'other columns beside JSON',
      { title: 'one', address: { city: 'Rom' } },
      { title: 'one', address: { city: 'Rom', access: { gate: 1 } } },
    ],
    ['nothing', {}, { meta: { a: 1, b: { c: 2, d: [3] } } }],
    ['nothing but an empty object', { meta: {} }, { meta: { a: 1, b: { c: 2, d: [3] } } }],
  ])('change %s', async (_, patch, expected) => {
    const written = await send('PATCH', 'device/1/', patch);
    expect([written.status, written.json]).toMatchObject([200, expected as object]);
    expect((await read()).json).toEqual(written.json);
    expect(written.headers.etag).toBe((await read()).headers.etag);
  });

  test('raise the version and the update date where something changes', async () => {
    const { json } = await read();
    const { version } = json as Device;
    expect((await send('PATCH', 'device/1/', { meta: { a: 1 } })).json).toEqual(json);
    expect((await send('PATCH', 'device/1/', { meta: { a: 2 } })).json).toMatchObject({
      version: version + 1,
    });
  });

  test('keep numbers that JavaScript would change', async () => {
    await send('PATCH', 'device/1/', '{"limits": {"big": 12345678901234567890, "exact": 1.10}}');
    const { status, text } = await send('PATCH', 'device/1/', '{"limits": {"more": 98765432109876543210}}');
    expect([status, text]).toEqual([
      200,
      expect.stringContaining(
        '"limits":{"big":12345678901234567890,"exact":1.10,"more":98765432109876543210}',
      ),
    ]);
    expect((await read()).text).toBe(text);
  });

  test('of two at once, none is lost', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        send('PATCH', 'device/1/', { meta: { [`key${index}`]: index } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { meta } = (await read()).json as { meta: object };
    expect(Object.keys(meta)).toHaveLength(14);
  });

  test('meet If-Match', async () => {
    const { etag = '' } = (await read()).headers;
    expect((await send('PATCH', 'device/1/', { meta: { a: 7 } }, { 'if-match': etag })).status).toBe(200);
    expect((await send('PATCH', 'device/1/', { meta: { a: 8 } }, { 'if-match': etag })).status).toBe(412);
    expect((await read()).json).toMatchObject({ meta: { a: 7 } });
  });

  test('merge into what the caller may not read, and do not show it', async () => {
    const { status, json } = await send('PATCH', 'device/1/', { meta: { a: null } }, { 'x-role': 'blind' });
    expect([status, json]).toEqual([200, { id: 1, title: 'one' }]);
    expect((await read()).json).toMatchObject({ meta: { b: { c: 2, d: [3] } } });
    expect((await send('PATCH', 'device/1/', { meta: { a: 1 } }, { 'x-role': 'reader' })).status).toBe(403);
  });

  test('write through objects at both URLs, and values that a strict model allows to everyone', async () => {
    const own = await send('PATCH', 'tagging/1/', { note: { a: { b: null } } });
    expect([own.status, own.json]).toMatchObject([200, { note: { a: { c: 2 } } }]);
    const nested = await send('PATCH', 'device/1/tags/1/', { note: { a: { b: 1 } } });
    expect([nested.status, nested.json]).toMatchObject([200, { note: { a: { c: 2, b: 1 } } }]);
  });

  test('show hooks what will be stored, and store nothing if one throws', async () => {
    HookedController.seen = [];
    expect((await send('PATCH', 'hooked/1/', { meta: { b: 2 } })).json).toMatchObject({
      meta: { a: 1, b: 2, hooked: true },
    });
    expect(HookedController.seen).toEqual([{ a: 1, b: 2 }]);
    expect((await send('PATCH', 'hooked/1/', { meta: { bad: true } })).status).toBe(500);
    expect((await read('hooked/1/')).json).toEqual({ id: 1, meta: { a: 1, b: 2, hooked: true } });
    await started.dataSource.manager.update(Hooked, 1, { meta: { a: 1 } });
  });

  test('run from the code of the application', async () => {
    const resources = started.app.get(RestifyResources).of(Tag).as(null);
    expect(await resources.mergePatch('x', { meta: { b: 2 } })).toMatchObject({ meta: { a: 1, b: 2 } });
    await resources.partialUpdate('x', { meta: { a: 1 } });
  });

  describe('are 400', () => {
    test.each<readonly [string, unknown, unknown]>([
      ['a list', '[1]', { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] }],
      ['no JSON', '{"meta"', { detail: expect.stringMatching(/^JSON parse error/) }],
      [
        'a wrong value',
        { title: 'x'.repeat(21), meta: { a: 9 } },
        { title: ['Ensure this field has no more than 20 characters.'] },
      ],
      [
        'an object for JSON with a transformer',
        { packed: { a: 1 } },
        { packed: ['This field cannot be merged. Send its whole value in a PATCH of application/json.'] },
      ],
    ])('with %s', async (_, patch, errors) => {
      const { status, json } = await send('PATCH', 'device/1/', patch);
      expect([status, json]).toEqual([400, errors]);
      expect((await read()).json).toMatchObject({ meta: { a: 1 } });
    });
  });

  test.each([
    ['a model without the option', 'PATCH', 'tag/x/', { meta: {} }, 'application/json'],
    ['a list of changes', 'PATCH', 'device/', [{ id: 1, meta: {} }], undefined],
    ['a PATCH by filter', 'PATCH', 'device/?title=one', { meta: {} }, undefined],
    ['POST', 'POST', 'device/', { title: 'new' }, undefined],
    ['PUT', 'PUT', 'device/1/', { title: 'new' }, undefined],
    ['a method of the application', 'PATCH', 'custom/1/', { meta: {} }, undefined],
  ] as const)('are 415 for %s', async (_, method, path, body, accepted) => {
    const { status, headers } = await send(method, path, body);
    expect(status).toBe(415);
    if (accepted !== undefined) expect(headers['accept-patch']).toBe(accepted);
  });

  test('are 415 with another charset, and with a content coding that is not decoded', async () => {
    const other = await send(
      'PATCH',
      'device/1/',
      {},
      { 'content-type': `${MERGE['content-type']}; charset=latin1` },
    );
    expect([other.status, other.headers['accept-patch']]).toEqual([
      415,
      'application/json, application/merge-patch+json',
    ]);
    const utf8 = await send(
      'PATCH',
      'device/1/',
      {},
      { 'content-type': `${MERGE['content-type']}; charset=UTF-8` },
    );
    expect(utf8.status).toBe(200);
    expect((await send('PATCH', 'device/1/', {}, { 'content-encoding': 'zstd' })).status).toBe(415);
  });

  test('are named by OPTIONS and in the document', async () => {
    const options = (path: string): Promise<Answer> =>
      started.client.send('OPTIONS', `/rest/v1/merging/${path}`);
    expect((await options('device/1/')).json).toMatchObject({
      parses: ['application/json', MERGE['content-type']],
    });
    for (const path of ['device/', 'tag/x/', 'custom/1/'])
      expect((await options(path)).json).toMatchObject({ parses: ['application/json'] });
  });
});
