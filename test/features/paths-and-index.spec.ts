// @tags db http nest
import { Controller, Get, Module, Param } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify, restify, RestifyModule } from 'nestjs-restify';
import {
  Column,
  Entity,
  EntitySchema,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('shop')
@Entity()
class BigShelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @OneToMany(() => BigShelfItem, (item) => item.shelf)
  itemSet: Relation<BigShelfItem[]>;
}

@Restify({ app: 'shop', name: 'item' })
@Entity()
class BigShelfItem {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => BigShelf, (shelf) => shelf.itemSet)
  shelf: Relation<BigShelf> | null;
}

@Restify({ labels: { one: 'Labelled thing', many: 'Labelled things' } })
@Entity()
class Labelled {
  @PrimaryGeneratedColumn()
  id: number;
}

interface Planet {
  id: number;
  name: string;
}
const PlanetSchema = new EntitySchema<Planet>({
  name: 'Planet',
  columns: { id: { type: Number, primary: true, generated: true }, name: { type: String } },
});
restify(PlanetSchema, 'sky');

@Restify('natural')
@Entity()
class Tag {
  @PrimaryColumn({ length: 50 })
  code: string;

  @Column({ default: '' })
  note: string;

  @OneToMany(() => Tagging, (tagging) => tagging.tag)
  taggings: Relation<Tagging[]>;
}

@Restify('natural')
@Entity()
class Tagging {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Tag, (tag) => tag.taggings)
  tag: Relation<Tag> | null;
}

@Restify('natural')
@Entity()
class Cell {
  @PrimaryColumn({ length: 30 })
  sheet: string;

  @PrimaryColumn({ type: 'int' })
  line: number;

  @Column({ default: '' })
  text: string;

  @OneToMany(() => CellNote, (note) => note.cell)
  notes: Relation<CellNote[]>;
}

@Restify('natural')
@Entity()
class CellNote {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Cell, (cell) => cell.notes)
  @JoinColumn([
    { name: 'cell_sheet', referencedColumnName: 'sheet' },
    { name: 'cell_line', referencedColumnName: 'line' },
  ])
  cell: Relation<Cell> | null;
}

const SHOP = [BigShelf, BigShelfItem, Labelled, PlanetSchema];
const LABEL = RestifyModule.forFeature('labels', [Labelled]);

function indexOf(host: string, prefix = 'rest/v1', above = ''): Record<string, string> {
  const entries = ['shop/bigshelf', 'shop/item', 'labels/labelled', 'sky/planet'].map(
    (path) => [`${prefix}/${path}`, `http://${host}${above}/${prefix}/${path}/`] as const,
  );
  return Object.fromEntries(entries);
}

@Controller()
class HomeController {
  @Get()
  home(): string {
    return 'home';
  }
}

@Controller('rest/v1')
class OwnController {
  @Get('own/route')
  own(): string {
    return 'own';
  }
}

describe('paths below a prefix', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: SHOP, imports: [LABEL], controllers: [OwnController] });
    await started.client.post('/rest/v1/shop/bigshelf/', { name: 'A' });
    await started.client.post('/rest/v1/shop/item/', { shelf: 1 });
  });
  afterAll(() => started.close());

  test('are the app and the class name in lower case, without and with a name of their own', async () => {
    const shelf = await started.client.get('/rest/v1/shop/bigshelf/1/');
    expect([shelf.status, shelf.json]).toEqual([
      200,
      { id: 1, name: 'A', itemSet: '/rest/v1/shop/bigshelf/1/itemSet/' },
    ]);
    const items = await started.client.get('/rest/v1/shop/item/');
    expect([items.status, items.json]).toEqual([200, [{ id: 1, shelf: 1 }]]);
  });

  test('exist for an entity whose label comes from forFeature, and for a schema', async () => {
    const labelled = await started.client.get('/rest/v1/labels/labelled/');
    expect([labelled.status, labelled.json]).toEqual([200, []]);
    const planet = await started.client.post('/rest/v1/sky/planet/', { name: 'Mars' });
    expect([planet.status, planet.json]).toEqual([201, { id: 1, name: 'Mars' }]);
  });

  test.each([
    '/rest/v1/shop/bigshelf',
    '/rest/v1/shop/bigshelf/1',
    '/rest/v1/shop/bigshelf/1/itemSet',
    '/rest/v1/shop/bigshelf?name=A',
  ])('answer the same without the last slash, without a redirect: %s', async (bare) => {
    const [path = '', query] = bare.split('?');
    const [without, canonical] = [
      await started.client.get(bare),
      await started.client.get(`${path}/${query === undefined ? '' : `?${query}`}`),
    ];
    expect(canonical.status).toBe(200);
    expect([without.status, without.text, without.headers.location]).toEqual([
      200,
      canonical.text,
      undefined,
    ]);
    expect({ ...without.headers, date: '' }).toEqual({ ...canonical.headers, date: '' });
  });

  test('take every method without the last slash', async () => {
    const { client } = started;
    const created = await client.post('/rest/v1/shop/bigshelf', { name: 'B' });
    expect([created.status, created.headers.location]).toEqual([
      201,
      `http://127.0.0.1:${started.port}/rest/v1/shop/bigshelf/2/`,
    ]);
    expect((await client.put('/rest/v1/shop/bigshelf/2', { name: 'C' })).json).toMatchObject({
      id: 2,
      name: 'C',
    });
    expect((await client.patch('/rest/v1/shop/bigshelf/2', { name: 'D' })).json).toMatchObject({
      id: 2,
      name: 'D',
    });
    expect((await client.send('HEAD', '/rest/v1/shop/bigshelf/2')).status).toBe(200);
    expect((await client.send('OPTIONS', '/rest/v1/shop/bigshelf/2')).status).toBe(200);
    expect((await client.delete('/rest/v1/shop/bigshelf/2')).status).toBe(204);
  });

  test.each([
    '/rest/v1/shop/bigshelf//',
    '/rest/v1/shop/bigshelf/1//',
    '/rest/v1/shop/bigshelf//1/',
    '/rest/v1/shop//bigshelf/',
    '/rest/v1//shop/bigshelf/',
    '/rest/v1/shop/bigshelf/1/itemSet//',
    '/rest/v1/shop/bigshelf/1//itemSet/',
    '/rest/v1/shop/bigshelf/1/itemSet/1/',
    '/rest/v1/Shop/bigshelf/',
    '/rest/v1/shop/BigShelf/',
    '/rest/v1/shop/bigshelf/1/itemset/',
    '/rest/v1/shop/bigshelf/1/ITEMSET/',
    '/rest/v1/shop/bigshelfitem/',
    '/rest/v1/shop/bigshelf/1/name/',
    '/rest/v1/shop/bigshelf/1/itemSet/1/more/',
    '/rest/v1/shop/item/1/shelf/',
    '/rest/v1/shop/',
    '/rest/v1/nothing/at/all',
    '/rest/v1//',
    '/rest/v1/sh%6Fp/missing/',
  ])('are no route where they are written otherwise: %s', async (path) => {
    const answer = await started.client.get(path);
    expect([answer.status, answer.text, answer.headers.allow]).toEqual([404, '{"detail":"Not found."}', '']);
  });

  test.each([
    '/rest/v11/shop/bigshelf/',
    '//rest/v1/shop/bigshelf/',
    '/x/rest/v1/shop/bigshelf/',
    '/shop/bigshelf/',
  ])('are none beside the prefix: %s', async (path) => {
    const answer = await started.client.get(path);
    expect([
      answer.status,
      (answer.json as { detail?: unknown }).detail,
      answer.headers['x-frame-options'],
    ]).toEqual([404, undefined, undefined]);
  });

  test.each(['/REST/v1/shop/bigshelf/', '/Rest/V1/shop/bigshelf/1', '/REST/V1/'])(
    'are none where the prefix has another case: %s',
    async (path) => {
      const answer = await started.client.get(path);
      expect([
        answer.status,
        Array.isArray(answer.json),
        Object.keys(answer.json as object).includes('id'),
      ]).toEqual([404, false, false]);
    },
  );

  test('leave an own route of the application below the prefix to it', async () => {
    const answer = await started.client.get('/rest/v1/own/route');
    expect([answer.status, answer.text]).toEqual([200, 'own']);
  });

  test('answer unknown ones below the prefix as JSON for every method', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const answer = await started.client.send(method, '/rest/v1/no/model/');
      expect([method, answer.status, answer.text]).toEqual([method, 404, '{"detail":"Not found."}']);
    }
  });
});

onEachDatabase('keys in URLs', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Tag, Tagging, Cell, CellNote], database });
  });
  afterAll(() => started.close());

  test.each([
    'a/b',
    'a,b',
    'a b',
    'ü–日本',
    '😀',
    '%2F',
    '100%',
    'q?x=1',
    'a#b',
    'a+b',
    "it's",
    '"',
    'a&b=c',
    '\\',
    ':pk',
    '*',
    '(x)',
    'new',
    '0',
    'null',
    '__proto__',
    'a;b',
    '~',
    '[1]',
  ])(
    'a natural key of any text is encoded in links and Location, found by them, and shown as it is: %j',
    async (code) => {
      const { client, port } = started;
      const path = `/rest/v1/natural/tag/${encodeURIComponent(code)}/`;
      const created = await client.post('/rest/v1/natural/tag/', { code });
      const body = { code, note: '', taggings: `${path}taggings/` };
      expect([created.status, created.json, created.headers.location]).toEqual([
        201,
        body,
        `http://127.0.0.1:${port}${path}`,
      ]);
      expect((await client.get(path)).json).toEqual(body);
      expect((await client.get(path.slice(0, -1))).json).toEqual(body);
      expect((await client.patch(path, { note: 'n' })).json).toEqual({ ...body, note: 'n' });
      const tagging = await client.post('/rest/v1/natural/tagging/', { tag: code });
      expect([tagging.status, tagging.json]).toEqual([201, { id: expect.any(Number), tag: code }]);
      expect((await client.get(body.taggings)).json).toEqual([tagging.json]);
      await client.delete(`/rest/v1/natural/tagging/${(tagging.json as { id: number }).id}/`);
      expect((await client.delete(path)).status).toBe(204);
      expect((await client.get(path)).status).toBe(404);
    },
  );

  test('an encoded slash is part of the key, and a plain one is not', async () => {
    const { client } = started;
    await client.post('/rest/v1/natural/tag/', { code: 'x/y' });
    expect((await client.get('/rest/v1/natural/tag/x%2Fy/')).json).toMatchObject({ code: 'x/y' });
    expect((await client.get('/rest/v1/natural/tag/x%2fy')).json).toMatchObject({ code: 'x/y' });
    expect((await client.get('/rest/v1/natural/tag/x/y/')).status).toBe(404);
    expect((await client.get('/rest/v1/natural/tag/x%252Fy/')).status).toBe(404);
  });

  test('a key that ends with a slash, or is only one, keeps it', async () => {
    const { client } = started;
    for (const code of ['end/', '/']) {
      const created = await client.post('/rest/v1/natural/tag/', { code });
      const path = new URL(created.headers.location ?? '').pathname;
      expect([created.status, path]).toEqual([201, `/rest/v1/natural/tag/${encodeURIComponent(code)}/`]);
      expect((await client.get(path)).json).toMatchObject({ code });
    }
    expect((await client.get('/rest/v1/natural/tag/end/')).status).toBe(404);
  });

  test('characters that need no escape may be escaped all the same', async () => {
    const { client } = started;
    await client.post('/rest/v1/natural/tag/', { code: 'abc' });
    expect((await client.get('/rest/v1/natural/tag/%61b%63/')).json).toMatchObject({ code: 'abc' });
  });

  test('another case, and blanks behind, name another key', async () => {
    const { client } = started;
    await client.post('/rest/v1/natural/tag/', { code: 'Case' });
    for (const other of ['case', 'CASE', 'Case%20', '%20Case', 'C%C3%A0se']) {
      const answer = await client.get(`/rest/v1/natural/tag/${other}/`);
      expect([other, answer.status, answer.json]).toEqual([other, 404, { detail: 'Not found.' }]);
    }
  });

  test.each([
    ['plain', 7, 'plain,7'],
    ['a,b', 1, 'a%2Cb,1'],
    ['a/b', -2, 'a%2Fb,-2'],
    ['a b', 0, 'a%20b,0'],
    ['ü', 3, '%C3%BC,3'],
    ['%2F', 4, '%252F,4'],
    ['%2C', 5, '%252C,5'],
  ])('a composite key is one text everywhere: %j and %d are %s', async (sheet, line, key) => {
    const { client, port } = started;
    const path = `/rest/v1/natural/cell/${key}/`;
    const created = await client.post('/rest/v1/natural/cell/', { sheet, line, text: 't' });
    const body = { sheet, line, text: 't', notes: `${path}notes/` };
    expect([created.status, created.json, created.headers.location]).toEqual([
      201,
      body,
      `http://127.0.0.1:${port}${path}`,
    ]);
    expect((await client.get(path)).json).toEqual(body);
    const note = await client.post('/rest/v1/natural/cellnote/', { cell: key });
    expect([note.status, note.json]).toEqual([201, { id: expect.any(Number), cell: key }]);
    expect((await client.get(body.notes)).json).toEqual([note.json]);
    expect((await client.patch(path, { text: 'u' })).json).toEqual({ ...body, text: 'u' });
    const noteUrl = `/rest/v1/natural/cellnote/${(note.json as { id: number }).id}/`;
    expect((await client.patch(noteUrl, { cell: null })).json).toMatchObject({ cell: null });
    expect((await client.patch(noteUrl, { cell: key })).json).toMatchObject({ cell: key });
    expect((await client.delete(noteUrl)).status).toBe(204);
    expect((await client.delete(path)).status).toBe(204);
    expect((await client.get(path)).status).toBe(404);
  });

  test('a text that is no composite key is 404', async () => {
    const { client } = started;
    await client.post('/rest/v1/natural/cell/', { sheet: 'k', line: 1 });
    for (const key of ['k', 'k,', ',1', 'k,1,2', 'k,x', 'k%2C1', '1,k', 'k,1.0', 'k,99999999999', ',']) {
      for (const method of ['GET', 'DELETE', 'PATCH']) {
        const answer = await client.send(method, `/rest/v1/natural/cell/${key}/`);
        expect([method, key, answer.status, answer.json]).toEqual([
          method,
          key,
          404,
          { detail: 'Not found.' },
        ]);
      }
    }
    expect((await client.get('/rest/v1/natural/cell/k,1/')).status).toBe(200);
  });

  test('a composite key that a body repeats is ignored: the URL names the object', async () => {
    const { client } = started;
    await client.post('/rest/v1/natural/cell/', { sheet: 'own', line: 1, text: 'a' });
    const changed = await client.put('/rest/v1/natural/cell/own,1/', { sheet: 'other', line: 9, text: 'b' });
    expect([changed.status, changed.json]).toEqual([
      200,
      { sheet: 'own', line: 1, text: 'b', notes: '/rest/v1/natural/cell/own,1/notes/' },
    ]);
    expect((await client.get('/rest/v1/natural/cell/other,9/')).status).toBe(404);
  });
});

describe('the index', () => {
  test('has one entry per registered model, with the absolute URL of its collection', async () => {
    const started = await startApp({ entities: SHOP, imports: [LABEL] });
    try {
      const answer = await started.client.get('/');
      expect([answer.status, answer.json, answer.headers.allow]).toEqual([
        200,
        indexOf(`127.0.0.1:${started.port}`),
        'GET, HEAD, OPTIONS',
      ]);
      for (const url of Object.values(answer.json as Record<string, string>))
        expect((await started.client.get(new URL(url).pathname)).status).toBe(200);
    } finally {
      await started.close();
    }
  });

  describe('of an application that trusts no proxy', () => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ entities: SHOP, imports: [LABEL] });
    });
    afterAll(() => started.close());

    test('follows the Host of the request', async () => {
      const answer = await started.client.get('/', { headers: { host: 'api.example.com:8443' } });
      expect([answer.status, answer.json]).toEqual([200, indexOf('api.example.com:8443')]);
    });

    test('does not follow X-Forwarded headers, and nor does Location', async () => {
      const headers = {
        host: 'h',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        forwarded: 'host=evil.example;proto=https',
      };
      expect((await started.client.get('/', { headers })).json).toEqual(indexOf('h'));
      const created = await started.client.post('/rest/v1/shop/bigshelf/', { name: 'x' }, { headers });
      expect(created.headers.location).toMatch(/^http:\/\/h\/rest\/v1\/shop\/bigshelf\/\d+\/$/);
    });

    test('answers HEAD and OPTIONS, and refuses every other method', async () => {
      const [get, head] = [await started.client.get('/'), await started.client.send('HEAD', '/')];
      expect([head.status, head.text, head.headers['content-length']]).toEqual([
        200,
        '',
        get.headers['content-length'],
      ]);
      const options = await started.client.send('OPTIONS', '/');
      expect([options.status, options.headers.allow]).toEqual([200, 'GET, HEAD, OPTIONS']);
      expect(options.json).toEqual({
        name: expect.any(String),
        description: expect.any(String),
        renders: ['application/json'],
        parses: ['application/json'],
        actions: {},
        models: expect.any(Array),
        caller: { authenticated: false, label: null, refused: false },
      });
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
        const answer = await started.client.send(method, '/');
        expect([answer.status, answer.json, answer.headers.allow]).toEqual([
          405,
          { detail: `Method "${method}" not allowed.` },
          'GET, HEAD, OPTIONS',
        ]);
      }
    });

    test('names the objects of a model by its labels, in the index and in the description of its list', async () => {
      const index = (await started.client.send('OPTIONS', '/')).json as { models: { label: string }[] };
      expect(index.models.map(({ label }) => label)).toContain('Labelled things');
      const described = async (path: string): Promise<unknown> =>
        ((await started.client.send('OPTIONS', path)).json as { labels?: object }).labels;
      expect(await described('/rest/v1/labels/labelled/')).toEqual({
        one: 'Labelled thing',
        many: 'Labelled things',
      });
      expect(await described('/rest/v1/shop/item/')).toBeUndefined();
    });

    test('is JSON for a broken body too, and ignores a query', async () => {
      const answer = await started.client.send('POST', '/', {
        raw: '{',
        headers: { 'content-type': 'application/json' },
      });
      expect([answer.status, answer.json]).toEqual([405, { detail: 'Method "POST" not allowed.' }]);
      expect((await started.client.get('/?x=1')).json).toEqual(indexOf(`127.0.0.1:${started.port}`));
      const got = await started.client.send('GET', '/', {
        raw: '{',
        headers: { 'content-type': 'application/json' },
      });
      expect([got.status, got.json]).toEqual([200, indexOf(`127.0.0.1:${started.port}`)]);
    });

    test.each(['/rest/v1/', '/rest/v1', '/rest/v1/?x=1'])(
      'stands at the root of the prefix too: %s',
      async (path) => {
        const [answer, head, options] = [
          await started.client.get(path),
          await started.client.send('HEAD', path),
          await started.client.send('OPTIONS', path),
        ];
        const root = await started.client.get('/');
        expect([answer.status, answer.text, answer.headers.allow]).toEqual([
          200,
          root.text,
          'GET, HEAD, OPTIONS',
        ]);
        expect({ ...answer.headers, date: '' }).toEqual({ ...root.headers, date: '' });
        expect([head.status, head.text, head.headers['content-length']]).toEqual([
          200,
          '',
          answer.headers['content-length'],
        ]);
        expect([options.status, options.json, options.headers.allow]).toEqual([
          200,
          expect.objectContaining({ actions: {} }),
          'GET, HEAD, OPTIONS',
        ]);
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
          const refused = await started.client.send(method, path);
          expect([refused.status, refused.json, refused.headers.allow]).toEqual([
            405,
            { detail: `Method "${method}" not allowed.` },
            'GET, HEAD, OPTIONS',
          ]);
        }
        expect((await started.client.get(path, { headers: { accept: 'text/html' } })).status).toBe(406);
        expect((await started.client.get(path, { headers: { host: 'h' } })).json).toEqual(indexOf('h'));
      },
    );

    test('is refused with 406 where JSON is not wanted', async () => {
      const answer = await started.client.get('/', { headers: { accept: 'text/html' } });
      expect([answer.status, answer.json]).toEqual([
        406,
        { detail: 'Could not satisfy the request Accept header.' },
      ]);
    });
  });

  test('follows X-Forwarded headers where the application trusts its proxy, as Location does', async () => {
    const started = await startApp({
      entities: SHOP,
      imports: [LABEL],
      trustProxy: true,
    });
    try {
      const headers = { 'x-forwarded-host': 'api.example.com', 'x-forwarded-proto': 'https' };
      const answer = await started.client.get('/', { headers });
      expect((answer.json as Record<string, string>)['rest/v1/shop/bigshelf']).toBe(
        'https://api.example.com/rest/v1/shop/bigshelf/',
      );
      const created = await started.client.post('/rest/v1/shop/bigshelf/', { name: 'x' }, { headers });
      expect(created.headers.location).toBe('https://api.example.com/rest/v1/shop/bigshelf/1/');
    } finally {
      await started.close();
    }
  });

  test('can be turned off', async () => {
    const started = await startApp({ entities: SHOP, imports: [LABEL], restify: { index: false } });
    try {
      for (const path of ['/rest/v1', '/rest/v1/']) {
        const root = await started.client.get(path);
        expect([root.status, root.text, root.headers.allow]).toEqual([404, '{"detail":"Not found."}', '']);
      }
      const answer = await started.client.get('/');
      expect([answer.status, answer.json]).toEqual([
        404,
        { statusCode: 404, message: 'Cannot GET /', error: 'Not Found' },
      ]);
      expect((await started.client.get('/rest/v1/shop/bigshelf/')).status).toBe(200);
    } finally {
      await started.close();
    }
  });

  test.each(['api/root', '/api/root', '/api/root/', 'rest/v1', '/rest/v1/'])(
    'can be moved to %s',
    async (index) => {
      const started = await startApp({ entities: SHOP, imports: [LABEL], restify: { index } });
      try {
        const path = `/${index.replace(/^\/|\/$/g, '')}`;
        for (const asked of [path, `${path}/`]) {
          const answer = await started.client.get(asked);
          expect([asked, answer.status, answer.json]).toEqual([
            asked,
            200,
            indexOf(`127.0.0.1:${started.port}`),
          ]);
        }
        expect((await started.client.get('/')).status).toBe(404);
        expect((await started.client.get(`${path}//`)).status).toBe(404);
      } finally {
        await started.close();
      }
    },
  );

  test('yields to a route of the application at the same path', async () => {
    const started = await startApp({ entities: SHOP, imports: [LABEL], controllers: [HomeController] });
    try {
      const answer = await started.client.get('/');
      expect([answer.status, answer.text, answer.headers['x-frame-options']]).toEqual([
        200,
        'home',
        undefined,
      ]);
      expect((await started.client.get('/rest/v1/shop/bigshelf/')).status).toBe(200);
    } finally {
      await started.close();
    }
  });

  @Controller('rest')
  class AboveController {
    @Get(':version')
    version(@Param('version') version: string): string {
      return `own ${version}`;
    }
  }

  @Controller()
  class RootController {
    @Get('rest/v1')
    root(): string {
      return 'own root';
    }
  }

  @Module({ controllers: [RootController] })
  class RootModule {}

  @Module({ controllers: [AboveController] })
  class AboveModule {}

  test.each([
    ['declared before the prefix', { imports: [LABEL, RootModule] }, 'own root'],
    ['declared behind it', { imports: [LABEL], controllers: [RootController] }, 'own root'],
    ['whose path has parameters', { imports: [LABEL, AboveModule] }, 'own v1'],
  ] as const)(
    'yields at the root of a prefix to a route of the application, %s',
    async (_, { imports, ...own }, text) => {
      const started = await startApp({ entities: SHOP, imports: [...imports], controllers: [], ...own });
      try {
        for (const path of ['/rest/v1', '/rest/v1/']) {
          // Whether it has a last slash is for the HTTP library to say.
          const answer = await started.client.get(path);
          if (answer.status !== 404)
            expect([path, answer.text, answer.headers['x-frame-options']]).toEqual([path, text, undefined]);
          expect(answer.headers['x-frame-options']).toBeUndefined();
        }
        expect((await started.client.get('/rest/v1')).text).toBe(text);
        expect((await started.client.get('/rest/v1/shop/bigshelf/')).status).toBe(200);
        expect((await started.client.get('/')).status).toBe(200);
      } finally {
        await started.close();
      }
    },
  );

  test('is empty where nothing is registered', async () => {
    const started = await startApp({ entities: [] });
    try {
      const answer = await started.client.get('/');
      expect([answer.status, answer.text]).toEqual([200, '{}']);
      expect((await started.client.get('/rest/v1/shop/bigshelf/')).json).toEqual({ detail: 'Not found.' });
    } finally {
      await started.close();
    }
  });
});

describe('a global prefix', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [...SHOP, Tag, Tagging],
      imports: [LABEL],
      configure: (app) => app.setGlobalPrefix('api/x'),
    });
    await started.client.post('/api/x/rest/v1/shop/bigshelf/', { name: 'A' });
  });
  afterAll(() => started.close());

  test('is part of every link and of Location', async () => {
    const { client, port } = started;
    expect((await client.get('/api/x/rest/v1/shop/bigshelf/1/')).json).toEqual({
      id: 1,
      name: 'A',
      itemSet: '/api/x/rest/v1/shop/bigshelf/1/itemSet/',
    });
    const item = await client.post('/api/x/rest/v1/shop/item', { shelf: 1 });
    expect([item.status, item.headers.location]).toEqual([
      201,
      `http://127.0.0.1:${port}/api/x/rest/v1/shop/item/1/`,
    ]);
    expect((await client.get('/api/x/rest/v1/shop/bigshelf/1/itemSet/')).json).toEqual([{ id: 1, shelf: 1 }]);
  });

  test('has the index below it, whose keys are without it', async () => {
    for (const path of ['/api/x', '/api/x/']) {
      const answer = await started.client.get(path);
      const expected = indexOf(`127.0.0.1:${started.port}`, 'rest/v1', '/api/x');
      expect([path, answer.status, answer.json]).toEqual([path, 200, expect.objectContaining(expected)]);
      expect(Object.keys(answer.json as object)).toHaveLength(6);
    }
    const root = await started.client.get('/');
    expect([root.status, root.headers['x-frame-options']]).toEqual([404, undefined]);
    for (const path of ['/api/x/rest/v1', '/api/x/rest/v1/'])
      expect((await started.client.get(path)).text).toBe((await started.client.get('/api/x')).text);
    expect((await started.client.get('/rest/v1/')).headers['x-frame-options']).toBeUndefined();
  });

  test('has nothing of ours beside it, and JSON errors below it', async () => {
    const beside = await started.client.get('/rest/v1/shop/bigshelf/');
    expect([beside.status, beside.headers['x-frame-options']]).toEqual([404, undefined]);
    const below = await started.client.get('/api/x/rest/v1/shop/none/');
    expect([below.status, below.text]).toEqual([404, '{"detail":"Not found."}']);
    const broken = await started.client.get('/api/x/rest/v1/natural/tag/%ZZ/');
    expect([broken.status, broken.text]).toEqual([404, '{"detail":"Not found."}']);
  });

  test('keeps the case-sensitivity', async () => {
    expect((await started.client.get('/api/x/rest/v1/shop/BigShelf/')).json).toEqual({
      detail: 'Not found.',
    });
    expect((await started.client.get('/API/x/rest/v1/shop/bigshelf/')).status).toBe(404);
  });
});

describe('two prefixes', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: SHOP,
      imports: [LABEL],
      restifyModules: [RestifyModule.forRoot('rest/v1'), RestifyModule.forRoot('rest/v2', { strict: true })],
    });
    await started.client.post('/rest/v1/shop/bigshelf/', { name: 'A' });
  });
  afterAll(() => started.close());

  test('stand together in the index', async () => {
    const host = `127.0.0.1:${started.port}`;
    const answer = await started.client.get('/');
    expect([answer.status, answer.json]).toEqual([200, { ...indexOf(host), ...indexOf(host, 'rest/v2') }]);
  });

  test('have each an index of its own models alone at its root', async () => {
    const host = `127.0.0.1:${started.port}`;
    for (const prefix of ['rest/v1', 'rest/v2']) {
      const answer = await started.client.get(`/${prefix}/`);
      expect([answer.status, answer.json]).toEqual([200, indexOf(host, prefix)]);
    }
    expect((await started.client.get('/rest/')).status).toBe(404);
  });

  test('have links below the requested prefix', async () => {
    for (const prefix of ['rest/v1', 'rest/v2']) {
      expect((await started.client.get(`/${prefix}/shop/bigshelf/1/`)).json).toEqual({
        id: 1,
        name: 'A',
        itemSet: `/${prefix}/shop/bigshelf/1/itemSet/`,
      });
      const created = await started.client.post(`/${prefix}/shop/item/`, { shelf: 1 });
      expect(created.headers.location).toMatch(
        new RegExp(`^http://127\\.0\\.0\\.1:${started.port}/${prefix}/shop/item/\\d+/$`),
      );
    }
  });

  test('have each their own options', async () => {
    const body = { name: 'x', unknown: 1 };
    expect((await started.client.post('/rest/v1/shop/bigshelf/', body)).status).toBe(201);
    const refused = await started.client.post('/rest/v2/shop/bigshelf/', body);
    expect([refused.status, Object.keys(refused.json as object)]).toEqual([400, ['unknown']]);
  });
});

describe('a prefix', () => {
  test.each(['/rest/v1/', '/rest/v1', 'rest/v1/'])(
    'is the same with slashes around it: %s',
    async (prefix) => {
      const started = await startApp({ entities: SHOP, imports: [LABEL], prefix });
      try {
        expect((await started.client.get('/')).json).toEqual(indexOf(`127.0.0.1:${started.port}`));
        expect((await started.client.post('/rest/v1/shop/bigshelf/', { name: 'A' })).json).toMatchObject({
          itemSet: '/rest/v1/shop/bigshelf/1/itemSet/',
        });
      } finally {
        await started.close();
      }
    },
  );

  test('may be empty', async () => {
    const started = await startApp({ entities: SHOP, imports: [LABEL], prefix: '' });
    try {
      const created = await started.client.post('/shop/bigshelf/', { name: 'A' });
      expect([created.status, created.json]).toEqual([
        201,
        { id: 1, name: 'A', itemSet: '/shop/bigshelf/1/itemSet/' },
      ]);
      expect(created.headers.location).toBe(`http://127.0.0.1:${started.port}/shop/bigshelf/1/`);
      expect((await started.client.get('/shop/')).status).toBe(404);
      expect((await started.client.get('/')).json).toMatchObject({
        'shop/bigshelf': `http://127.0.0.1:${started.port}/shop/bigshelf/`,
      });
    } finally {
      await started.close();
    }
  });

  test('may be longer than another one that it begins with, or shorter', async () => {
    const started = await startApp({
      entities: SHOP,
      imports: [LABEL],
      restifyModules: [RestifyModule.forRoot('v1'), RestifyModule.forRoot('rest/v1')],
    });
    try {
      expect((await started.client.post('/v1/shop/bigshelf/', { name: 'A' })).json).toMatchObject({
        itemSet: '/v1/shop/bigshelf/1/itemSet/',
      });
      expect((await started.client.get('/rest/v1/shop/bigshelf/1/')).json).toMatchObject({
        itemSet: '/rest/v1/shop/bigshelf/1/itemSet/',
      });
      expect((await started.client.get('/rest/v1/none/none/')).json).toEqual({ detail: 'Not found.' });
      expect((await started.client.get('/v1/none/none/')).json).toEqual({ detail: 'Not found.' });
      const host = `127.0.0.1:${started.port}`;
      for (const prefix of ['v1', 'rest/v1'])
        expect((await started.client.get(`/${prefix}`)).json).toEqual(indexOf(host, prefix));
    } finally {
      await started.close();
    }
  });

  test('yields its root to a collection of another one that stands there', async () => {
    const started = await startApp({
      entities: SHOP,
      imports: [LABEL],
      restifyModules: [
        RestifyModule.forRoot('shop/bigshelf', { index: false }),
        RestifyModule.forRoot('', { index: false }),
        RestifyModule.forRoot('labels'),
      ],
    });
    try {
      const host = `127.0.0.1:${started.port}`;
      expect((await started.client.get('/shop/bigshelf/')).json).toEqual([]);
      expect((await started.client.get('/labels/')).json).toEqual(indexOf(host, 'labels'));
      expect((await started.client.get('/labels/labelled/')).json).toEqual([]);
      expect(Object.keys((await started.client.get('/')).json as object)).toHaveLength(12);
    } finally {
      await started.close();
    }
  });

  test('with problem details as error format has them at its root, too', async () => {
    const started = await startApp({
      entities: SHOP,
      imports: [LABEL],
      restifyModules: [
        RestifyModule.forRoot('rest/v1'),
        RestifyModule.forRoot('rest/v2', { errorFormat: 'problem' }),
      ],
    });
    try {
      const refused = await started.client.send('POST', '/rest/v2/');
      expect([refused.status, refused.headers['content-type'], refused.headers.allow]).toEqual([
        405,
        'application/problem+json',
        'GET, HEAD, OPTIONS',
      ]);
      expect((await started.client.send('POST', '/rest/v1/')).headers['content-type']).toBe(
        'application/json',
      );
    } finally {
      await started.close();
    }
  });

  test('may come from a module that another module imports', async () => {
    @Module({ imports: [RestifyModule.forRoot('deep/api')] })
    class ApiModule {}
    const started = await startApp({ entities: SHOP, restifyModules: [], imports: [LABEL, ApiModule] });
    try {
      expect((await started.client.get('/deep/api/shop/bigshelf/')).json).toEqual([]);
    } finally {
      await started.close();
    }
  });
});
