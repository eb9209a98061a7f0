// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { Grant, Json, Permission, Write, AccessContext } from 'nestjs-restify';
import { BeforeUpdate, Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, VersionColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('ck')
@Entity('ck_tenant')
class CkTenant {
  @PrimaryColumn('int') id: number;
}

@Restify('ck')
@Entity('ck_cust')
class CkCust {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') id: number;
}

/** The tenant is a column of the key. */
@Restify({ app: 'ck' })
@Entity('ck_ord')
class CkOrd {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') id: number;
  @Column({ type: 'varchar', length: 10, nullable: true }) note: string | null;
  @Column('int', { nullable: true }) custId: number | null;
  @ManyToOne(() => CkCust)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'custId', referencedColumnName: 'id' },
  ])
  cust: Relation<CkCust> | null;
}

/** The tenant is a relation, too, and the application has hooks. */
@Restify({ app: 'ck' })
@Entity('ck_bill')
class CkBill {
  @PrimaryColumn('int') tenantId: number;
  @PrimaryColumn('int') id: number;
  @ManyToOne(() => CkTenant) @JoinColumn({ name: 'tenantId' }) tenant: Relation<CkTenant>;
  @ManyToOne(() => CkCust)
  @JoinColumn([
    { name: 'tenantId', referencedColumnName: 'tenant' },
    { name: 'custId', referencedColumnName: 'id' },
  ])
  cust: Relation<CkCust> | null;
  @ManyToOne(() => CkCust, { nullable: false })
  @JoinColumn([
    { name: 'tenantId', referencedColumnName: 'tenant' },
    { name: 'payerId', referencedColumnName: 'id' },
  ])
  payer: Relation<CkCust>;
  @VersionColumn() version: number;
}

/** A caller may see less. */
class Narrow implements Permission {
  decide({ request }: AccessContext): Grant {
    const { headers } = request as { readonly headers: Readonly<Record<string, string | undefined>> };
    return headers['x-narrow'] === undefined ? allow() : allow({ readable: ['code'] });
  }
}

@Restify({ app: 'ck', bulk: { upsert: ['code'] }, permissions: [Narrow] })
@Entity('ck_note')
class CkNote {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') id: number;
  @Column('int', { unique: true }) code: number;
  @ManyToOne(() => CkCust)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'custId', referencedColumnName: 'id' },
  ])
  cust: Relation<CkCust> | null;
}

/** The entity has a listener. All columns of `order` are of its key. */
@Restify({ app: 'ck' })
@Entity('ck_item')
class CkItem {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') orderId: number;
  @PrimaryColumn('int') row: number;
  @ManyToOne(() => CkOrd)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'orderId', referencedColumnName: 'id' },
  ])
  order: Relation<CkOrd>;
  @ManyToOne(() => CkCust)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'custId', referencedColumnName: 'id' },
  ])
  cust: Relation<CkCust> | null;
  @Column({ length: 10, default: '' }) text: string;
  @Column('int', { default: 0 }) heard: number;
  @VersionColumn() version: number;
  @BeforeUpdate() hear(): void {
    this.heard += 1;
  }
}

let values: Readonly<Record<string, Json>> = {};
let change: ((entity: CkOrd) => unknown) | undefined;

@RestifyController(CkOrd)
class CkOrdController extends ResourceController<CkOrd> {
  override valuesOnCreate(): Readonly<Record<string, Json>> {
    return values;
  }

  override beforeWrite({ entity, operation }: Write<CkOrd>): void {
    if (operation !== 'destroy') change?.(entity);
  }
}

const OVERRULED = ['This key has another value of a column that is set by the server.'];
const OWN_KEY = ['This key has another value of a column of the key of this object, which does not change.'];

onEachDatabase('a relation with a column of the key', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [CkTenant, CkCust, CkOrd, CkBill, CkNote, CkItem],
      controllers: [CkOrdController],
      database,
    });
    const { manager } = started.dataSource;
    for (const tenant of [1, 2]) {
      await manager.insert(CkTenant, { id: tenant });
      await manager.insert(
        CkCust,
        [5, 6].map((id) => ({ tenant, id })),
      );
    }
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    values = {};
    change = undefined;
    for (const entity of [CkItem, CkOrd, CkBill, CkNote])
      await started.dataSource.manager.createQueryBuilder().delete().from(entity).execute();
  });

  const send = async (
    method: 'post' | 'put' | 'patch',
    path: string,
    body: unknown,
  ): Promise<readonly [number, Record<string, unknown>]> => {
    const { status, json } = await started.client[method](`/rest/v1/ck/${path}`, body);
    return [status, json as Record<string, unknown>];
  };

  test('is changed by its other columns; the key stays', async () => {
    const [status] = await send('post', 'ckord/', { tenant: 1, id: 1, cust: '1,5', note: 'a' });
    expect(status).toBe(201);
    const url = 'ckord/1,1/';
    for (const [method, body, expected] of [
      ['patch', { cust: '1,6' }, '1,6'],
      ['patch', { cust: '1,5', note: 'b' }, '1,5'],
      ['put', { cust: '1,6', tenant: 2, id: 9 }, '1,6'],
      ['patch', { note: 'c' }, '1,6'],
      ['patch', { cust: null }, null],
      ['patch', { cust: '1,5', tenant: 2 }, '1,5'],
      ['put', { cust: null }, null],
      ['patch', { cust: '1,6' }, '1,6'],
    ] as const) {
      const changed = await send(method, url, body);
      expect([body, ...changed]).toMatchObject([body, 200, { tenant: 1, id: 1, cust: expected }]);
      expect((await started.client.get(`/rest/v1/ck/${url}`)).json).toEqual(changed[1]);
    }
    for (const method of ['patch', 'put'] as const) {
      expect(await send(method, url, { cust: '2,5' })).toEqual([400, { cust: OWN_KEY }]);
      expect(await send(method, url, { cust: '2,5', tenant: 2 })).toEqual([400, { cust: OWN_KEY }]);
      expect((await send(method, url, { cust: '1,9' }))[0]).toBe(400);
    }
    expect(await started.dataSource.manager.find(CkOrd)).toMatchObject([{ tenant: 1, id: 1, custId: 6 }]);
  });

  test('is changed beside relations that share the column', async () => {
    const [status] = await send('post', 'ckbill/', { id: 1, payer: '1,5' });
    expect(status).toBe(201);
    const url = 'ckbill/1,1/';
    for (const [body, expected, version] of [
      [{ cust: '1,6' }, { cust: '1,6', payer: '1,5' }, 2],
      [{ payer: '1,6', cust: '1,5', tenant: 2 }, { cust: '1,5', payer: '1,6' }, 3],
      [{ cust: null }, { cust: null, payer: '1,6' }, 4],
      [{ tenant: 2 }, { cust: null, payer: '1,6' }, 4],
    ] as const)
      expect([body, ...(await send('patch', url, body))]).toMatchObject([
        body,
        200,
        { ...expected, tenantId: 1, tenant: 1, version },
      ]);
    for (const [body, errors] of [
      [
        { payer: '2,6', cust: '2,6', tenant: 2 },
        { payer: OWN_KEY, cust: OWN_KEY },
      ],
      [{ payer: '1,6', cust: '2,6' }, { cust: OWN_KEY }],
      [{ payer: null }, { payer: ['This field may not be null.'] }],
    ] as const)
      expect([body, ...(await send('patch', url, body))]).toEqual([body, 400, errors]);
    expect(await started.dataSource.manager.count(CkBill)).toBe(1);
  });

  test('agrees with the key of a new object', async () => {
    let id = 10;
    for (const [body, expected] of [
      [
        { tenant: 1, cust: '1,5' },
        { tenant: 1, cust: '1,5' },
      ],
      [{ cust: '2,5' }, { tenant: 2, cust: '2,5' }],
      [{ tenant: 2 }, { tenant: 2, cust: null }],
      [
        { tenant: 2, cust: null },
        { tenant: 2, cust: null },
      ],
    ] as const)
      expect([body, ...(await send('post', 'ckord/', { id: ++id, ...body }))]).toMatchObject([
        body,
        201,
        { id, ...expected },
      ]);
    const disagree = [expect.stringMatching(/have different values of a column that both contain/)];
    for (const [body, errors] of [
      [
        { tenant: 1, cust: '2,5' },
        { tenant: disagree, cust: disagree },
      ],
      [{}, { tenant: ['This field is required.'] }],
      [{ cust: null }, { tenant: ['This field is required.'] }],
    ] as const)
      expect([body, ...(await send('post', 'ckord/', { id: 1, ...body }))]).toEqual([body, 400, errors]);
    expect(await send('post', 'ckbill/', { id: 1, tenant: 1, payer: '2,5' })).toEqual([
      400,
      { tenant: disagree, payer: disagree },
    ]);
  });

  test('agrees with what hooks set', async () => {
    const add = (): void => void (values = { tenant: 1 });
    const hook = (): void => void (change = (entity) => (entity.tenant = 1));
    let id = 0;
    for (const prepare of [add, hook]) {
      values = {};
      change = undefined;
      prepare();
      expect(await send('post', 'ckord/', { id: 1, cust: '2,5' })).toEqual([400, { cust: OVERRULED }]);
      for (const body of [{ cust: '1,5' }, { cust: '1,5', tenant: 2 }, { tenant: 2 }]) {
        // A hook takes precedence over the same field of the body, in which another key then disagrees.
        const isRefused = prepare === hook && body.cust !== undefined && body.tenant === 2;
        const [status, json] = await send('post', 'ckord/', { id: ++id, ...body });
        expect([body, status]).toEqual([body, isRefused ? 400 : 201]);
        if (!isRefused) expect(json).toMatchObject({ tenant: 1, cust: body.cust ?? null });
      }
    }
    values = { cust: '1,5' };
    change = undefined;
    expect(await send('post', 'ckord/', { id: 21 })).toMatchObject([201, { tenant: 1, cust: '1,5' }]);
    expect(await send('post', 'ckord/', { id: 22, tenant: 2 })).toEqual([400, { tenant: OVERRULED }]);
  });

  test('is written in lists', async () => {
    const [, made] = await send('post', 'cknote/', [
      { tenant: 1, id: 1, code: 1, cust: '1,5' },
      { id: 2, code: 2, cust: '2,5' },
      { tenant: 2, id: 3, code: 3 },
    ]);
    expect(made).toMatchObject([{ cust: '1,5' }, { tenant: 2, cust: '2,5' }, { tenant: 2, cust: null }]);
    const upsert = (code: number, cust: string): Promise<unknown> =>
      send('post', 'cknote/?upsert=true', [{ tenant: 2, id: 9, code, cust }]);
    expect(await upsert(2, '2,6')).toMatchObject([200, [{ tenant: 2, id: 2, cust: '2,6' }]]);
    expect(await upsert(1, '2,5')).toEqual([400, [{ cust: OWN_KEY }]]);
  });

  test('leaves changes of other fields to the listeners of the entity', async () => {
    await send('post', 'ckord/', { tenant: 1, id: 1 });
    const [status] = await send('post', 'ckitem/', { order: '1,1', row: 1, cust: '1,5' });
    expect(status).toBe(201);
    const url = 'ckitem/1,1,1/';
    for (const [method, body, expected] of [
      ['patch', { text: 'a' }, { text: 'a', cust: '1,5', heard: 1, version: 2 }],
      ['patch', { text: 'b', cust: '1,5' }, { text: 'b', cust: '1,5', heard: 2, version: 3 }],
      ['put', { text: 'c', cust: '1,5' }, { text: 'c', cust: '1,5', heard: 3, version: 4 }],
      ['patch', { cust: '1,6' }, { text: 'c', cust: '1,6', version: 5 }],
      ['patch', { cust: null }, { text: 'c', cust: null, version: 6 }],
    ] as const)
      expect([body, ...(await send(method, url, body))]).toMatchObject([
        body,
        200,
        { order: '1,1', row: 1, ...expected },
      ]);
    expect(await started.dataSource.manager.count(CkItem)).toBe(1);
  });

  test('is not shown with the key where it is not granted', async () => {
    const { client } = started;
    const headers = { 'x-narrow': 'yes' };
    const made = await client.post(
      '/rest/v1/ck/cknote/',
      { tenant: 1, id: 1, code: 1, cust: '1,5' },
      { headers },
    );
    expect([made.status, made.json]).toEqual([201, { tenant: 1, id: 1, code: 1 }]);
    const read = await client.get('/rest/v1/ck/cknote/', { headers });
    expect(read.json).toEqual([{ code: 1 }]);
  });
});
