// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, AllowAny, IsAdmin, restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { DataSource, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { DELETED, isRefusedPair, NOT_FOUND, noSuchPk, REQUIRED, seen } from './nested-answers.js';

// Entities as another package has them: no join table says that it is an entity's table.
@Entity('je_cond')
class JeCond {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => JeProduct, (product) => product.conds)
  @JoinTable({ name: 'je_cond_product', joinColumn: { name: 'c' }, inverseJoinColumn: { name: 'p' } })
  products: Relation<JeProduct[]>;

  @ManyToMany(() => JeLabel)
  @JoinTable({ name: 'je_cond_label' })
  labels: Relation<JeLabel[]>;

  @ManyToMany(() => JeLabel)
  @JoinTable({ name: 'je_shelf', joinColumn: { name: 'cond_id' }, inverseJoinColumn: { name: 'place_id' } })
  shelves: Relation<JeLabel[]>;

  @ManyToMany(() => JeCond, (cond) => cond.wholes)
  @JoinTable({ name: 'je_part', joinColumn: { name: 'whole' }, inverseJoinColumn: { name: 'part' } })
  parts: Relation<JeCond[]>;

  @ManyToMany(() => JeCond, (cond) => cond.parts)
  wholes: Relation<JeCond[]>;

  @ManyToMany(() => JeSecret)
  @JoinTable({ name: 'je_cond_secret' })
  secrets: Relation<JeSecret[]>;

  @ManyToMany(() => JeLabel, (label) => label.marked)
  @JoinTable({ name: 'je_mark', joinColumn: { name: 'cond' }, inverseJoinColumn: { name: 'label' } })
  marks: Relation<JeLabel[]>;
}

@Entity('je_product')
class JeProduct {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @ManyToMany(() => JeCond, (cond) => cond.products)
  conds: Relation<JeCond[]>;
}

@Entity('je_label')
class JeLabel {
  @PrimaryColumn({ length: 10 })
  code: string;

  /** A join table on both sides, turned round. */
  @ManyToMany(() => JeCond, (cond) => cond.marks)
  @JoinTable({ name: 'je_mark', joinColumn: { name: 'label' }, inverseJoinColumn: { name: 'cond' } })
  marked: Relation<JeCond[]>;
}

@Entity('je_secret')
class JeSecret {
  @PrimaryGeneratedColumn()
  id: number;
}

/** The pair under other names and in another order, with columns of its own. */
@Entity('je_cond_product')
class JeCondProduct {
  @PrimaryColumn({ name: 'p', type: 'uuid' })
  item: string;

  @PrimaryColumn({ name: 'c' })
  holder: number;

  @Column()
  quantity: number;

  @Column({ type: 'varchar', length: 20, nullable: true })
  note: string | null;
}

/** The pair, as columns and as relations; registered. */
@Entity('je_cond_label')
class JeCondLabel {
  @PrimaryColumn()
  jeCondId: number;

  @PrimaryColumn({ length: 10 })
  jeLabelCode: string;

  @ManyToOne(() => JeCond, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'jeCondId' })
  cond: Relation<JeCond>;

  @ManyToOne(() => JeLabel, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'jeLabelCode' })
  label: Relation<JeLabel>;
}

/** A key of its own, and a relation to one side alone. */
@Entity('je_shelf')
class JeShelf {
  @PrimaryGeneratedColumn()
  number: number;

  @Column({ name: 'place_id', length: 10 })
  place: string;

  @ManyToOne(() => JeCond, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'cond_id' })
  what: Relation<JeCond>;

  @Column({ default: 1 })
  level: number;
}

@Entity('je_part')
class JePart {
  @PrimaryColumn()
  part: number;

  @PrimaryColumn()
  whole: number;

  @Column({ default: 1 })
  times: number;
}

@Entity('je_cond_secret')
class JeCondSecret {
  @PrimaryColumn()
  jeCondId: number;

  @PrimaryColumn()
  jeSecretId: number;
}

/** A pair of which no column is ever updated. */
@Entity('je_mark')
class JeMark {
  @PrimaryColumn({ update: false })
  cond: number;

  @PrimaryColumn({ update: false, length: 10 })
  label: string;
}

class FewSecrets implements Permission {
  decide(): Grant {
    return allow({ rows: where('jeCondId', 'lt', 3) });
  }
}

const ENTITIES = [
  ...[JeCond, JeProduct, JeLabel, JeSecret],
  ...[JeCondProduct, JeCondLabel, JeShelf, JePart, JeCondSecret, JeMark],
];
for (const entity of [JeCond, JeProduct, JeLabel, JeCondLabel]) restify<object>(entity, 'je');
restify(JeCondSecret, { app: 'je', permissions: [FewSecrets] });

/** As migrations would make them: each table once. */
async function createTables(dataSource: DataSource): Promise<void> {
  for (const metadata of dataSource.entityMetadatas.filter(({ isJunction }) => isJunction))
    metadata.synchronize = false;
  await dataSource.synchronize();
}

onEachDatabase('an entity on a join table', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  const products: string[] = [];
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database, dataSource: { synchronize: false } });
    client = started.client;
    await createTables(started.dataSource);
    for (let index = 0; index < 3; index++) {
      await client.post('/rest/v1/je/jecond/', {});
      products.push(((await client.post('/rest/v1/je/jeproduct/', {})).json as JeProduct).id);
    }
    for (const code of ['a', 'b']) await client.post('/rest/v1/je/jelabel/', { code });
  });
  afterAll(() => started.close());

  test('is the through model under its own names, with its own columns', async () => {
    const [p1 = '', p2 = ''] = products;
    const below = '/rest/v1/je/jecond/1/products/';
    const above = `/rest/v1/je/jeproduct/${p2}/conds/`;
    const { actions } = (await client.send('OPTIONS', below)).json as {
      actions: { POST: Readonly<Record<string, { required: boolean; read_only: boolean }>> };
    };
    expect(
      Object.entries(actions.POST).map(([name, { required, read_only }]) => [name, required, read_only]),
    ).toEqual([
      ['id', false, true],
      ['item', true, false],
      ['holder', false, true],
      ['quantity', true, false],
      ['note', false, false],
    ]);
    expect(seen(await client.post(below, { item: p1 }))).toEqual([400, { quantity: REQUIRED }]);
    expect(seen(await client.post(below, { item: p1, quantity: 2, holder: 2 }))).toEqual([
      201,
      { id: p1, item: p1, holder: 1, quantity: 2, note: null },
    ]);
    expect(isRefusedPair(await client.post(below, { item: p1, quantity: 2 }))).toBe(true);
    await client.post(below, { item: p2, quantity: 5, note: 'n' });
    expect(seen(await client.post('/rest/v1/je/jecond/2/products/', { item: p2, quantity: 7 }))[0]).toBe(201);
    const second = { id: p2, item: p2, holder: 1, quantity: 5, note: 'n' };
    for (const query of ['quantity=5', 'note=n', `item=${p2}`, 'search=n', 'holder=1&quantity=5'])
      expect([query, ...seen(await client.get(`${below}?${query}`))]).toEqual([query, 200, [second]]);
    expect(seen(await client.get(`${below}?holder=2`))).toEqual([200, []]);
    expect(seen(await client.get(`${above}?ordering=-quantity`))).toEqual([
      200,
      [
        { id: 2, item: p2, holder: 2, quantity: 7, note: null },
        { ...second, id: 1 },
      ],
    ]);
    expect(seen(await client.patch(`${above}2/`, { quantity: 8, note: 'z' }))).toEqual([
      200,
      { id: 2, item: p2, holder: 2, quantity: 8, note: 'z' },
    ]);
    expect(seen(await client.patch(`${above}2/`, { holder: 3 }))).toEqual([
      200,
      { id: 3, item: p2, holder: 3, quantity: 8, note: 'z' },
    ]);
    expect(isRefusedPair(await client.patch(`${above}3/`, { holder: 1 }))).toBe(true);
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        seen(await client.send(method, `/rest/v1/je/jecond/3/products/${p1}/`, { body: { quantity: 9 } })),
      ).toEqual(NOT_FOUND);
    expect(seen(await client.delete(`${below}${p1}/`))).toEqual(DELETED);
    expect(seen(await client.get(below))).toEqual([200, [second]]);
    expect((await client.get('/rest/v1/je/jecondproduct/')).status).toBe(404);
  });

  test('has a collection of its own where it is registered', async () => {
    const url = '/rest/v1/je/jecond/1/labels/';
    expect(seen(await client.post(url, { label: 'a' }))).toEqual([
      201,
      { id: 'a', jeCondId: 1, jeLabelCode: 'a', cond: 1, label: 'a' },
    ]);
    expect(seen(await client.patch(`${url}a/`, { label: 'b' }))).toEqual([
      200,
      { id: 'b', jeCondId: 1, jeLabelCode: 'b', cond: 1, label: 'b' },
    ]);
    expect(seen(await client.get('/rest/v1/je/jecondlabel/1,b/'))).toEqual([
      200,
      { jeCondId: 1, jeLabelCode: 'b', cond: 1, label: 'b' },
    ]);
    expect(seen(await client.get(`${url}?label=a`))).toEqual([200, []]);
  });

  test('may have a key of its own, and a relation to one side alone', async () => {
    const url = '/rest/v1/je/jecond/1/shelves/';
    for (const number of [1, 2])
      expect(seen(await client.post(url, { place: 'a', level: number, what: 2 }))).toEqual([
        201,
        { number, place: 'a', level: number, what: 1 },
      ]);
    expect(seen(await client.post(url, { place: 'q' }))).toEqual([400, { place: noSuchPk('q') }]);
    expect(seen(await client.patch(`${url}1/`, { place: 'b' }))).toEqual([
      200,
      { number: 1, place: 'b', level: 1, what: 1 },
    ]);
    expect(seen(await client.get(`${url}?place=a`))).toEqual([
      200,
      [{ number: 2, place: 'a', level: 2, what: 1 }],
    ]);
    expect(seen(await client.get('/rest/v1/je/jecond/2/shelves/1/'))).toEqual(NOT_FOUND);
  });

  test('joins a model with itself by the join columns', async () => {
    expect(seen(await client.post('/rest/v1/je/jecond/1/parts/', { part: 2, times: 3 }))).toEqual([
      201,
      { id: 2, part: 2, whole: 1, times: 3 },
    ]);
    expect(seen(await client.get('/rest/v1/je/jecond/2/parts/'))).toEqual([200, []]);
    expect(seen(await client.post('/rest/v1/je/jecond/2/wholes/', { whole: 3 }))).toEqual([
      201,
      { id: 3, part: 2, whole: 3, times: 1 },
    ]);
    expect(seen(await client.get('/rest/v1/je/jecond/2/wholes/'))).toEqual([
      200,
      [
        { id: 1, part: 2, whole: 1, times: 3 },
        { id: 3, part: 2, whole: 3, times: 1 },
      ],
    ]);
  });

  test('is served alone where the other side is not, under its own grants', async () => {
    await started.dataSource.getRepository(JeSecret).insert({});
    const url = '/rest/v1/je/jecondsecret/';
    expect(seen(await client.post(url, { jeCondId: 1, jeSecretId: 1 }))).toEqual([
      201,
      { jeCondId: 1, jeSecretId: 1 },
    ]);
    expect((await client.post(url, { jeCondId: 3, jeSecretId: 1 })).status).toBe(403);
    expect(seen(await client.post(url, { jeCondId: 77, jeSecretId: 1 }))).toEqual([
      400,
      { jeCondId: noSuchPk('77') },
    ]);
    expect(seen(await client.get(url))).toEqual([200, [{ jeCondId: 1, jeSecretId: 1 }]]);
    expect(seen(await client.get('/rest/v1/je/jecond/1/secrets/'))).toEqual(NOT_FOUND);
  });

  test('keeps columns that are never updated, and follows a join table on both sides', async () => {
    const [below, above] = ['/rest/v1/je/jecond/2/marks/', '/rest/v1/je/jelabel/b/marked/'];
    expect(seen(await client.post(below, { label: 'a' }))).toEqual([201, { id: 'a', cond: 2, label: 'a' }]);
    expect(seen(await client.post(above, { cond: 3 }))).toEqual([201, { id: 3, cond: 3, label: 'b' }]);
    expect(seen(await client.patch(`${below}a/`, { label: 'b' }))).toEqual([
      200,
      { id: 'a', cond: 2, label: 'a' },
    ]);
    expect(seen(await client.get('/rest/v1/je/jelabel/a/marked/'))).toEqual([
      200,
      [{ id: 2, cond: 2, label: 'a' }],
    ]);
    expect(seen(await client.delete('/rest/v1/je/jecond/3/marks/b/'))).toEqual(DELETED);
    expect(seen(await client.get(above))).toEqual([200, []]);
  });
});

/** The owner in the schema of the connection, the entity of the junction with that schema's name, and a pair in both. */
function entitiesIn(schema: string): readonly (new () => object)[] {
  @Entity('js_pair')
  class JsPair {
    @PrimaryColumn()
    left: number;

    @PrimaryColumn()
    right: number;
  }

  @Entity({ name: 'js_noted', schema })
  class JsNoted {
    @PrimaryColumn()
    left: number;

    @PrimaryColumn()
    right: number;

    @Column({ default: 5 })
    weight: number;
  }

  @Entity('js_side')
  class JsSide {
    @PrimaryGeneratedColumn()
    id: number;

    @ManyToMany(() => JsSide)
    @JoinTable({
      name: 'js_noted',
      joinColumn: { name: 'left' },
      inverseJoinColumn: { name: 'right' },
      synchronize: false,
    })
    noted: Relation<JsSide[]>;

    @ManyToMany(() => JsSide)
    @JoinTable({
      name: 'js_pair',
      schema: `${schema}_b`,
      joinColumn: { name: 'left' },
      inverseJoinColumn: { name: 'right' },
    })
    other: Relation<JsSide[]>;
  }
  restify(JsSide, {
    app: 'js',
    permissions: [AllowAny],
    through: { noted: { permissions: [AllowAny] }, other: { permissions: [IsAdmin] } },
  });
  restify(JsPair, { app: 'js', permissions: [AllowAny] });
  return [JsSide, JsPair, JsNoted];
}

onEachDatabase(
  'an entity on a join table with a schema',
  (database) => {
    test('is known by the whole name of its table, and not by its last part', async () => {
      let schema = '';
      const opening = {
        ...database,
        open: async () => {
          const opened = await database.open();
          schema = String(Reflect.get(opened.options, 'schema'));
          return opened;
        },
      };
      const started = await startApp({
        get entities() {
          return [...entitiesIn(schema)] as (new () => object)[];
        },
        database: opening,
        dataSource: { synchronize: false },
      });
      const { client, dataSource } = started;
      await dataSource.query(`CREATE SCHEMA "${schema}_b"`);
      try {
        await dataSource.synchronize();
        for (let index = 0; index < 2; index++) await client.post('/rest/v1/js/jsside/', {});
        expect(seen(await client.post('/rest/v1/js/jsside/1/noted/', { right: 2 }))).toEqual([
          201,
          { id: 2, left: 1, right: 2, weight: 5 },
        ]);
        expect((await client.get('/rest/v1/js/jsside/1/other/')).status).toBe(403);
        expect(seen(await client.post('/rest/v1/js/jspair/', { left: 1, right: 1 }))).toEqual([
          201,
          { left: 1, right: 1 },
        ]);
      } finally {
        await dataSource.query(`DROP SCHEMA "${schema}_b" CASCADE`);
        await started.close();
      }
    });
  },
  ['postgres'],
);
