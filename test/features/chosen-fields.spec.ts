// @tags db http
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  allow,
  AllowAny,
  CsvRenderer,
  LimitOffsetPagination,
  ModelSerializer,
  NdjsonRenderer,
  Restify,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission, RepresentContext, Representation, Row } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { seen } from './nested-answers.js';

class Size {
  @Column({ default: 1 }) width: number;
  @Column({ default: 2 }) height: number;
}

/** Everybody but the admin is told nothing of prices. */
class NoPrices implements Permission {
  decide({ request }: AccessContext): Grant {
    const { headers } = request as { headers: Record<string, string> };
    return headers['x-user'] === 'admin'
      ? allow()
      : allow({ readable: ['id', 'name', 'size', 'loud', 'shop', 'tags', 'proto'] });
  }
}

class LoudSerializer extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    const body = super.represent(row, context);
    return { ...body, loud: String(body.name).toUpperCase(), name_length: String(body.name).length };
  }
}

const computed = { calls: 0 };

@Restify({ app: 'cf', shape: true, renderers: [new CsvRenderer(), new NdjsonRenderer()] })
@Entity('cf_shop')
class CfShop {
  @PrimaryColumn() id: number;
  @Column() name: string;
  @OneToMany(() => CfThing, (thing) => thing.shop) things: Relation<CfThing[]>;
}

@Restify({
  app: 'cf',
  shape: true,
  writeOnly: ['pin'],
  permissions: [NoPrices],
  computed: {
    loud: (thing: object) => {
      computed.calls++;
      return (thing as CfThing).name.toUpperCase();
    },
  },
})
@Entity('cf_thing')
class CfThing {
  @PrimaryColumn() id: number;
  @Column() name: string;
  @Column({ default: 5 }) price: number;
  @Column({ default: 'secret', select: false }) hidden: string;
  @Column({ default: '1234' }) pin: string;
  @Column(() => Size) size: Size;
  @ManyToOne(() => CfShop, (shop) => shop.things, { nullable: true }) shop: Relation<CfShop> | null;
  @ManyToMany(() => CfTag, (tag) => tag.things) @JoinTable() tags: Relation<CfTag[]>;
}

@Restify({ app: 'cf', through: { things: { shape: true, permissions: [AllowAny] } } })
@Entity('cf_tag')
class CfTag {
  @PrimaryColumn() id: number;
  @Column() word: string;
  @ManyToMany(() => CfThing, (thing) => thing.tags) things: Relation<CfThing[]>;
}

@Restify({
  app: 'cf',
  shape: { fieldsParameter: 'only', omitParameter: 'without' },
  strict: true,
  pagination: new LimitOffsetPagination({ pageSize: 2 }),
  bulk: true,
  exclude: ['hidden'],
})
@Entity('cf_strict')
class CfStrict {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 'a' }) name: string;
  @Column({ default: 'b' }) hidden: string;
  @Column({ default: 3 }) fields: number;
}

@Restify({ app: 'cf', shape: true, serializer: LoudSerializer })
@Entity('cf_loud')
class CfLoud {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Restify('cf')
@Entity('cf_plain')
class CfPlain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 'x' }) fields: string;
}

const ADMIN = { headers: { 'x-user': 'admin' } };

onEachDatabase('fields that a client chooses', (database) => {
  const log = new StatementLog();
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      entities: [CfShop, CfThing, CfTag, CfStrict, CfLoud, CfPlain],
      database,
      dataSource: { logging: true, logger: log },
    });
    const of = (type: new () => object, rows: readonly object[]): Promise<unknown> =>
      started.dataSource.getRepository(type).save([...rows]);
    await of(CfShop, [{ id: 1, name: 'Corner' }]);
    await of(CfTag, [{ id: 1, word: 'red' }]);
    await of(CfThing, [
      { id: 1, name: 'pen', price: 7, shop: { id: 1 }, tags: [{ id: 1 }] },
      { id: 2, name: 'ink', price: 9 },
    ]);
    for (const name of ['a', 'z', 'a']) await of(CfStrict, [{ name }]);
    await of(CfLoud, [{ name: 'pen' }]);
    await of(CfPlain, [{}]);
  });
  beforeEach(() => {
    log.clear();
    computed.calls = 0;
  });
  afterAll(() => started.close());

  const text = async (path: string, options = {}): Promise<string> =>
    (await started.client.get(`/rest/v1/cf/${path}`, options)).text;

  test.each([
    [
      'in the order of contract 2.2, however they are asked for',
      'thing/1/?fields=name,id',
      '{"id":1,"name":"pen"}',
    ],
    ['in lists', 'thing/?fields=id', '[{"id":1},{"id":2}]'],
    ['once, however often they are asked for', 'thing/?fields=id,id,,id', '[{"id":1},{"id":2}]'],
    ['with blanks around their names', 'thing/1/?fields=%20id%20,+name', '{"id":1,"name":"pen"}'],
    ['but those that are omitted', 'thing/1/?omit=size,loud,shop,tags', '{"id":1,"name":"pen"}'],
    [
      'but those that are omitted, of those that are asked for',
      'thing/1/?fields=id,name&omit=id',
      '{"name":"pen"}',
    ],
    ['of embedded objects', 'thing/1/?fields=size.height,id', '{"id":1,"size":{"height":2}}'],
    ['but some of an embedded object', 'thing/1/?fields=size&omit=size.height', '{"size":{"width":1}}'],
    [
      'of an embedded object as a whole',
      'thing/1/?fields=size.height,size',
      '{"size":{"width":1,"height":2}}',
    ],
    [
      'where the parameter is empty: all',
      'shop/1/?fields=',
      '{"id":1,"name":"Corner","things":"/rest/v1/cf/cfshop/1/things/"}',
    ],
    ['that are links', 'shop/1/?fields=things', '{"things":"/rest/v1/cf/cfshop/1/things/"}'],
    ['of nested lists, as the child says', 'shop/1/things/?fields=id,shop', '[{"id":1,"shop":1}]'],
    ['of lists of through objects, as they say', 'tag/1/things/?fields=id', '[{"id":1}]'],
    ['of a through object', 'tag/1/things/1/?omit=id', '{"cfthing":1,"cftag":1}'],
    [
      'beside filters and orders of fields that are not shown',
      'thing/?fields=id&name=ink&ordering=name',
      '[{"id":2}]',
    ],
    [
      'where a model has the option off: a parameter as any other',
      'plain/?fields=x&omit=id',
      '[{"id":1,"fields":"x"}]',
    ],
  ])('are shown %s', async (_, path, body) => {
    expect(await text(`cf${path}`)).toBe(body);
  });

  test.each([
    'price',
    'hidden',
    'pin',
    'nothing',
    '__proto__',
    'constructor',
    'toString',
    '`id`',
    'id"',
    'id; --',
    'size.secret',
    '.',
    '..id',
    'name.x',
  ])('an unreadable %s answers as a name that there is not', async (name) => {
    const query = encodeURIComponent(name);
    const known: Readonly<Record<string, string>> = {
      'size.secret': '[{"size":{}},{"size":{}}]',
      'name.x': '[{"name":"pen"},{"name":"ink"}]',
    };
    const expected = Object.hasOwn(known, name) ? known[name] : '[{},{}]';
    expect(await text(`cfthing/?fields=${query}`)).toBe(expected);
    expect(await text(`cfthing/1/?fields=id,${query}&omit=size`)).toBe(
      name === 'name.x' ? '{"id":1,"name":"pen"}' : '{"id":1}',
    );
    expect(await text(`cfthing/1/?fields=id,name&omit=${query}`)).toBe('{"id":1,"name":"pen"}');
  });

  test('are chosen among those that a grant leaves, for each caller', async () => {
    expect(await text('cfthing/1/?fields=id,price')).toBe('{"id":1}');
    expect(await text('cfthing/1/?fields=id,price', ADMIN)).toBe('{"id":1,"price":7}');
    expect(await text('cfthing/1/?fields=id,price')).toBe('{"id":1}');
    expect(await text('cfthing/?omit=price,size,tags,shop,loud', ADMIN)).toBe(
      '[{"id":1,"name":"pen"},{"id":2,"name":"ink"}]',
    );
  });

  test('do not change which filters are misspelt', async () => {
    const refused = {
      status: 400,
      json: { name__gtee: [expect.stringMatching(/^There is no such filter\. /)] },
    };
    for (const query of ['', '&fields=id', '&omit=name'])
      expect(await started.client.get(`/rest/v1/cf/cfshop/?name__gtee=1${query}`)).toMatchObject(refused);
  });

  test('are all that is read, and nothing is computed that is not shown', async () => {
    expect(await text('cfthing/?fields=id')).toBe('[{"id":1},{"id":2}]');
    expect(
      log.statements.filter((each) => /name|price|width|shopId/.test(each.replace(/cf_\w+/g, ''))),
    ).toEqual([]);
    if (database.name !== 'mariadb')
      expect(log.statements.filter((each) => each.includes('restify_page'))).toHaveLength(1);
    expect(computed.calls).toBe(0);
    expect(await text('cfthing/1/?fields=loud')).toBe('{"loud":"PEN"}');
    expect(computed.calls).toBeGreaterThan(0);
  });

  test('are the columns and members of other forms', async () => {
    expect((await text('cfshop/?format=csv&fields=name,id')).replaceAll('\r\n', '\n')).toBe(
      'id,name\n1,Corner\n',
    );
    expect(await text('cfshop/1/?format=ndjson&omit=things')).toBe('{"id":1,"name":"Corner"}\n');
  });

  test('shape the answers of writes, and nothing of what is written', async () => {
    const made = await started.client.post('/rest/v1/cf/cfthing/?fields=id,size.width', {
      id: 9,
      name: 'cap',
      size: { width: 4, height: 5 },
      pin: '1',
    });
    expect([made.status, made.text, made.headers.location?.endsWith('/cf/cfthing/9/')]).toEqual([
      201,
      '{"id":9,"size":{"width":4}}',
      true,
    ]);
    expect(
      seen(await started.client.patch('/rest/v1/cf/cfthing/9/?fields=name', { name: 'hat', shop: 1 })),
    ).toEqual([200, { name: 'hat' }]);
    expect(
      seen(
        await started.client.put('/rest/v1/cf/cfthing/9/?omit=size,loud,tags', {
          name: 'bag',
          pin: '2',
          size: { width: 1, height: 1 },
        }),
      ),
    ).toEqual([200, { id: 9, name: 'bag', shop: 1 }]);
    expect(
      seen(await started.client.patch('/rest/v1/cf/cfthing/9/?fields=price,pin', { name: 'box' })),
    ).toEqual([200, {}]);
    expect(seen(await started.client.delete('/rest/v1/cf/cfthing/9/?fields=id'))).toEqual([204, undefined]);
  });

  test('of a serializer of the application are the members that it makes', async () => {
    expect(await text('cfloud/1/?fields=loud,name_length')).toBe('{"loud":"PEN","name_length":3}');
    expect(await text('cfloud/?omit=name')).toBe('[{"id":1,"loud":"PEN","name_length":3}]');
  });

  describe('of a strict model, by parameters of other names', () => {
    test('are shown, a page at a time', async () => {
      expect((JSON.parse(await text('cfstrict/?only=name,fields')) as { results: unknown }).results).toEqual([
        { name: 'a', fields: 3 },
        { name: 'z', fields: 3 },
      ]);
      expect(
        (JSON.parse(await text('cfstrict/?without=name&limit=1&offset=2&fields=3')) as { results: unknown })
          .results,
      ).toEqual([{ id: 3, fields: 3 }]);
    });

    test.each(['GET', 'PATCH'])(
      'are refused where there is none, and a hidden one alike: %s',
      async (method) => {
        const asked = async (query: string): Promise<readonly unknown[]> =>
          seen(
            await started.client.send(
              method,
              `/rest/v1/cf/cfstrict/1/?${query}`,
              method === 'GET' ? {} : { body: { name: 'q' } },
            ),
          );
        expect(await asked('only=hidden,id')).toEqual([400, { only: ['Unknown field "hidden".'] }]);
        expect(await asked('only=nothing,id')).toEqual([400, { only: ['Unknown field "nothing".'] }]);
        expect(await asked('without=__proto__')).toEqual([400, { without: ['Unknown field "__proto__".'] }]);
        expect(await asked('only=id,x&without=hidden,x')).toEqual([
          400,
          { only: ['Unknown field "x".'], without: ['Unknown field "hidden".', 'Unknown field "x".'] },
        ]);
        expect(await asked('omit=id')).toEqual([400, { omit: ['Unknown parameter.'] }]);
      },
    );

    test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])(
      'are an error after the 404 of a missing object: %s',
      async (method) => {
        for (const query of ['only=x', 'without=x', 'unknown=1'])
          for (const key of ['99', 'abc'])
            expect((await started.client.send(method, `/rest/v1/cf/cfstrict/${key}/?${query}`)).status).toBe(
              404,
            );
      },
    );

    test.each(['POST', 'PATCH'])(
      'are refused before a body that is wrong, of many too: %s',
      async (method) => {
        const path = '/rest/v1/cf/cfstrict/?only=x';
        for (const [body, type] of [
          ['[{]', 'application/json'],
          ['[]', 'text/plain'],
        ] as const)
          expect(
            seen(await started.client.send(method, path, { body, headers: { 'content-type': type } })),
          ).toEqual([400, { only: ['Unknown field "x".'] }]);
      },
    );

    test('are refused before anything is written', async () => {
      expect((await started.client.delete('/rest/v1/cf/cfstrict/1/?unknown=1')).status).toBe(400);
      expect((await started.client.post('/rest/v1/cf/cfstrict/?only=x', { name: 'never' })).status).toBe(400);
      expect(await started.dataSource.getRepository(CfStrict).findOneBy({ name: 'never' })).toBeNull();
    });
  });

  test('may be any number of choices: what is kept for them is bounded, and each is answered', async () => {
    const names = ['id', 'name', 'size', 'loud', 'shop', 'tags'];
    for (let choice = 1; choice < 64; choice++) {
      const asked = names.filter((_, at) => (choice >> at) % 2 === 1);
      expect(
        Object.keys(JSON.parse(await text(`cfthing/1/?fields=${asked.join(',')}`)) as object).sort(),
      ).toEqual([...asked].sort());
    }
  });
});
