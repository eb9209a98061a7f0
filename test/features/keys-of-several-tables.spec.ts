// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, ResourceController, Restify, RestifyController, where } from 'nestjs-restify';
import type { Grant, Json, Permission } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const UNBOUND = { createForeignKeyConstraints: false, nullable: true } as const;
const ON_POST = [
  { name: 'tenant', referencedColumnName: 'tenant' },
  { name: 'subjectId', referencedColumnName: 'id' },
];
const ON_PHOTO = [
  { name: 'tenant', referencedColumnName: 'owner' },
  { name: 'subjectId', referencedColumnName: 'no' },
];

class Shown implements Permission {
  decide(): Grant {
    return allow({ rows: where('shown', true) });
  }
}

@Restify({ app: 'ks', permissions: [Shown] })
@Entity('ks_post')
class KsPost {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') id: number;
  @Column('boolean', { nullable: true }) shown: boolean | null;
}

@Restify({ app: 'ks', permissions: [Shown] })
@Entity('ks_photo')
class KsPhoto {
  @PrimaryColumn('int') owner: number;
  @PrimaryColumn('int') no: number;
  @Column('boolean', { nullable: true }) shown: boolean | null;
}

@Restify({ app: 'ks', bulk: { upsert: ['name'] } })
@Entity('ks_mark')
class KsMark {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10, unique: true }) name: string;
  @Column('int', { default: 1, nullable: true }) tenant: number | null;
  @Column('int', { nullable: true }) subjectId: number | null;
  @ManyToOne(() => KsPost, { ...UNBOUND, cascade: true }) @JoinColumn(ON_POST) post: Relation<KsPost> | null;
  @ManyToOne(() => KsPhoto, { ...UNBOUND, cascade: true })
  @JoinColumn(ON_PHOTO)
  photo: Relation<KsPhoto> | null;
}

/** The application sets the tenant. */
@Restify({ app: 'ks', readOnly: ['tenant'] })
@Entity('ks_note')
class KsNote {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) tenant: number | null;
  @Column('int', { nullable: true }) subjectId: number | null;
  @ManyToOne(() => KsPost, UNBOUND) @JoinColumn(ON_POST) post: Relation<KsPost> | null;
  @ManyToOne(() => KsPhoto, UNBOUND) @JoinColumn(ON_PHOTO) photo: Relation<KsPhoto> | null;
}

/** Bodies write none of the columns. */
@Restify({ app: 'ks', readOnly: ['tenant', 'subjectId'] })
@Entity('ks_closed')
class KsClosed {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) tenant: number | null;
  @Column('int', { nullable: true }) subjectId: number | null;
  @ManyToOne(() => KsPost, UNBOUND) @JoinColumn(ON_POST) post: Relation<KsPost> | null;
  @ManyToOne(() => KsPhoto, UNBOUND) @JoinColumn(ON_PHOTO) photo: Relation<KsPhoto> | null;
}

/** The relations share one column only. */
@Restify('ks')
@Entity('ks_mixed')
class KsMixed {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { nullable: true }) tenant: number | null;
  @Column('int', { nullable: true }) subjectId: number | null;
  @ManyToOne(() => KsPost, UNBOUND) @JoinColumn(ON_POST) post: Relation<KsPost> | null;
  @ManyToOne(() => KsPhoto, UNBOUND)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'owner' },
    { name: 'photoNo', referencedColumnName: 'no' },
  ])
  photo: Relation<KsPhoto> | null;
}

@RestifyController(KsNote)
class KsNoteController extends ResourceController<KsNote> {
  override valuesOnCreate(): Readonly<Record<string, Json>> {
    return { tenant: 2 };
  }
}

const none = (parts: Readonly<Record<string, number>>): object =>
  Object.fromEntries(
    Object.entries(parts).map(([name, value]) => [name, [`Invalid pk "${value}" - object does not exist.`]]),
  );

onEachDatabase('a key of several columns and tables', (database) => {
  let started: StartedApp;
  const warnings: string[] = [];
  beforeAll(async () => {
    const ignore = (): void => undefined;
    const warn = (message: string): void => void warnings.push(message);
    started = await startApp({
      entities: [KsPost, KsPhoto, KsMark, KsNote, KsClosed, KsMixed],
      controllers: [KsNoteController],
      database,
      nest: { logger: { log: ignore, error: ignore, warn, debug: ignore, verbose: ignore, fatal: ignore } },
    });
    const { manager } = started.dataSource;
    // In both tables: 1,1. Hidden: 1,4 as a photo, 1,5 as a post without a value, 2,1 as a photo.
    await manager.insert(KsPost, [
      { tenant: 1, id: 1, shown: true },
      { tenant: 1, id: 2, shown: true },
      { tenant: 1, id: 4, shown: true },
      { tenant: 1, id: 5, shown: null },
      { tenant: 2, id: 1, shown: true },
    ]);
    await manager.insert(KsPhoto, [
      { owner: 1, no: 1, shown: true },
      { owner: 1, no: 4, shown: false },
      { owner: 2, no: 1, shown: false },
    ]);
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    for (const entity of [KsMark, KsNote, KsClosed, KsMixed])
      await started.dataSource.manager.createQueryBuilder().delete().from(entity).execute();
  });

  const stored = async (): Promise<unknown> =>
    (await started.dataSource.manager.find(KsMark, { order: { name: 'ASC' } })).map(
      ({ name, tenant, subjectId }) => [name, tenant, subjectId],
    );

  test('is written as columns if each row that has it is visible, or none has it', async () => {
    const { client } = started;
    const list = '/rest/v1/ks/ksmark/';
    for (const [name, given, expected] of [
      ['a', { tenant: 1, subjectId: 1 }, { post: '1,1', photo: '1,1' }],
      ['b', { tenant: 9, subjectId: 9 }, { post: '9,9', photo: '9,9' }],
      ['c', { subjectId: 2 }, { tenant: 1, post: '1,2', photo: '1,2' }],
      ['d', { tenant: 2 }, { subjectId: null, post: null, photo: null }],
      ['e', { tenant: null, subjectId: 4 }, { tenant: null, post: null, photo: null }],
      ['f', { tenant: 1, subjectId: 1, post: '1,2', photo: null }, { post: '1,1', photo: '1,1' }],
    ] as const) {
      const made = await client.post(list, { name, ...given });
      expect([name, made.status, made.json]).toMatchObject([name, 201, { ...given, ...expected }]);
      const url = `${list}${(made.json as { id: number }).id}/`;
      for (const method of ['patch', 'put'] as const) {
        const changed = await client[method](url, { name, tenant: 1, subjectId: 2, post: null });
        expect([changed.status, changed.json]).toMatchObject([200, { tenant: 1, subjectId: 2, post: '1,2' }]);
        expect((await client.get(url)).json).toEqual(changed.json);
      }
    }
    expect(await started.dataSource.manager.count(KsPost)).toBe(5);
    expect(await started.dataSource.manager.count(KsPhoto)).toBe(3);
  });

  test('is a key of no object if a row that has it is hidden', async () => {
    const { client } = started;
    const list = '/rest/v1/ks/ksmark/';
    for (const parts of [
      { tenant: 1, subjectId: 4 },
      { tenant: 1, subjectId: 5 },
      { tenant: 2, subjectId: 1 },
    ]) {
      const made = await client.post(list, { name: 'x', ...parts });
      expect([parts, made.status, made.json]).toEqual([parts, 400, none(parts)]);
    }
    // The default completes the key.
    const byDefault = await client.post(list, { name: 'x', subjectId: 4 });
    expect([byDefault.status, byDefault.json]).toEqual([400, none({ subjectId: 4 })]);
    const made = await client.post(list, { name: 'a', tenant: 1, subjectId: 1 });
    const url = `${list}${(made.json as { id: number }).id}/`;
    // The stored row completes the key.
    const changes: readonly Readonly<Record<string, number>>[] = [
      { subjectId: 4 },
      { subjectId: 5 },
      { tenant: 2 },
    ];
    for (const parts of changes)
      for (const method of ['patch', 'put'] as const) {
        const changed = await client[method](url, { name: 'a', ...parts });
        expect([parts, changed.status, changed.json]).toEqual([parts, 400, none(parts)]);
      }
    expect(await stored()).toEqual([['a', 1, 1]]);
    const renamed = await client.patch(url, { name: 'b' });
    expect(renamed.status).toBe(200);
  });

  test('is checked in lists', async () => {
    const { client } = started;
    const list = '/rest/v1/ks/ksmark/';
    const item = (name: string, tenant: number, subjectId: number): object => ({ name, tenant, subjectId });
    const refused = await client.post(list, [item('a', 1, 1), item('b', 1, 4), item('c', 2, 1)]);
    expect([refused.status, refused.json]).toEqual([
      400,
      [{}, none({ tenant: 1, subjectId: 4 }), none({ tenant: 2, subjectId: 1 })],
    ]);
    const made = await client.post(list, [item('a', 1, 1), item('b', 7, 7)]);
    expect(made.status).toBe(201);
    const [a, b] = made.json as readonly { readonly id: number }[];
    const changed = await client.patch(list, [
      { id: a?.id, subjectId: 2 },
      { id: b?.id, tenant: 1, subjectId: 5 },
    ]);
    expect([changed.status, changed.json]).toEqual([400, [{}, none({ tenant: 1, subjectId: 5 })]]);
    const upserted = await client.post(`${list}?upsert=true`, [item('a', 2, 1)]);
    expect([upserted.status, upserted.json]).toEqual([400, [none({ tenant: 2, subjectId: 1 })]]);
    expect(await stored()).toEqual([
      ['a', 1, 1],
      ['b', 7, 7],
    ]);
  });

  test('is written in part where the application sets the other column', async () => {
    const { client } = started;
    const list = '/rest/v1/ks/ksnote/';
    const made = await client.post(list, { tenant: 1, subjectId: 2, post: '1,1' });
    expect([made.status, made.json]).toMatchObject([201, { tenant: 2, subjectId: 2, post: '2,2' }]);
    const hidden = await client.post(list, { subjectId: 1 });
    expect([hidden.status, hidden.json]).toEqual([400, none({ subjectId: 1 })]);
    const url = `${list}${(made.json as { id: number }).id}/`;
    expect((await client.patch(url, { subjectId: 1 })).status).toBe(400);
    const changed = await client.patch(url, { subjectId: 3 });
    expect([changed.status, changed.json]).toMatchObject([200, { tenant: 2, subjectId: 3, photo: '2,3' }]);
  });

  test('is written by the relations where bodies write no column of it, or they have other columns', async () => {
    const { client } = started;
    const closed = await client.post('/rest/v1/ks/ksclosed/', { subjectId: 2, post: '1,1', photo: '1,1' });
    expect([closed.status, closed.json]).toMatchObject([201, { tenant: 1, subjectId: 1, post: '1,1' }]);
    const mixed = await client.post('/rest/v1/ks/ksmixed/', { post: '1,2', photo: '1,1', subjectId: 9 });
    expect([mixed.status, mixed.json]).toMatchObject([201, { subjectId: 2, post: '1,2', photo: '1,1' }]);
    const moved = await client.post('/rest/v1/ks/ksmixed/', { post: '2,1', photo: '1,1' });
    expect([moved.status, Object.keys(moved.json as object).sort()]).toEqual([400, ['photo', 'post']]);
  });

  test('is named in a warning at the start', () => {
    const told = (name: string): string =>
      `${name}.post, ${name}.photo have the same columns and no foreign key constraint: they are read-only, and bodies write` +
      ` ${name}.tenant, ${name}.subjectId. To write the relations, which then must agree, list 'tenant', 'subjectId' in readOnly.`;
    expect(warnings.filter((each) => each.includes('have the same column'))).toEqual([
      told('KsMark'),
      told('KsNote'),
    ]);
  });
});
