// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  allow,
  basic,
  deny,
  Restify,
  RestifyModule,
  RestifyOpenApi,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission, Denial } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** All delete all. Ann reads everything, Bob what is open and not the price, others nothing. */
class Readers implements Permission {
  decide({ actor, method }: AccessContext): Grant | Denial {
    if (method !== 'GET') return allow();
    switch ((actor as { readonly name?: string } | null)?.name) {
      case 'ann':
        return allow();
      case 'bob':
        return allow({ rows: where('open', true), readable: ['id', 'title'] });
      default:
        return deny();
    }
  }
}

@Restify({ app: 'gone', permissions: [Readers], shape: true, expandable: ['labels'], bulk: true })
@Entity('gone_thing')
class GoneThing {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) title: string;
  @Column() price: number;
  @Column() open: boolean;
  @OneToMany(() => GonePart, (part) => part.thing) parts: Relation<GonePart[]>;
  @ManyToMany(() => GoneLabel, (label) => label.things) @JoinTable({ name: 'gone_pairs' }) labels: Relation<
    GoneLabel[]
  >;
}

@Restify({ app: 'gone' })
@Entity('gone_part')
class GonePart {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => GoneThing, (thing) => thing.parts, { nullable: true }) thing: Relation<GoneThing> | null;
}

@Restify({ app: 'gone' })
@Entity('gone_label')
class GoneLabel {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) word: string;
  @ManyToMany(() => GoneThing, (thing) => thing.labels) things: Relation<GoneThing[]>;
}

@Restify({ app: 'gone', permissions: [Readers], conditional: true })
@Entity('gone_cell')
class GoneCell {
  @PrimaryColumn({ length: 10 }) id: string;
  @PrimaryColumn({ type: 'int' }) line: number;
  @Column() open: boolean;
  @Column({ length: 20 }) title: string;
  @VersionColumn() version: number;
}

@Restify({ app: 'gone', returnDeleted: false })
@Entity('gone_quiet')
class GoneQuiet {
  @PrimaryGeneratedColumn() id: number;
}

const THINGS = '/rest/v1/gone/gonething/';

onEachDatabase('a deleted object that is returned', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [GoneThing, GonePart, GoneLabel, GoneCell, GoneQuiet],
      database,
      restifyModules: [
        RestifyModule.forRoot('rest/v1', {
          returnDeleted: true,
          authentication: [basic((name) => ({ name }))],
          permissions: [Readers],
        }),
        RestifyModule.forRoot('rest/v2', {
          authentication: [basic((name) => ({ name }))],
          permissions: [Readers],
        }),
      ],
    });
  });
  afterAll(() => started.close());

  const as = (name: string): { headers: { authorization: string } } => ({
    headers: { authorization: `Basic ${Buffer.from(`${name}:pw`).toString('base64')}` },
  });
  const make = async (open: boolean): Promise<GoneThing> =>
    started.dataSource.manager.save(GoneThing, { title: 'T', price: 9, open });
  const deleted = async (path: string, who = 'ann'): Promise<unknown> => {
    const { status, json, headers } = await started.client.delete(path, as(who));
    return [status, json, headers['content-type']];
  };

  test('is what GET has shown to this caller, else its key', async () => {
    const { client, dataSource } = started;
    const { id } = await make(true);
    const shown = (await client.get(`${THINGS}${id}/`, as('ann'))).json;
    expect(await deleted(`${THINGS}${id}/`)).toEqual([200, shown, 'application/json']);
    expect(shown).toMatchObject({ id, title: 'T', price: 9, open: true });
    expect(await deleted(`${THINGS}${id}/`)).toEqual([404, { detail: 'Not found.' }, 'application/json']);
    const [open, shut, other] = [await make(true), await make(false), await make(true)];
    expect(await deleted(`${THINGS}${open.id}/`, 'bob')).toEqual([
      200,
      { id: open.id, title: 'T' },
      'application/json',
    ]);
    expect(await deleted(`${THINGS}${shut.id}/`, 'bob')).toEqual([200, { id: shut.id }, 'application/json']);
    expect(await deleted(`${THINGS}${other.id}/`, 'carl')).toEqual([
      200,
      { id: other.id },
      'application/json',
    ]);
    expect(await dataSource.manager.count(GoneThing)).toBe(0);
  });

  test('is not returned where it is not deleted', async () => {
    const { id } = await make(true);
    await started.dataSource.manager.save(GonePart, { thing: { id } });
    expect(await deleted(`${THINGS}${id}/`)).toEqual([
      409,
      { detail: expect.any(String) },
      'application/json',
    ]);
    expect((await started.client.get(`${THINGS}${id}/`, as('ann'))).status).toBe(200);
    await started.dataSource.manager.clear(GonePart);
    expect((await started.client.delete(`${THINGS}${id}/`, as('ann'))).status).toBe(200);
  });

  test('once, of two callers who delete it at once', async () => {
    const { id } = await make(true);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => started.client.delete(`${THINGS}${id}/`, as('ann'))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404]);
  });

  test('is a through object below a nested URL, under the permissions of the junction', async () => {
    const { client, dataSource } = started;
    const { manager } = dataSource;
    const labels = await manager.save(GoneLabel, [{ word: 'a' }, { word: 'b' }]);
    const thing = await manager.save(GoneThing, { title: 'T', price: 9, open: true, labels });
    const [first, second] = labels.map(({ id }) => id);
    const path = `${THINGS}${thing.id}/labels/${first}/`;
    const shown = (await client.get(path, as('ann'))).json;
    expect(shown).toEqual({ id: first, gonething: thing.id, gonelabel: first });
    expect(await deleted(path)).toEqual([200, shown, 'application/json']);
    expect(await deleted(`${THINGS}${thing.id}/labels/${second}/`, 'ann')).toEqual([
      200,
      { id: second, gonething: thing.id, gonelabel: second },
      'application/json',
    ]);
    await deleted(`${THINGS}${thing.id}/`);
  });

  test('of a composite key, with conditions', async () => {
    const { client, dataSource } = started;
    await dataSource.manager.save(GoneCell, [
      { id: 'a,b', line: 1, open: true, title: 'x' },
      { id: 'c', line: 2, open: true, title: 'y' },
    ]);
    const path = '/rest/v1/gone/gonecell/a%2Cb,1/';
    const { json, headers } = await client.get(path, as('ann'));
    expect(
      (await client.send('DELETE', path, { headers: { ...as('ann').headers, 'if-match': '"other"' } }))
        .status,
    ).toBe(412);
    const answer = await client.send('DELETE', path, {
      headers: { ...as('ann').headers, 'if-match': String(headers.etag) },
    });
    expect([answer.status, answer.json, answer.headers.etag]).toEqual([200, json, undefined]);
    expect(await deleted('/rest/v1/gone/gonecell/c,2/', 'carl')).toEqual([
      200,
      { id: 'c', line: 2 },
      'application/json',
    ]);
  });

  test('is nothing of a bulk write, of another prefix, of a model that does not, and without HTTP', async () => {
    const { client, dataSource, app } = started;
    const [one, two, three] = [await make(true), await make(true), await make(true)];
    const bulk = await client.delete(`${THINGS}?keys=${one.id}`, as('ann'));
    expect([bulk.status, bulk.text]).toEqual([204, '']);
    const other = await client.delete(`/rest/v2/gone/gonething/${two.id}/`, as('ann'));
    expect([other.status, other.text]).toEqual([204, '']);
    await app.get(RestifyResources).of(GoneThing).as({ name: 'ann' }).destroy(three.id);
    expect(await dataSource.manager.countBy(GoneThing, { id: three.id })).toBe(0);
    const quiet = await dataSource.manager.save(dataSource.manager.create(GoneQuiet, {}));
    expect((await client.delete(`/rest/v1/gone/gonequiet/${quiet.id}/`, as('ann'))).status).toBe(204);
  });

  test('is described', () => {
    const document = started.app
      .get(RestifyOpenApi)
      .extend({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: {} });
    const paths = document.paths as Readonly<
      Record<string, { readonly delete: { readonly responses: object } }>
    >;
    expect(Object.keys(paths['/rest/v1/gone/gonething/{pk}']?.delete.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '404', '409']),
    );
    expect(Object.keys(paths['/rest/v2/gone/gonething/{pk}']?.delete.responses ?? {})).toContain('204');
  });
});
