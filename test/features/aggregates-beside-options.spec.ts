// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  allow,
  basic,
  deny,
  ModelPermissions,
  NdjsonRenderer,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission, RowFilter } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Size {
  @Column({ type: 'int' }) width: number;
  @Column({ type: 'decimal', precision: 20, scale: 4 }) area: string;
}

/** Only Ann sees what is deleted; nobody else aggregates. */
class BoxRules implements Permission {
  readonly decidesOnDeleted = true;

  decide({ actor, operation }: AccessContext): Grant | Denial {
    const { name } = (actor ?? {}) as { readonly name?: string };
    return operation === undefined || name === 'ann' ? allow() : deny();
  }
}

@Restify({
  app: 'mix',
  permissions: [BoxRules],
  trash: true,
  conditional: true,
  aggregate: {
    group: ['size.width', 'kind', 'shelf', 'created'],
    sum: ['size.area', 'size.width'],
    max: ['size.area'],
  },
  shape: true,
  expandable: ['shelf'],
  renderers: [new NdjsonRenderer()],
})
@Entity('mix_box')
class MixBox {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column(() => Size) size: Size;
  @Column({ type: 'varchar', length: 10, nullable: true }) kind: string | null;
  @Column({ type: 'date' }) created: string;
  @ManyToOne(() => MixShelf, { nullable: true }) shelf: Relation<MixShelf> | null;
  @DeleteDateColumn() gone: Date | null;
}

@Restify({ app: 'mix', aggregate: {}, permissions: [ModelPermissions] })
@Entity('mix_shelf')
class MixShelf {
  @PrimaryColumn({ length: 5 }) room: string;
  @PrimaryColumn({ type: 'int' }) place: number;
}

@RestifyController(MixShelf)
class MixShelfController extends ResourceController<MixShelf> {
  override scope({ actor }: AccessContext): RowFilter {
    return where('room', ((actor ?? {}) as { name?: string }).name ?? '');
  }
}

@Restify({ app: 'mix' })
@Entity('mix_post')
class MixPost {
  @PrimaryColumn({ type: 'int' }) id: number;
  @ManyToMany(() => MixTag)
  @JoinTable({
    name: 'mix_tagging',
    joinColumn: { name: 'post_id' },
    inverseJoinColumn: { name: 'tag_id' },
    synchronize: false,
  })
  tags: Relation<MixTag[]>;
}

@Restify({ app: 'mix', label: 'id' })
@Entity('mix_tag')
class MixTag {
  @PrimaryColumn({ type: 'int' }) id: number;
}

@Restify({ app: 'mix', aggregate: { group: ['tag'], sum: ['weight'] }, strict: true })
@Entity('mix_tagging')
class MixTagging {
  @PrimaryColumn({ type: 'int' }) id: number;
  @ManyToOne(() => MixPost) @JoinColumn({ name: 'post_id' }) post: Relation<MixPost>;
  @ManyToOne(() => MixTag) @JoinColumn({ name: 'tag_id' }) tag: Relation<MixTag>;
  @Column({ type: 'int' }) weight: number;
}

const BOXES = '/rest/v1/mix/mixbox/';

onEachDatabase('aggregates beside other options', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [MixBox, MixShelf, MixPost, MixTag, MixTagging],
      controllers: [MixShelfController],
      database,
      restify: {
        authentication: [
          basic((name) => ({ name, permissions: name === 'none' ? [] : ['mix.view_mixshelf'] })),
        ],
      },
    });
    const { manager } = started.dataSource;
    await manager.insert(MixShelf, [
      { room: 'ann', place: 1 },
      { room: 'ann', place: 2 },
      { room: 'bob', place: 1 },
    ]);
    const shelf = (room: string, place: number): MixShelf => ({ room, place });
    await manager.insert(MixBox, [
      {
        id: 1,
        size: { width: 1, area: '1234567890.1234' },
        kind: 'a ',
        created: '2026-01-31',
        shelf: shelf('ann', 1),
      },
      { id: 2, size: { width: 1, area: '0.0001' }, kind: 'a', created: '2026-02-01', shelf: shelf('ann', 2) },
      {
        id: 3,
        size: { width: 2, area: '-5.5000' },
        kind: null,
        created: '2026-02-28',
        shelf: shelf('ann', 1),
      },
      { id: 4, size: { width: 2, area: '8.0000' }, kind: 'gone', created: '2026-03-01', shelf: null },
    ]);
    await manager.softDelete(MixBox, 4);
    await manager.insert(MixPost, [{ id: 1 }, { id: 2 }]);
    await manager.insert(MixTag, [{ id: 7 }, { id: 8 }]);
    await manager.insert(MixTagging, [
      { id: 1, post: { id: 1 }, tag: { id: 7 }, weight: 5 },
      { id: 2, post: { id: 1 }, tag: { id: 8 }, weight: 6 },
      { id: 3, post: { id: 2 }, tag: { id: 7 }, weight: 7 },
    ]);
  });
  afterAll(() => started.close());

  const send = (
    path: string,
    who = 'ann',
    headers: Record<string, string> = {},
  ): ReturnType<StartedApp['client']['get']> =>
    started.client.get(path, {
      headers: { ...headers, authorization: `Basic ${Buffer.from(`${who}:pw`).toString('base64')}` },
    });
  const get = async (path: string, who = 'ann'): Promise<unknown> => {
    const { status, json } = await send(path, who);
    return status === 200 ? json : status;
  };

  test('members of embedded objects, trailing blanks and composite keys', async () => {
    expect(
      await get(`${BOXES}?aggregate=count,sum.size.area,sum.size.width,max.size.area&group=size.width`),
    ).toEqual([
      {
        'size.width': 1,
        count: 2,
        sum: { 'size.area': '1234567890.1235', 'size.width': 2 },
        max: { 'size.area': '1234567890.1234' },
      },
      {
        'size.width': 2,
        count: 1,
        sum: { 'size.area': '-5.5000', 'size.width': 2 },
        max: { 'size.area': '-5.5000' },
      },
    ]);
    expect(await get(`${BOXES}?aggregate=count&group=kind`)).toEqual([
      { kind: 'a', count: 1 },
      { kind: 'a ', count: 1 },
      { kind: null, count: 1 },
    ]);
    expect(await get(`${BOXES}?aggregate=count&group=shelf`)).toEqual([
      { shelf: 'ann,1', count: 2 },
      { shelf: 'ann,2', count: 1 },
    ]);
    expect(await get(`${BOXES}?aggregate=count&group=created:quarter`)).toEqual([
      { created: '2026-01-01', count: 3 },
    ]);
  });

  test('deleted objects need their own right', async () => {
    expect(await get(`${BOXES}?aggregate=count&deleted=only`)).toEqual([{ count: 1 }]);
    expect(await get(`${BOXES}?aggregate=count&deleted=with&group=shelf`)).toEqual([
      { shelf: 'ann,1', count: 2 },
      { shelf: 'ann,2', count: 1 },
      { shelf: null, count: 1 },
    ]);
    expect(await get(`${BOXES}?aggregate=count&deleted=maybe`)).toBe(400);
    for (const query of [
      'aggregate=count',
      'aggregate=count&deleted=only',
      'aggregate=count&deleted=with',
      'deleted=with',
    ])
      expect([query, await get(`${BOXES}?${query}`, 'bob')]).toEqual([query, 403]);
    expect(await get(BOXES, 'bob')).toHaveLength(3);
  });

  test('selected fields and expansions are 400, and conditions have no effect', async () => {
    for (const query of ['fields=id', 'omit=id', 'expand=shelf'])
      expect([query, await get(`${BOXES}?aggregate=count&${query}`)]).toEqual([query, 400]);
    const { status, headers } = await send(`${BOXES}?aggregate=count`, 'ann', { 'if-none-match': '*' });
    expect([status, headers.etag, headers['cache-control']]).toEqual([200, undefined, 'private, no-cache']);
    expect((await send(`${BOXES}?aggregate=count`, 'ann', { accept: 'text/plain' })).status).toBe(406);
    const lines = await send(`${BOXES}?aggregate=count&group=size.width&format=ndjson`);
    expect(lines.text).toBe('{"size.width":1,"count":2}\n{"size.width":2,"count":1}\n');
  });

  test('the scope of a controller class and rights of the model hold', async () => {
    const shelves = '/rest/v1/mix/mixshelf/?aggregate=count';
    expect(await get(shelves, 'ann')).toEqual([{ count: 2 }]);
    expect(await get(shelves, 'bob')).toEqual([{ count: 1 }]);
    expect(await get(shelves, 'none')).toBe(403);
  });

  test('through objects are aggregated below each object', async () => {
    expect(await get('/rest/v1/mix/mixpost/1/tags/?aggregate=count,sum.weight')).toEqual([
      { count: 2, sum: { weight: 11 } },
    ]);
    expect(await get('/rest/v1/mix/mixpost/2/tags/?aggregate=sum.weight&group=tag')).toEqual([
      { tag: 7, sum: { weight: 7 } },
    ]);
    expect(await get('/rest/v1/mix/mixpost/3/tags/?aggregate=count')).toBe(404);
  });

  test('code of the application aggregates for an actor', async () => {
    const resources = started.app.get(RestifyResources);
    const boxes = resources.of(MixBox).as({ name: 'ann' });
    expect(
      await boxes.aggregate({
        aggregate: ['count', 'sum.size.width'],
        group: ['created:month'],
        having: { count__gte: 2 },
        ordering: ['-count'],
      }),
    ).toEqual([{ created: '2026-02-01', count: 2, sum: { 'size.width': 3 } }]);
    expect(
      await resources
        .of(MixPost)
        .as(null)
        .nested(1, 'tags')
        .aggregate({ aggregate: ['count'] }),
    ).toEqual([{ count: 2 }]);
    await expect(
      resources
        .of(MixBox)
        .as({ name: 'bob' })
        .aggregate({ aggregate: ['count'] }),
    ).rejects.toThrow();
    await expect(
      resources
        .of(MixPost)
        .as(null)
        .aggregate({ aggregate: ['count'] }),
    ).rejects.toThrow('has no option "aggregate"');
    await expect(boxes.stream({ aggregate: 'count' })[Symbol.asyncIterator]().next()).rejects.toThrow(
      'aggregate()',
    );
  });

  test('callers at once get their own answers', async () => {
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        get('/rest/v1/mix/mixshelf/?aggregate=count', index % 2 === 0 ? 'ann' : 'bob'),
      ),
    );
    expect(answers).toEqual(answers.map((_, index) => [{ count: index % 2 === 0 ? 2 : 1 }]));
  });

  if (database.name === 'sqlite')
    test('sums that are not exact are 400, whatever having selects', async () => {
      const { dataSource } = started;
      await dataSource.query(`UPDATE mix_box SET "sizeArea" = 1234567890123456789 WHERE id = 1`);
      try {
        for (const query of [
          'sum.size.area',
          'sum.size.area&having.sum.size.area__lt=0',
          'count&having.sum.size.area__gt=5',
        ])
          expect([query, await get(`${BOXES}?aggregate=${query}`)]).toEqual([query, 400]);
        expect(await get(`${BOXES}?aggregate=count`)).toEqual([{ count: 3 }]);
        await dataSource.query(`UPDATE mix_box SET "sizeArea" = 'many' WHERE id = 1`);
        expect(await get(`${BOXES}?aggregate=sum.size.area`)).toBe(400);
      } finally {
        await dataSource.query(`UPDATE mix_box SET "sizeArea" = 1234567890.1234 WHERE id = 1`);
      }
    });

  // contract 26.2, contract 12.1
  test('accept an empty parameter of a hidden field in a strict model', async () => {
    const tagged = '/rest/v1/mix/mixpost/1/tags/?aggregate=count,sum.weight';
    expect(await get(`${tagged}&with=&unknown=`)).toBe(400);
    expect(await get(`${tagged}&with=`)).toEqual(await get(tagged));
  });
});
