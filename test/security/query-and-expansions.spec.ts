// @tags db http
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, deny, Restify, where } from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const FORM = 'application/x-www-form-urlencoded';
const SHOPS = '/rest/v1/qx/shop/';

function userOf({ request }: AccessContext): string {
  return (request as { readonly headers: Readonly<Record<string, string>> }).headers['x-user'] ?? '';
}

/** The owner sees all, a guest names of public items alone, a stranger nothing. */
class Items implements Permission {
  decide(context: AccessContext): Grant | Denial {
    switch (userOf(context)) {
      case 'owner':
        return allow();
      case 'guest':
        return allow({ rows: where('secret', false), readable: ['id', 'name', 'shop'] });
      default:
        return deny();
    }
  }
}

@Restify({
  app: 'qx',
  query: true,
  shape: true,
  expandable: ['items'],
  expansionQueries: true,
  counts: ['items'],
  searchFields: ['name', 'items.name', 'items.price'],
})
@Entity('qx_shop')
class Shop {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @OneToMany(() => Item, (item) => item.shop) items: Relation<Item>[];
}

@Restify({
  app: 'qx',
  query: true,
  permissions: [Items],
  filterFields: { price: ['exact', 'in', 'gte'], name: ['exact', 'in'], secret: ['exact'] },
  filterGroups: true,
})
@Entity('qx_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ length: 20 }) price: string;
  @Column() secret: boolean;
  @ManyToOne(() => Shop, (shop) => shop.items) shop: Relation<Shop>;
}

onEachDatabase('QUERY, expanded lists and counts', (database) => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({ database, entities: [Shop, Item] });
    const { manager } = started.dataSource;
    await manager.insert(Shop, [{ name: 'one' }]);
    await manager.insert(Shop, [{ name: 'two' }]);
    for (const [name, price, secret, shop] of [
      ['tea', '5', false, 1],
      ['ale', '9', true, 1],
      ['rum', '7', true, 2],
    ] as const)
      await manager.insert(Item, { name, price, secret, shop: { id: shop } });
  });

  afterAll(() => started.close());

  /** By GET and by QUERY, which have to be equal. */
  async function ask(parameters: string, user = 'guest', path = SHOPS): Promise<Answer> {
    const headers = { 'x-user': user };
    const get = await started.client.get(`${path}?${parameters}`, { headers });
    const query = await started.client.send('QUERY', path, {
      raw: parameters,
      headers: { ...headers, 'content-type': FORM },
    });
    expect([parameters, query.status, query.text]).toEqual([parameters, get.status, get.text]);
    return query;
  }

  test('S1 names with SQL in paths of expanded lists have no effect', async () => {
    const plain = await ask('expand=items&ordering=id');
    for (const name of [
      'items.price"--',
      "items.price' OR '1'='1",
      'items.ordering) desc--',
      'items;drop table qx_item.limit',
      'items".limit',
      'items.items.limit',
      'items..limit',
      '.limit',
    ])
      expect((await ask(`expand=items&ordering=id&${encodeURIComponent(name)}=1`)).text).toBe(plain.text);
    const ordered = await ask(
      `expand=items&ordering=id&items.ordering=${encodeURIComponent('id;drop table qx_item--,(select 1)')}`,
    );
    expect(ordered.text).toBe(plain.text);
    const refused = await ask(`expand=items&items.limit=${encodeURIComponent('1;drop table qx_item')}`);
    expect([refused.status, refused.json]).toEqual([
      400,
      { 'items.limit': ['A valid integer is required.'] },
    ]);
  });

  test('S2 a hidden column neither filters nor orders nor is searched in an expanded list', async () => {
    const plain = await ask('expand=items&ordering=id');
    for (const parameters of [
      'items.price=9',
      'items.price__gte=1',
      'items.secret=true',
      'items.ordering=-price',
    ]) {
      const { status, text } = await ask(`expand=items&ordering=id&${parameters}`);
      expect([parameters, status, status === 200 ? text : plain.text]).toEqual([parameters, 200, plain.text]);
    }
    const grouped = await ask(`expand=items&items.filter=${encodeURIComponent('or(price=9,secret=true)')}`);
    const unknown = await ask(`expand=items&items.filter=${encodeURIComponent('or(prize=9,secrex=true)')}`);
    expect(grouped.status).toBe(400);
    expect(grouped.text.replaceAll('price', 'prize')).toBe(unknown.text);
    expect((await ask('search=9&ordering=id')).json).toEqual([]);
    expect((await ask('search=9&ordering=id', 'owner')).json).toMatchObject([{ id: 1 }]);
  });

  test('S7 hidden rows are in no expanded list, by any parameter', async () => {
    for (const parameters of [
      'items.limit=5',
      'items.name=ale',
      'items.name__in=ale,rum,tea',
      'items.search=ale',
      `items.filter=${encodeURIComponent('not(name=zzz)')}`,
    ]) {
      const { text } = await ask(`expand=items&ordering=id&${parameters}`);
      expect([parameters, /ale|rum/.test(text.replace(/"name":"(one|two)"/g, ''))]).toEqual([
        parameters,
        false,
      ]);
    }
    expect((await ask('search=ale')).json).toEqual([]);
    expect((await ask('search=rum', 'owner')).json).toMatchObject([{ name: 'two' }]);
    for (const user of ['stranger', '']) {
      const { json } = await ask('expand=items&items.limit=1&with=counts&ordering=id', user);
      expect(json).toEqual([
        { id: 1, name: 'one', items: `${SHOPS}1/items/`, counts: {} },
        { id: 2, name: 'two', items: `${SHOPS}2/items/`, counts: {} },
      ]);
      expect((await ask('name__in=tea', user, '/rest/v1/qx/item/')).status).toBe(403);
    }
  });

  test('S13 hidden rows are not counted, nor revealed by a cut list', async () => {
    const { json } = await ask('with=counts&expand=items&items.limit=1&ordering=id');
    expect(json).toEqual([
      { id: 1, name: 'one', items: [{ id: 1, name: 'tea', shop: 1 }], counts: { items: 1 } },
      { id: 2, name: 'two', items: [], counts: { items: 0 } },
    ]);
    const owner = await ask('with=counts&expand=items&items.limit=1&fields=id&ordering=id', 'owner');
    expect(owner.json).toEqual([
      { id: 1, counts: { items: 2 } },
      { id: 2, counts: { items: 1 } },
    ]);
  });

  test('S15 inherited names are no paths and no parameters', async () => {
    const plain = await ask('ordering=id');
    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString'])
      for (const parameters of [`expand=${name}&${name}.limit=1`, `${name}.${name}=1`, `with=&${name}=1`])
        expect((await ask(`ordering=id&${parameters}`)).text).toBe(plain.text);
    const within = await ask('expand=items&items.__proto__=1&items.constructor.limit=1&ordering=id');
    expect(within.text).toBe((await ask('expand=items&ordering=id')).text);
    expect((await ask('with=__proto__')).status).toBe(400);
  });

  test('S8 a body is bounded in names, texts, values and bytes, in little time', async () => {
    const send = (raw: string): Promise<Answer> =>
      started.client.send('QUERY', SHOPS, { raw, headers: { 'content-type': FORM } });
    const begin = performance.now();
    const statuses = [
      await send('&'.repeat(1_000_000)),
      await send('a=1&'.repeat(200_000)),
      await send(Array.from({ length: 100_000 }, (_, n) => `a${n}`).join('&')),
      await send(`ordering=${'-id,'.repeat(200_000)}`),
      await send(`expand=${'items.'.repeat(150_000)}`),
      await send(`filter=${'not('.repeat(200_000)}`),
      await send(`search=${'a '.repeat(400_000)}`),
      await send(`items.name__in=${'a,'.repeat(400_000)}`),
      await send(`id=${'%61'.repeat(300_000)}`),
      await send('%'.repeat(900_000)),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 400, 400, 400, 400, 400, 400, 400, 400, 400]);
    expect(performance.now() - begin).toBeLessThan(10_000);
  });
});
