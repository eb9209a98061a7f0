// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { Grant, Json, Permission, Write } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('dc')
@Entity('dc_tenant')
class DcTenant {
  @PrimaryColumn('int') id: number;
}

@Restify('dc')
@Entity('dc_cust')
class DcCust {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') id: number;
}

/** The columns of its key have other names. */
@Restify('dc')
@Entity('dc_prod')
class DcProd {
  @PrimaryColumn('int') owner: number;
  @PrimaryColumn('int') no: number;
}

/** The columns of both relations are properties. */
@Restify({ app: 'dc', bulk: { upsert: ['title'] } })
@Entity('dc_ord')
@Unique(['tenant', 'note'])
class DcOrd {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) note: string | null;
  @Column('int', { nullable: true }) tenant: number | null;
  @Column('int', { nullable: true }) custId: number | null;
  @Column('int', { nullable: true }) prodId: number | null;
  @ManyToOne(() => DcCust)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'custId', referencedColumnName: 'id' },
  ])
  cust: Relation<DcCust> | null;
  @ManyToOne(() => DcProd)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'owner' },
    { name: 'prodId', referencedColumnName: 'no' },
  ])
  prod: Relation<DcProd> | null;
  @VersionColumn() version: number;
}

/** No column of a relation is a property. */
@Restify({ app: 'dc', bulk: { upsert: ['title'] } })
@Entity('dc_box')
class DcBox {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @ManyToOne(() => DcCust)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'custId', referencedColumnName: 'id' },
  ])
  cust: Relation<DcCust> | null;
  @ManyToOne(() => DcProd)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'owner' },
    { name: 'prodId', referencedColumnName: 'no' },
  ])
  prod: Relation<DcProd> | null;
  @VersionColumn() version: number;
}

/** The tenant is a relation, too, and required. */
@Restify({ app: 'dc', bulk: { upsert: ['title'] } })
@Entity('dc_bill')
class DcBill {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @ManyToOne(() => DcTenant, { nullable: false })
  @JoinColumn({ name: 'tenantId' })
  tenant: Relation<DcTenant>;
  @Column('int', { nullable: true }) custId: number | null;
  @ManyToOne(() => DcCust)
  @JoinColumn([
    { name: 'tenantId', referencedColumnName: 'tenant' },
    { name: 'custId', referencedColumnName: 'id' },
  ])
  cust: Relation<DcCust> | null;
}

/** As DcBill; nobody may change the tenant, or not this caller. */
let isFixed = false;
class Fixing implements Permission {
  decide(): Grant {
    return isFixed ? allow({ writable: ['title', 'cust'] }) : allow();
  }
}

@Restify({ app: 'dc', bulk: { upsert: ['title'] }, readOnly: ['tenant'] })
@Entity('dc_bound')
class DcBound extends DcBill {}

@Restify({ app: 'dc', bulk: { upsert: ['title'] }, permissions: [Fixing] })
@Entity('dc_granted')
class DcGranted extends DcBill {}

/** What the hooks of the following models set. */
let values: Readonly<Record<string, Json>> = {};
interface Changed {
  tenant: number | null;
  tenantId: number | null;
  cust: DcCust | null;
}

let change: ((entity: Changed) => void) | undefined;

/** One relation only. */
@Restify({ app: 'dc', bulk: true })
@Entity('dc_one')
class DcOne {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) tenant: number | null;
  @Column('int', { nullable: true }) custId: number | null;
  @ManyToOne(() => DcCust)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'custId', referencedColumnName: 'id' },
  ])
  cust: Relation<DcCust> | null;
}

@Restify({ app: 'dc', bulk: true, exclude: ['tenant'] })
@Entity('dc_two')
class DcTwo {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) tenant: number | null;
  @ManyToOne(() => DcCust)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'custId', referencedColumnName: 'id' },
  ])
  cust: Relation<DcCust> | null;
  @ManyToOne(() => DcProd)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'owner' },
    { name: 'prodId', referencedColumnName: 'no' },
  ])
  prod: Relation<DcProd> | null;
}

/** A relation of one column, and its plain column. */
@Restify({ app: 'dc', bulk: true })
@Entity('dc_plain')
class DcPlain {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) tenantId: number | null;
  @ManyToOne(() => DcTenant) @JoinColumn({ name: 'tenantId' }) tenant: Relation<DcTenant> | null;
}

@Restify({ app: 'dc', bulk: { upsert: ['cust'] } })
@Entity('dc_lone')
@Unique(['cust'])
class DcLone {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) tenant: number | null;
  @ManyToOne(() => DcCust)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'custId', referencedColumnName: 'id' },
  ])
  cust: Relation<DcCust> | null;
}

@RestifyController(DcLone)
class DcLoneController extends ResourceController<DcLone> {
  override valuesOnCreate(): Readonly<Record<string, Json>> {
    return values;
  }
}

@RestifyController(DcOne)
class DcOneController extends ResourceController<DcOne> {
  override valuesOnCreate(): Readonly<Record<string, Json>> {
    return values;
  }

  override beforeWrite({ entity, operation }: Write<DcOne>): Promise<void> {
    if (operation !== 'destroy') change?.(entity as object as Changed);
    return Promise.resolve();
  }
}

@RestifyController(DcTwo)
class DcTwoController extends ResourceController<DcTwo> {
  override valuesOnCreate(): Readonly<Record<string, Json>> {
    return values;
  }

  override beforeWrite({ entity, operation }: Write<DcTwo>): Promise<void> {
    if (operation !== 'destroy') change?.(entity as object as Changed);
    return Promise.resolve();
  }
}

@RestifyController(DcPlain)
class DcPlainController extends ResourceController<DcPlain> {
  override beforeWrite({ entity, operation }: Write<DcPlain>): Promise<void> {
    if (operation !== 'destroy') change?.(entity as object as Changed);
    return Promise.resolve();
  }
}

const ENTITIES = [
  DcTenant,
  DcCust,
  DcProd,
  DcOrd,
  DcBox,
  DcBill,
  DcBound,
  DcGranted,
  DcOne,
  DcTwo,
  DcPlain,
  DcLone,
];
const DISAGREE = /have different values of a column that both contain/;
const OVERRULED = ['This key has another value of a column that is set by the server.'];

onEachDatabase('a column of several relations', (database) => {
  let started: StartedApp;
  let titles = 0;
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      controllers: [DcOneController, DcTwoController, DcPlainController, DcLoneController],
      database,
    });
    const { manager } = started.dataSource;
    await manager.insert(DcTenant, [{ id: 1 }, { id: 2 }]);
    for (const id of [5, 6]) {
      await manager.insert(
        DcCust,
        [1, 2].map((tenant) => ({ tenant, id })),
      );
      await manager.insert(
        DcProd,
        [0, 1, 2].map((owner) => ({ owner, no: id })),
      );
    }
    await manager.insert(DcCust, { tenant: 0, id: 5 });
  });
  afterAll(() => started.close());
  beforeEach(() => {
    values = {};
    change = undefined;
  });

  const send = async (
    method: 'post' | 'put' | 'patch',
    path: string,
    body: unknown,
  ): Promise<{ readonly status: number; readonly json: Record<string, unknown> }> => {
    const { status, json } = await started.client[method](`/rest/v1/dc/${path}`, body);
    return { status, json: json as Record<string, unknown> };
  };
  const titled = (body: object): Record<string, unknown> => ({ title: `t${titles++}`, ...body });
  const stored = async (model: string, id: unknown): Promise<Record<string, unknown>> =>
    (await started.client.get(`/rest/v1/dc/${model}/${String(id)}/`)).json as Record<string, unknown>;

  /** Creates an object, and changes it. Returns the relations, or the names of the errors; an error has changed nothing. */
  const changed = async (
    model: string,
    body: object,
    change: object,
    method: 'put' | 'patch' = 'patch',
  ): Promise<unknown> => {
    const created = await send('post', `${model}/`, titled(body));
    expect([body, created.status]).toEqual([body, 201]);
    const url = `${model}/${String(created.json.id)}/`;
    const { status, json } = await send(method, url, {
      ...(method === 'put' ? { title: created.json.title } : {}),
      ...change,
    });
    const after = await stored(model, created.json.id);
    if (status !== 200) {
      expect(after).toEqual(created.json);
      return [status, Object.keys(json).sort()];
    }
    expect(json).toEqual(after);
    return [after.cust, 'tenant' in after && model === 'dcbill' ? after.tenant : after.prod];
  };

  for (const model of ['dcord', 'dcbox']) {
    test(`${model}: keys of a new object agree`, async () => {
      for (const [body, expected] of [
        [{ cust: '1,5', prod: '1,5' }, ['1,5', '1,5']],
        [{ cust: '2,5' }, ['2,5', null]],
        [{ prod: '2,5' }, [null, '2,5']],
        [{ prod: '0,5' }, [null, '0,5']],
        [{ cust: null, prod: '2,5' }, [null, '2,5']],
        [{ cust: '2,5', prod: null }, ['2,5', null]],
        [{ cust: null, prod: null }, [null, null]],
        [{ cust: null }, [null, null]],
      ] as const) {
        const { status, json } = await send('post', `${model}/`, titled(body));
        expect([body, status, json.cust, json.prod]).toEqual([body, 201, ...expected]);
        expect(await stored(model, json.id)).toEqual(json);
      }
      const { status, json } = await send('post', `${model}/`, titled({ cust: '1,5', prod: '2,5' }));
      expect([status, Object.keys(json).sort()]).toEqual([400, ['cust', 'prod']]);
      expect(json.cust).toEqual([expect.stringMatching(DISAGREE)]);
      expect(json.prod).toEqual([expect.stringMatching(DISAGREE)]);
    });

    test(`${model}: a change leaves the other relation as it is`, async () => {
      const both = { cust: '1,5', prod: '1,5' };
      for (const [body, change, expected] of [
        [both, { prod: '2,5' }, [400, ['prod']]],
        [both, { prod: '1,6' }, ['1,5', '1,6']],
        [both, { cust: null }, [null, '1,5']],
        [both, { prod: null }, ['1,5', null]],
        [both, { cust: null, prod: null }, [null, null]],
        [both, { cust: '2,6', prod: '2,5' }, ['2,6', '2,5']],
        [both, { prod: '2,5', cust: '2,5' }, ['2,5', '2,5']],
        [both, { cust: '1,5', prod: '2,5' }, [400, ['cust', 'prod']]],
        [both, { cust: null, prod: '2,6' }, [null, '2,6']],
        [both, { cust: null, prod: '0,5' }, [null, '0,5']],
        [both, { cust: '2,9' }, [400, ['cust']]],
        [{ cust: '1,5' }, { cust: '2,5' }, ['2,5', null]],
        [{ cust: '1,5' }, { cust: '0,5', prod: '0,6' }, ['0,5', '0,6']],
        [{ cust: '1,5' }, { prod: '1,5' }, ['1,5', '1,5']],
        [{ cust: '1,5' }, { prod: '2,5' }, [400, ['prod']]],
        [{}, { prod: '2,5' }, [null, '2,5']],
      ] as const)
        for (const method of ['patch', 'put'] as const)
          expect([method, body, change, await changed(model, body, change, method)]).toEqual([
            method,
            body,
            change,
            expected,
          ]);
    });

    test(`${model}: lists and upserts`, async () => {
      const [one, two] = [titled({ cust: '1,5', prod: '1,5' }), titled({ cust: '2,5' })];
      const { status, json } = await started.client.post(`/rest/v1/dc/${model}/`, [one, two]);
      expect(status).toBe(201);
      const [{ id, title }, other] = json as [{ id: number; title: string }, { id: number }];
      const patched = await started.client.patch(`/rest/v1/dc/${model}/`, [
        { id, cust: '2,5', prod: '2,5' },
        { id: other.id, prod: '1,5' },
      ]);
      expect([patched.status, (patched.json as object[]).map((each) => Object.keys(each))]).toEqual([
        400,
        [[], ['prod']],
      ]);
      for (const [body, expected] of [
        [{ title, prod: '2,5' }, 400],
        [{ title, prod: '2,5', cust: '2,6' }, 200],
        [{ title: `${title}n`, prod: '2,5', cust: '1,6' }, 400],
        [{ title: `${title}n`, prod: '2,5', cust: '2,6' }, 201],
      ] as const) {
        const upserted = await started.client.post(`/rest/v1/dc/${model}/?upsert=true`, [body]);
        expect([body, upserted.status]).toEqual([body, expected]);
        if (expected < 400)
          expect(upserted.json).toEqual([expect.objectContaining({ cust: '2,6', prod: '2,5' })]);
      }
    });
  }

  test('the version counts each change once', async () => {
    for (const model of ['dcord', 'dcbox']) {
      const { json } = await send('post', `${model}/`, titled({ cust: '1,5', prod: '1,5' }));
      const url = `${model}/${String(json.id)}/`;
      expect((await send('patch', url, { cust: '1,5', prod: '1,5' })).json.version).toBe(1);
      expect((await send('patch', url, { cust: '2,5', prod: '2,5' })).json.version).toBe(2);
      expect((await send('patch', url, { cust: null })).json.version).toBe(3);
    }
  });

  test('one statement writes keys and other columns', async () => {
    await send('post', 'dcord/', titled({ cust: '1,5', note: 'taken' }));
    expect(
      await changed('dcord', { cust: '1,6', prod: '1,6' }, { cust: '2,6', prod: '2,6', note: 'taken' }),
    ).toEqual(['2,6', '2,6']);
  });

  test('a relation with all of the columns of another one decides about both', async () => {
    for (const [body, expected] of [
      [{ cust: '2,5' }, [201, 2, '2,5']],
      [{ tenant: 2, cust: '2,5' }, [201, 2, '2,5']],
      [{ tenant: 2, cust: null }, [201, 2, null]],
      [{ tenant: 2 }, [201, 2, null]],
    ] as const) {
      const { status, json } = await send('post', 'dcbill/', titled(body));
      expect([body, status, json.tenant, json.cust]).toEqual([body, ...expected]);
    }
    for (const [body, names] of [
      [{ tenant: 1, cust: '2,5' }, ['cust', 'tenant']],
      [{}, ['tenant']],
      [{ cust: null }, ['tenant']],
      [{ tenant: null, cust: '1,5' }, ['tenant']],
    ] as const) {
      const { status, json } = await send('post', 'dcbill/', titled(body));
      expect([body, status, Object.keys(json).sort()]).toEqual([body, 400, names]);
    }
    const start = { tenant: 1, cust: '1,5' };
    for (const [body, change, expected] of [
      [start, { cust: '2,5' }, ['2,5', 2]],
      [start, { tenant: 2 }, [400, ['tenant']]],
      [start, { tenant: 2, cust: null }, [null, 2]],
      [start, { tenant: 2, cust: '2,6' }, ['2,6', 2]],
      [start, { cust: null, tenant: 1 }, [null, 1]],
      [{ tenant: 1 }, { tenant: 2 }, [null, 2]],
    ] as const)
      for (const method of ['patch', 'put'] as const)
        expect([method, change, await changed('dcbill', body, change, method)]).toEqual([
          method,
          change,
          expected,
        ]);
    expect(await changed('dcbill', start, { cust: null })).toEqual([null, 1]);
  });

  test('a relation that another one sets refers to a row', async () => {
    const { json } = await send('post', 'dcbill/', titled({ cust: '1,5' }));
    const url = `dcbill/${String(json.id)}/`;
    // There is no tenant 0.
    for (const [method, path] of [
      ['post', 'dcbill/'],
      ['patch', url],
      ['put', url],
    ] as const)
      expect([method, (await send(method, path, titled({ cust: '0,5' }))).status]).toEqual([method, 403]);
    expect(await stored('dcbill', json.id)).toEqual(json);
  });

  test('a relation with a wrong value is not one that the body leaves out', async () => {
    for (const model of ['dcord', 'dcbox']) {
      const { json } = await send('post', `${model}/`, titled({ cust: '1,5', prod: '1,5' }));
      const wrong = { prod: ['Incorrect type. Expected pk value, received float.'] };
      for (const method of ['patch', 'put'] as const) {
        const body = { title: json.title, cust: '2,5', prod: 1.5 };
        const { status, json: errors } = await send(method, `${model}/${String(json.id)}/`, body);
        expect([method, status, errors]).toEqual([method, 400, wrong]);
      }
    }
  });

  test('a relation that the caller may not write is not changed by one with all of its columns', async () => {
    for (const model of ['dcbound', 'dcgranted']) {
      isFixed = false;
      const made = await send('post', `${model}/`, titled({ cust: '1,5' }));
      expect([made.status, made.json]).toMatchObject([201, { tenant: 1, cust: '1,5' }]);
      const { id, title } = made.json;
      isFixed = true;
      const refused = { cust: ['This key would change "tenant", which is read-only.'] };
      for (const method of ['put', 'patch'] as const) {
        const moved = await send(method, `${model}/${String(id)}/`, { title, cust: '2,5' });
        expect([moved.status, moved.json]).toEqual([400, refused]);
      }
      for (const [method, path, body] of [
        ['patch', '', { id, cust: '2,5' }],
        ['post', '?upsert=true', { title, cust: '2,5' }],
      ] as const) {
        const moved = await started.client[method](`/rest/v1/dc/${model}/${path}`, [body]);
        expect([moved.status, moved.json]).toEqual([400, [refused]]);
      }
      for (const cust of ['1,6', null]) {
        const kept = await send('patch', `${model}/${String(id)}/`, { cust });
        expect([kept.status, kept.json]).toMatchObject([200, { tenant: 1, cust }]);
      }
    }
  });

  test('valuesOnCreate stand above keys of the body', async () => {
    values = { tenant: 1 };
    for (const model of ['dcone', 'dctwo']) {
      for (const body of [{ cust: '1,5' }, {}, { cust: null }]) {
        const { status, json } = await send('post', `${model}/`, body);
        expect([body, status, json.cust]).toEqual([body, 201, body.cust ?? null]);
      }
      const { status, json } = await send('post', `${model}/`, { cust: '2,5' });
      expect([model, status, json]).toEqual([model, 400, { cust: OVERRULED }]);
      const list = await started.client.post(`/rest/v1/dc/${model}/`, [{ cust: '1,5' }, { cust: '2,5' }]);
      expect([list.status, list.json]).toEqual([400, [{}, { cust: OVERRULED }]]);
    }
    await started.dataSource.manager.insert(DcLone, { tenant: 1, cust: { tenant: 1, id: 5 } });
    const upserted = await started.client.post('/rest/v1/dc/dclone/?upsert=true', [{ cust: '2,5' }]);
    expect([upserted.status, upserted.json]).toEqual([400, [{ cust: OVERRULED }]]);
    const { dataSource } = started;
    expect(await dataSource.manager.countBy(DcOne, { tenant: 2 })).toBe(0);
    expect(await dataSource.manager.countBy(DcTwo, { tenant: 2 })).toBe(0);

    values = { cust: '1,5' };
    const replaced = await send('post', 'dctwo/', { cust: '2,5', prod: '1,5' });
    expect([replaced.status, replaced.json]).toMatchObject([201, { cust: '1,5', prod: '1,5' }]);
    const other = await send('post', 'dctwo/', { prod: '2,5' });
    expect([other.status, other.json]).toEqual([400, { prod: OVERRULED }]);
  });

  test('beforeWrite stands above keys of the body', async () => {
    for (const [model, url] of [
      ['dcone', 'dcone/'],
      ['dctwo', 'dctwo/'],
    ] as const) {
      change = (entity) => {
        entity.tenant = 1;
      };
      const agreed = await send('post', url, { cust: '1,5' });
      expect([agreed.status, agreed.json.cust]).toEqual([201, '1,5']);
      const refused = await send('post', url, { cust: '2,5' });
      expect([refused.status, refused.json]).toEqual([400, { cust: OVERRULED }]);
      const one = `${url}${String(agreed.json.id)}/`;
      for (const method of ['patch', 'put'] as const) {
        const moved = await send(method, one, { cust: '2,5' });
        expect([method, moved.status, moved.json]).toEqual([method, 400, { cust: OVERRULED }]);
        const kept = await send(method, one, { cust: '1,6' });
        expect([method, kept.status, kept.json.cust]).toEqual([method, 200, '1,6']);
      }
      const list = await started.client.patch(`/rest/v1/dc/${url}`, [{ id: agreed.json.id, cust: '2,5' }]);
      expect([list.status, list.json]).toEqual([400, [{ cust: OVERRULED }]]);
      expect((await stored(model, agreed.json.id)).cust).toBe('1,6');

      // The application moves the object.
      change = (entity) => {
        entity.tenant = 2;
      };
      const moved = await send('patch', one, {});
      expect([moved.status, moved.json.cust]).toEqual([200, '2,6']);
      // It replaces the key of the body.
      change = (entity) => {
        entity.cust = { tenant: 1, id: 5 };
      };
      for (const method of ['patch', 'put'] as const) {
        const set = await send(method, one, { cust: '2,5' });
        expect([set.status, set.json.cust]).toEqual([200, '1,5']);
      }
      const made = await send('post', url, { cust: '2,5' });
      expect([made.status, made.json.cust]).toEqual([201, '1,5']);
    }
    change = (entity) => {
      entity.cust = { tenant: 1, id: 5 };
    };
    const both = await send('post', 'dctwo/', { prod: '2,5' });
    expect([both.status, both.json]).toEqual([400, { prod: OVERRULED }]);
    const fits = await send('post', 'dctwo/', { prod: '1,5' });
    expect([fits.status, fits.json]).toMatchObject([201, { cust: '1,5', prod: '1,5' }]);
    // A part of a key is not completed by that of the body.
    change = (entity) => {
      entity.cust = { id: 6 } as DcCust;
    };
    const half = await send('post', 'dctwo/', { cust: '2,5' });
    expect([half.status, half.json]).toEqual([400, { cust: OVERRULED }]);
    change = (entity) => {
      entity.cust = null;
    };
    const emptied = await send('patch', `dctwo/${String(fits.json.id)}/`, {});
    expect([emptied.status, emptied.json]).toMatchObject([200, { cust: null, prod: '1,5' }]);
  });

  test('beforeWrite stands above the relation of one column', async () => {
    change = (entity) => {
      entity.tenantId = 1;
    };
    const agreed = await send('post', 'dcplain/', { tenant: 1 });
    expect([agreed.status, agreed.json]).toMatchObject([201, { tenant: 1, tenantId: 1 }]);
    const refused = await send('post', 'dcplain/', { tenant: 2 });
    expect([refused.status, refused.json]).toEqual([400, { tenant: OVERRULED }]);
    for (const method of ['patch', 'put'] as const) {
      const moved = await send(method, `dcplain/${String(agreed.json.id)}/`, { tenant: 2 });
      expect([moved.status, moved.json]).toEqual([400, { tenant: OVERRULED }]);
    }
    const bare = await send('post', 'dcplain/', {});
    expect([bare.status, bare.json]).toMatchObject([201, { tenant: 1, tenantId: 1 }]);
  });
});

@Restify('dcp')
@Entity('dcp_student')
class DcStudent {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => DcCourse)
  @JoinTable({
    name: 'dcp_pair',
    synchronize: false,
    joinColumns: [
      { name: 'tenant', referencedColumnName: 'tenant' },
      { name: 'studentId', referencedColumnName: 'id' },
    ],
    inverseJoinColumns: [{ name: 'courseId', referencedColumnName: 'code' }],
  })
  courses: Relation<DcCourse[]>;
}

@Restify('dcp')
@Entity('dcp_course')
@Unique(['tenant', 'code'])
class DcCourse {
  @PrimaryColumn('int') code: number;
  @Column('int') tenant: number;
}

/** The room is in the tenant of the student. */
@Restify('dcp')
@Entity('dcp_room')
class DcRoom {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') id: number;
}

@Restify({ app: 'dcp' })
@Entity('dcp_pair')
class DcPair {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') tenant: number;
  @Column('int') studentId: number;
  @Column('int') courseId: number;
  @ManyToOne(() => DcStudent)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'studentId', referencedColumnName: 'id' },
  ])
  student: Relation<DcStudent>;
  @ManyToOne(() => DcCourse) @JoinColumn({ name: 'courseId' }) course: Relation<DcCourse>;
  @Column('int', { nullable: true }) roomId: number | null;
  @ManyToOne(() => DcRoom)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'roomId', referencedColumnName: 'id' },
  ])
  room: Relation<DcRoom> | null;
}

@RestifyController(DcPair)
class DcPairController extends ResourceController<DcPair> {
  override beforeWrite({ entity, operation }: Write<DcPair>): Promise<void> {
    if (operation !== 'destroy') change?.(entity as object as Changed);
    return Promise.resolve();
  }
}

onEachDatabase('a through object whose parent shares a column', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [DcStudent, DcCourse, DcRoom, DcPair],
      controllers: [DcPairController],
      database,
    });
    const { manager } = started.dataSource;
    for (const tenant of [1, 2]) {
      await manager.insert(DcStudent, { tenant, id: 5 });
      await manager.insert(DcCourse, { code: tenant, tenant });
      await manager.insert(DcRoom, { tenant, id: 7 });
    }
  });
  afterAll(() => started.close());

  test('keeps the tenant of the URL', async () => {
    const url = '/rest/v1/dcp/dcstudent/1,5/courses/';
    const { client } = started;
    const refused = await client.post(url, { course: 1, room: '2,7' });
    expect([refused.status, refused.json]).toEqual([400, { room: OVERRULED }]);
    const made = await client.post(url, { course: 1, student: '2,5', room: '1,7' });
    expect([made.status, made.json]).toMatchObject([201, { student: '1,5', course: 1, room: '1,7' }]);
    const one = `${url}${String((made.json as { id: number }).id)}/`;
    for (const method of ['patch', 'put'] as const) {
      const moved = await client[method](one, { course: 1, room: '2,7' });
      expect([method, moved.status, Object.keys(moved.json as object)]).toEqual([method, 400, ['room']]);
    }
    // The URL stands above the application.
    change = (entity) => {
      entity.tenant = 2;
    };
    const hooked = await client.post(url, { course: 2, room: '1,7' });
    change = undefined;
    expect([hooked.status, hooked.json]).toMatchObject([201, { student: '1,5', course: 2, room: '1,7' }]);
    const emptied = await client.patch(one, { room: null });
    expect([emptied.status, emptied.json]).toMatchObject([200, { student: '1,5', room: null }]);
  });
});
