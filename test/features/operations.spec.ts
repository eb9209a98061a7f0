// @tags db http nest
import { METHODS } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import type { Operation } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('ops')
@Entity()
class Widget {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @Column({ default: 5 })
  size: number;

  @Column({ type: 'simple-enum', enum: ['red', 'blue'], default: 'red' })
  colour: string;

  @Column({ type: String, length: 20, nullable: true })
  remark: string | null;

  @OneToMany(() => Part, (part) => part.widget)
  parts: Relation<Part[]>;

  @ManyToMany(() => Label, (label) => label.widgets)
  @JoinTable()
  labels: Relation<Label[]>;
}

@Restify('ops')
@Entity()
class Part {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Widget, (widget) => widget.parts, { onDelete: 'CASCADE' })
  widget: Relation<Widget> | null;
}

@Restify('ops')
@Entity()
class Label {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Widget, (widget) => widget.labels)
  widgets: Relation<Widget[]>;
}

@Restify('ops')
@Entity()
class Coupon {
  @PrimaryColumn({ length: 20 })
  code: string;

  @Column({ default: '' })
  note: string;
}

@Restify('ops')
@Entity()
class Seat {
  @PrimaryColumn({ length: 5 })
  line: string;

  @PrimaryColumn({ type: 'smallint' })
  place: number;

  @Column({ default: '' })
  note: string;
}

const OPS = '/rest/v1/ops';
const MODELS = [Widget, Part, Label, Coupon, Seat];
const NOT_FOUND = { detail: 'Not found.' };

onEachDatabase('the six operations', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: MODELS, database });
  });
  afterAll(() => started.close());

  async function make(
    body: object = {},
  ): Promise<{ readonly path: string; readonly body: Record<string, unknown> }> {
    const created = await started.client.post(`${OPS}/widget/`, { name: 'w', ...body });
    expect(created.status).toBe(201);
    const shown = created.json as Record<string, unknown>;
    return { path: `${OPS}/widget/${String(shown.id)}/`, body: shown };
  }

  test('list gives [] first, then a plain array in the order of the keys', async () => {
    const empty = await started.client.get(`${OPS}/label/`);
    expect([empty.status, empty.text, empty.headers.allow]).toEqual([200, '[]', 'GET, POST, HEAD, OPTIONS']);
    await started.client.post(`${OPS}/label/`, {});
    await started.client.post(`${OPS}/label/`);
    const two = await started.client.get(`${OPS}/label/`);
    expect([two.status, two.json]).toEqual([
      200,
      [1, 2].map((id) => ({ id, widgets: `${OPS}/label/${id}/widgets/` })),
    ]);
  });

  test('create gives 201, the whole object and its absolute URL, at which it is', async () => {
    const created = await started.client.post(
      `${OPS}/widget/`,
      { name: 'new', remark: 'r' },
      { headers: { host: 'example.org' } },
    );
    const id = (created.json as { id: number }).id;
    const links = { parts: `${OPS}/widget/${id}/parts/`, labels: `${OPS}/widget/${id}/labels/` };
    expect([created.status, created.text]).toEqual([
      201,
      JSON.stringify({ id, name: 'new', size: 5, colour: 'red', remark: 'r', ...links }),
    ]);
    expect([created.headers.location, created.headers.allow]).toEqual([
      `http://example.org${OPS}/widget/${id}/`,
      'GET, POST, HEAD, OPTIONS',
    ]);
    const got = await started.client.get(`${OPS}/widget/${id}/`);
    expect([got.status, got.text, got.headers.allow]).toEqual([
      200,
      created.text,
      'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
    ]);
  });

  test('create generates the key, and ignores one in the body', async () => {
    const { body } = await make();
    const second = await started.client.post(`${OPS}/widget/`, { id: body.id, name: 'second' });
    expect(second.status).toBe(201);
    expect((second.json as { id: number }).id).not.toBe(body.id);
    expect((await started.client.get(`${OPS}/widget/${String(body.id)}/`)).json).toEqual(body);
  });

  test('create only ever inserts: a natural key that exists is refused under its field', async () => {
    const { client } = started;
    expect((await client.post(`${OPS}/coupon/`, { code: 'X', note: 'first' })).status).toBe(201);
    const again = await client.post(`${OPS}/coupon/`, { code: 'X', note: 'second' });
    expect([again.status, again.json]).toEqual([400, { code: [expect.any(String)] }]);
    expect((await client.get(`${OPS}/coupon/X/`)).json).toEqual({ code: 'X', note: 'first' });
  });

  test('create only ever inserts: a composite key that exists is refused, and another one is not', async () => {
    const { client } = started;
    expect((await client.post(`${OPS}/seat/`, { line: 'A', place: 1, note: 'first' })).status).toBe(201);
    const again = await client.post(`${OPS}/seat/`, { line: 'A', place: 1, note: 'second' });
    expect([again.status, again.json]).toEqual([400, { non_field_errors: [expect.any(String)] }]);
    expect((await client.get(`${OPS}/seat/A,1/`)).json).toEqual({ line: 'A', place: 1, note: 'first' });
    expect((await client.post(`${OPS}/seat/`, { line: 'A', place: 2 })).status).toBe(201);
  });

  test('update replaces what is sent, and a required field left out is an error', async () => {
    const { path, body } = await make({ size: 7, remark: 'kept' });
    const missing = await started.client.put(path, { size: 8 });
    expect([missing.status, missing.json]).toEqual([400, { name: ['This field is required.'] }]);
    expect((await started.client.get(path)).json).toEqual(body);
    const put = await started.client.put(path, { name: 'replaced', colour: 'blue' });
    expect([put.status, put.json]).toEqual([200, { ...body, name: 'replaced', colour: 'blue' }]);
    expect((await started.client.get(path)).json).toEqual(put.json);
  });

  test('update and partialUpdate ignore a key in the body: the URL names the object', async () => {
    const [one, two] = [await make({ name: 'one' }), await make({ name: 'two' })];
    const put = await started.client.put(one.path, { id: two.body.id, name: 'changed' });
    expect([put.status, put.json]).toEqual([200, { ...one.body, name: 'changed' }]);
    const patch = await started.client.patch(one.path, { id: 999999, name: 'again' });
    expect([patch.status, patch.json]).toEqual([200, { ...one.body, name: 'again' }]);
    expect((await started.client.get(two.path)).json).toEqual(two.body);
    expect((await started.client.get(`${OPS}/widget/999999/`)).status).toBe(404);
    await started.client.post(`${OPS}/coupon/`, { code: 'K' });
    const natural = await started.client.patch(`${OPS}/coupon/K/`, { code: 'L', note: 'n' });
    expect([natural.status, natural.json]).toEqual([200, { code: 'K', note: 'n' }]);
    expect((await started.client.get(`${OPS}/coupon/L/`)).status).toBe(404);
  });

  test.each<readonly [string, object]>([
    ['one field', { name: 'p' }],
    ['several', { name: 'p', size: 1, remark: null }],
    ['none', {}],
    ['only unknown ones', { nonsense: 1 }],
  ])('partialUpdate takes any subset of the fields: %s', async (_title, changes) => {
    const { path, body } = await make({ remark: 'r' });
    const changed = await started.client.patch(path, changes);
    expect([changed.status, changed.json]).toEqual([
      200,
      { ...body, ...('nonsense' in changes ? {} : changes) },
    ]);
    expect((await started.client.get(path)).json).toEqual(changed.json);
  });

  test('partialUpdate takes an empty body, with and without a type', async () => {
    const { path, body } = await make();
    for (const headers of [undefined, { 'content-type': 'application/json' }]) {
      const changed = await started.client.send('PATCH', path, headers ? { headers } : {});
      expect([changed.status, changed.json]).toEqual([200, body]);
      const empty = await started.client.send('PATCH', path, { raw: '', ...(headers ? { headers } : {}) });
      expect([empty.status, empty.json]).toEqual([200, body]);
    }
  });

  test('destroy is 204 without a body, and deletes the object', async () => {
    const { path, body } = await make();
    await started.client.post(`${OPS}/part/`, { widget: body.id });
    const deleted = await started.client.delete(path);
    expect([deleted.status, deleted.text, deleted.headers['content-type']]).toEqual([204, '', undefined]);
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const gone = await started.client.send(
        method,
        path,
        method === 'GET' || method === 'DELETE' ? {} : { body: { name: 'x' } },
      );
      expect([method, gone.status, gone.json]).toEqual([method, 404, NOT_FOUND]);
    }
  });

  test('GET and DELETE ignore a body', async () => {
    const { path, body } = await make();
    const broken = { raw: '{', headers: { 'content-type': 'text/plain' } };
    const got = await started.client.send('GET', path, broken);
    expect([got.status, got.json]).toEqual([200, body]);
    const json = await started.client.send('GET', path, {
      raw: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect([json.status, json.json]).toEqual([200, body]);
    expect(
      (
        await started.client.send('DELETE', path, {
          raw: '{',
          headers: { 'content-type': 'application/json' },
        })
      ).status,
    ).toBe(204);
  });

  test.each(
    [
      'abc',
      '1.5',
      '0',
      '-1',
      '99999999999999999999',
      '2147483648',
      '9223372036854775808',
      '1e3',
      '0x1',
      '01',
      '+1',
      '%00',
      '1%00',
      '%ZZ',
      '%',
      '%C3%28',
      '%ED%A0%80',
      '1%20',
      ' 1',
      '1;drop',
      'NaN',
      'null',
      '[object Object]',
      'x'.repeat(5000),
      '%F0%9F%98%80',
      '1,2',
    ].map((key) => [key.slice(0, 20), key] as const),
  )('a key that cannot be one is 404 for every method, and below it too: %s', async (_title, key) => {
    const path = `${OPS}/widget/${key.replaceAll(' ', '%20')}/`;
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await started.client.send(
        method,
        path,
        method === 'PUT' || method === 'PATCH' ? { body: { name: 'x' } } : {},
      );
      expect([method, answer.status, answer.json]).toEqual([
        method,
        404,
        method === 'HEAD' ? undefined : NOT_FOUND,
      ]);
    }
    for (const nested of ['parts/', 'labels/', 'labels/1/']) {
      const answer = await started.client.get(path + nested);
      expect([nested, answer.status, answer.json]).toEqual([nested, 404, NOT_FOUND]);
    }
  });

  test.each(['abc', '1.5', '99999999999999999999', '%00', '%ZZ', '1/2', 'a//b', '%20', '1%20'])(
    'a child key that cannot be one is 404: %s',
    async (child) => {
      const { path } = await make();
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await started.client.send(
          method,
          `${path}labels/${child}/`,
          method === 'PUT' || method === 'PATCH' ? { body: {} } : {},
        );
        expect([method, answer.status, answer.json]).toEqual([method, 404, NOT_FOUND]);
      }
    },
  );

  test('nested lists give the children and the through objects, whose Location is the nested detail', async () => {
    const { client, port } = started;
    const { path, body } = await make();
    const part = await client.post(`${OPS}/part/`, { widget: body.id });
    const parts = await client.get(`${path}parts/`);
    expect([parts.status, parts.json, parts.headers.allow]).toEqual([200, [part.json], 'GET, HEAD, OPTIONS']);
    const label = ((await client.post(`${OPS}/label/`, {})).json as { id: number }).id;
    const joined = await client.post(`${path}labels/`, { label });
    expect([joined.status, joined.json, joined.headers.location]).toEqual([
      201,
      { id: label, widget: body.id, label },
      `http://127.0.0.1:${port}${path}labels/${label}/`,
    ]);
    const list = await client.get(`${path}labels/`);
    expect([list.status, list.json, list.headers.allow]).toEqual([
      200,
      [joined.json],
      'GET, POST, HEAD, OPTIONS',
    ]);
    const detail = await client.get(`${path}labels/${label}/`);
    expect([detail.status, detail.json, detail.headers.allow]).toEqual([
      200,
      joined.json,
      'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
    ]);
    const again = await client.post(`${path}labels/`, { label });
    expect([again.status, again.json]).toEqual([400, { non_field_errors: [expect.any(String)] }]);
    expect((await client.delete(`${path}labels/${label}/`)).status).toBe(204);
    expect((await client.get(`${path}labels/`)).text).toBe('[]');
  });

  test('a nested URL of a parent that does not exist is 404 for every method', async () => {
    for (const [method, nested] of [
      ['GET', 'parts/'],
      ['GET', 'labels/'],
      ['POST', 'labels/'],
      ['GET', 'labels/1/'],
      ['PUT', 'labels/1/'],
      ['PATCH', 'labels/1/'],
      ['DELETE', 'labels/1/'],
    ] as const) {
      const answer = await started.client.send(
        method,
        `${OPS}/widget/888888/${nested}`,
        method === 'POST' || method === 'PUT' ? { body: { label: 1 } } : {},
      );
      expect([method, nested, answer.status, answer.json]).toEqual([method, nested, 404, NOT_FOUND]);
    }
  });
});

describe('HEAD and OPTIONS', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: MODELS });
    await started.client.post(`${OPS}/widget/`, { name: 'w' });
    await started.client.post(`${OPS}/part/`, { widget: 1 });
    await started.client.post(`${OPS}/label/`, {});
    await started.client.post(`${OPS}/widget/1/labels/`, { label: 1 });
  });
  afterAll(() => started.close());

  const URLS = ['/widget/', '/widget/1/', '/widget/1/parts/', '/widget/1/labels/', '/widget/1/labels/1/'];

  test.each([
    ...URLS,
    '/widget/9/',
    '/widget/x/',
    '/widget/9/parts/',
    '/none/',
    '/widget/?size=x',
    '/widget/1',
  ])('HEAD answers as GET does, without a body: %s', async (url) => {
    const [get, head] = [await started.client.get(OPS + url), await started.client.send('HEAD', OPS + url)];
    expect([head.status, head.text]).toEqual([get.status, '']);
    expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' });
  });

  const FIELDS = {
    id: { type: 'integer', required: false, read_only: true, label: 'ID' },
    name: { type: 'string', required: true, read_only: false, label: 'Name', max_length: 20 },
    size: { type: 'integer', required: false, read_only: false, label: 'Size' },
    colour: {
      type: 'choice',
      required: false,
      read_only: false,
      label: 'Colour',
      choices: [{ value: 'red' }, { value: 'blue' }],
    },
    remark: { type: 'string', required: false, read_only: false, label: 'Remark', max_length: 20 },
    parts: { required: false, read_only: true, label: 'Parts' },
    labels: { required: false, read_only: true, label: 'Labels' },
  };

  test.each([
    ['/widget/', 'POST', 'GET, POST, HEAD, OPTIONS'],
    ['/widget/1/', 'PUT', 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS'],
  ])('OPTIONS describes the model: %s', async (url, method, allow) => {
    const answer = await started.client.send('OPTIONS', OPS + url);
    expect([answer.status, answer.headers.allow]).toEqual([200, allow]);
    expect(answer.json).toMatchObject({
      name: expect.stringContaining('Widget'),
      description: expect.any(String),
      renders: ['application/json'],
      parses: ['application/json'],
      actions: { [method]: FIELDS },
    });
    // What can be queried follows (descriptions.spec.ts); these five stay first.
    expect(Object.keys(answer.json as object).slice(0, 5)).toEqual([
      'name',
      'description',
      'renders',
      'parses',
      'actions',
    ]);
    const { actions } = answer.json as { actions: Record<string, Record<string, unknown>> };
    expect(Object.keys(actions)).toEqual([method]);
    expect(Object.keys(actions[method] ?? {})).toEqual(Object.keys(FIELDS));
  });

  test('OPTIONS shows that a natural key is set once, and that a nested list takes no body', async () => {
    const list = await started.client.send('OPTIONS', `${OPS}/coupon/`);
    expect(list.json).toMatchObject({
      actions: { POST: { code: { required: true, read_only: false, max_length: 20 } } },
    });
    const object = await started.client.send('OPTIONS', `${OPS}/coupon/any/`);
    expect(object.json).toMatchObject({ actions: { PUT: { code: { required: false, read_only: true } } } });
    const nested = await started.client.send('OPTIONS', `${OPS}/widget/1/parts/`);
    expect([nested.status, nested.json, nested.headers.allow]).toMatchObject([
      200,
      { actions: {} },
      'GET, HEAD, OPTIONS',
    ]);
    expect((nested.json as { actions: object }).actions).toEqual({});
  });

  test('OPTIONS of a through list has the other side as a required field, and not the parent', async () => {
    const answer = await started.client.send('OPTIONS', `${OPS}/widget/1/labels/`);
    expect([answer.status, answer.json]).toMatchObject([
      200,
      {
        actions: {
          POST: {
            id: { read_only: true },
            label: { required: true, read_only: false },
            widget: { required: false },
          },
        },
      },
    ]);
  });

  test('OPTIONS reads no row: an object that does not exist answers the same', async () => {
    for (const [there, missing] of [
      ['/widget/1/', '/widget/404/'],
      ['/widget/1/labels/1/', '/widget/404/labels/404/'],
      ['/widget/1/labels/', '/widget/404/labels/'],
      ['/widget/1/parts/', '/widget/404/parts/'],
    ] as const) {
      const [a, b] = [
        await started.client.send('OPTIONS', OPS + there),
        await started.client.send('OPTIONS', OPS + missing),
      ];
      // The URL of the objects below a parent names the parent of the request, whether or not it exists.
      const same = b.text.replaceAll(`${OPS}/widget/404/labels/`, `${OPS}/widget/1/labels/`);
      expect([missing, b.status, same]).toEqual([missing, 200, a.text]);
      expect({ ...b.headers, date: '', 'content-length': '' }).toEqual({
        ...a.headers,
        date: '',
        'content-length': '',
      });
      expect(Number(b.headers['content-length'])).toBe(Buffer.byteLength(b.text));
    }
  });

  test('OPTIONS ignores a body, and answers 406 where JSON is not wanted', async () => {
    const answer = await started.client.send('OPTIONS', `${OPS}/widget/`, {
      raw: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, (answer.json as { renders?: unknown }).renders]).toEqual([
      200,
      ['application/json'],
    ]);
    const refused = await started.client.send('OPTIONS', `${OPS}/widget/`, {
      headers: { accept: 'text/html' },
    });
    expect([refused.status, refused.json]).toEqual([
      406,
      { detail: 'Could not satisfy the request Accept header.' },
    ]);
  });

  const ALLOWED: Readonly<Record<string, string>> = {
    '/widget/': 'GET, POST, HEAD, OPTIONS',
    '/widget/1/': 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
    '/widget/404/': 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
    '/widget/abc/': 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
    '/widget/1/parts/': 'GET, HEAD, OPTIONS',
    '/widget/1/labels/': 'GET, POST, HEAD, OPTIONS',
    '/widget/1/labels/1/': 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
    '/widget/404/parts/': 'GET, HEAD, OPTIONS',
  };

  // CONNECT names a tunnel and no path: Node gives it to no handler.
  describe.each(Object.entries(ALLOWED))('every method that %s does not serve', (url, allow) => {
    const others = METHODS.filter((method) => method !== 'CONNECT' && !allow.split(', ').includes(method));

    test('is 405, with and without the last slash, whatever the body', async () => {
      for (const method of others) {
        for (const path of [OPS + url, (OPS + url).slice(0, -1)]) {
          const answer = await started.client.send(method, path);
          expect([method, path, answer.status, answer.text, answer.headers.allow]).toEqual([
            method,
            path,
            405,
            `{"detail":"Method \\"${method}\\" not allowed."}`,
            allow,
          ]);
        }
        const broken = await started.client.send(method, OPS + url, {
          raw: '{',
          headers: { 'content-type': 'application/json' },
        });
        expect([method, broken.status, broken.headers.allow]).toEqual([method, 405, allow]);
      }
      expect(others.length).toBeGreaterThan(20);
    });

    test('is 405 before Accept is looked at', async () => {
      const answer = await started.client.send(
        others.find((method) => method === 'POST' || method === 'PUT') ?? 'PROPFIND',
        OPS + url,
        { headers: { accept: 'image/png' } },
      );
      expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
    });
  });

  test('a method override changes nothing', async () => {
    const answer = await started.client.send('POST', `${OPS}/widget/1/`, {
      body: {},
      headers: { 'x-http-method-override': 'DELETE' },
    });
    expect([answer.status, answer.json]).toEqual([405, { detail: 'Method "POST" not allowed.' }]);
    expect((await started.client.get(`${OPS}/widget/1/?_method=DELETE`)).status).toBe(200);
    expect((await started.client.get(`${OPS}/widget/1/`)).status).toBe(200);
  });
});

/** A model of its own for each set of operations, with a child and a pair table. */
function modelWith(name: string, operations: readonly Operation[]): new () => object {
  const holder = {
    [name]: class {
      readonly id: number;
    },
  };
  const made = holder[name];
  if (!made) throw new Error('No class');
  PrimaryGeneratedColumn()(made.prototype, 'id');
  Column({ type: 'varchar', length: 20, default: '' })(made.prototype, 'name');
  Entity()(made);
  Restify({ app: 'few', operations })(made);
  return made;
}

const FEW: readonly (readonly [
  name: string,
  operations: readonly Operation[],
  collection: string,
  object: string,
])[] = [
  ['OnlyList', ['list'], 'GET, HEAD, OPTIONS', ''],
  ['OnlyCreate', ['create'], 'POST, OPTIONS', ''],
  ['ReadOnly', ['list', 'retrieve'], 'GET, HEAD, OPTIONS', 'GET, HEAD, OPTIONS'],
  ['OnlyRetrieve', ['retrieve'], '', 'GET, HEAD, OPTIONS'],
  ['OnlyUpdate', ['list', 'update'], 'GET, HEAD, OPTIONS', 'PUT, OPTIONS'],
  ['OnlyPatch', ['list', 'partialUpdate'], 'GET, HEAD, OPTIONS', 'PATCH, OPTIONS'],
  ['OnlyDestroy', ['list', 'destroy'], 'GET, HEAD, OPTIONS', 'DELETE, OPTIONS'],
  [
    'NoDelete',
    ['list', 'create', 'retrieve', 'update', 'partialUpdate'],
    'GET, POST, HEAD, OPTIONS',
    'GET, PUT, PATCH, HEAD, OPTIONS',
  ],
  [
    'Shuffled',
    ['destroy', 'create', 'partialUpdate', 'list'],
    'GET, POST, HEAD, OPTIONS',
    'PATCH, DELETE, OPTIONS',
  ],
  ['NoneAtAll', [], '', ''],
];

const FEW_CLASSES = FEW.map(([name, operations]) => modelWith(name, operations));

@Restify('few')
@Entity()
class Hub {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToMany(() => Unlistable, (child) => child.hub)
  unlistables: Relation<Unlistable[]>;

  @OneToMany(() => Listable, (child) => child.hub)
  listables: Relation<Listable[]>;

  @ManyToMany(() => Spoke)
  @JoinTable({
    name: 'hub_spoke',
    joinColumn: { name: 'hub_id' },
    inverseJoinColumn: { name: 'spoke_id' },
    synchronize: false,
  })
  spokes: Relation<Spoke[]>;

  @ManyToMany(() => Spoke)
  @JoinTable({
    name: 'hub_quiet',
    joinColumn: { name: 'hub_id' },
    inverseJoinColumn: { name: 'spoke_id' },
    synchronize: false,
  })
  quiet: Relation<Spoke[]>;
}

@Restify({ app: 'few', operations: ['create', 'retrieve'] })
@Entity()
class Unlistable {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Hub, (hub) => hub.unlistables)
  hub: Relation<Hub> | null;
}

@Restify({ app: 'few', operations: ['list'] })
@Entity()
class Listable {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Hub, (hub) => hub.listables)
  hub: Relation<Hub> | null;
}

@Restify('few')
@Entity()
class Spoke {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'few', operations: ['create', 'retrieve'] })
@Entity('hub_spoke')
@Unique(['hub', 'spoke'])
class HubSpoke {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Hub, { nullable: false })
  @JoinColumn({ name: 'hub_id' })
  hub: Relation<Hub>;

  @ManyToOne(() => Spoke, { nullable: false })
  @JoinColumn({ name: 'spoke_id' })
  spoke: Relation<Spoke>;
}

@Restify({ app: 'few', operations: ['retrieve'] })
@Entity('hub_quiet')
class HubQuiet {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Hub, { nullable: false })
  @JoinColumn({ name: 'hub_id' })
  hub: Relation<Hub>;

  @ManyToOne(() => Spoke, { nullable: false })
  @JoinColumn({ name: 'spoke_id' })
  spoke: Relation<Spoke>;
}

describe('the option operations', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [...FEW_CLASSES, Hub, Unlistable, Listable, Spoke, HubSpoke, HubQuiet],
    });
    for (const entity of FEW_CLASSES) await started.dataSource.getRepository(entity).insert({});
  });
  afterAll(() => started.close());

  describe.each(FEW)('%s', (name, _operations, collectionAllow, objectAllow) => {
    const collection = `/rest/v1/few/${name.toLowerCase()}/`;

    test.each([
      ['collection', collection, collectionAllow],
      ['object', `${collection}1/`, objectAllow],
    ])('leaves its %s what it names, and a URL without any does not exist', async (_kind, path, allow) => {
      const served = allow.split(', ');
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'HEAD', 'OPTIONS', 'PROPFIND', 'DELETE']) {
        const answer = await started.client.send(
          method,
          path,
          ['POST', 'PUT', 'PATCH'].includes(method) ? { body: { name: 'n' } } : {},
        );
        const success = { POST: 201, DELETE: 204 }[method] ?? 200;
        const refused = allow === '' ? 404 : 405;
        const status = allow !== '' && served.includes(method) ? success : refused;
        expect([method, answer.status, answer.headers.allow]).toEqual([method, status, allow]);
        if (method !== 'HEAD' && status === 404) expect(answer.json).toEqual(NOT_FOUND);
        if (method !== 'HEAD' && status === 405)
          expect(answer.json).toEqual({ detail: `Method "${method}" not allowed.` });
      }
    });

    test('is in the index where it has a collection', async () => {
      const index = (await started.client.get('/')).json as Record<string, string>;
      expect(Object.hasOwn(index, `rest/v1/few/${name.toLowerCase()}`)).toBe(collectionAllow !== '');
    });

    test('OPTIONS shows only fields that can be sent', async () => {
      for (const [path, allow] of [
        [collection, collectionAllow],
        [`${collection}1/`, objectAllow],
      ] as const) {
        if (allow === '') continue;
        const answer = await started.client.send('OPTIONS', path);
        expect([path, Object.keys((answer.json as { actions: object }).actions)]).toEqual([
          path,
          ['POST', 'PUT'].filter((method) => allow.split(', ').includes(method)),
        ]);
      }
    });
  });

  test('gives a created object a Location only where it has a URL', async () => {
    const without = await started.client.post('/rest/v1/few/onlycreate/', { name: 'n' });
    expect([without.status, without.headers.location]).toEqual([201, undefined]);
    const shuffled = await started.client.post('/rest/v1/few/shuffled/', { name: 'n' });
    const id = (shuffled.json as { id: number }).id;
    expect([shuffled.status, shuffled.headers.location]).toEqual([
      201,
      `http://127.0.0.1:${started.port}/rest/v1/few/shuffled/${id}/`,
    ]);
  });

  test('leaves no link to a nested URL of which no operation is left', async () => {
    const { client } = started;
    const hub = await client.post('/rest/v1/few/hub/', {});
    const id = (hub.json as { id: number }).id;
    expect(hub.json).toEqual({
      id,
      listables: `/rest/v1/few/hub/${id}/listables/`,
      spokes: `/rest/v1/few/hub/${id}/spokes/`,
    });
    for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND']) {
      for (const name of ['unlistables', 'quiet']) {
        const answer = await client.send(method, `/rest/v1/few/hub/${id}/${name}/`);
        expect([method, name, answer.status, answer.headers.allow]).toEqual([method, name, 404, '']);
      }
    }
    expect((await client.get(`/rest/v1/few/hub/${id}/listables/`)).json).toEqual([]);
  });

  test('rules the nested URLs of a through model', async () => {
    const { client } = started;
    const hub = ((await client.post('/rest/v1/few/hub/', {})).json as { id: number }).id;
    const spoke = ((await client.post('/rest/v1/few/spoke/', {})).json as { id: number }).id;
    const list = `/rest/v1/few/hub/${hub}/spokes/`;
    const joined = await client.post(list, { spoke });
    expect([joined.status, joined.json, joined.headers.allow]).toEqual([
      201,
      { id: 1, hub, spoke },
      'POST, OPTIONS',
    ]);
    expect((await client.get(list)).json).toEqual({ detail: 'Method "GET" not allowed.' });
    const detail = await client.get(`${list}1/`);
    expect([detail.status, detail.json, detail.headers.allow]).toEqual([
      200,
      { id: 1, hub, spoke },
      'GET, HEAD, OPTIONS',
    ]);
    const refused = await client.delete(`${list}1/`);
    expect([refused.status, refused.json, refused.headers.allow]).toEqual([
      405,
      { detail: 'Method "DELETE" not allowed.' },
      'GET, HEAD, OPTIONS',
    ]);
  });

  test('leaves a nested detail where only the list has no operation', async () => {
    const { client, dataSource } = started;
    const hub = ((await client.post('/rest/v1/few/hub/', {})).json as { id: number }).id;
    const spoke = ((await client.post('/rest/v1/few/spoke/', {})).json as { id: number }).id;
    await dataSource.getRepository(HubQuiet).insert({ hub: { id: hub }, spoke: { id: spoke } });
    const detail = await client.get(`/rest/v1/few/hub/${hub}/quiet/1/`);
    expect([detail.status, detail.json]).toEqual([200, { id: 1, hub, spoke }]);
    expect((await client.get(`/rest/v1/few/hub/${hub}/quiet/`)).status).toBe(404);
  });
});
