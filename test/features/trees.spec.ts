// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify, restify } from 'nestjs-restify';
import {
  BeforeUpdate,
  Column,
  DefaultNamingStrategy,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { DELETED, idOf, NOT_FOUND, noSuchPk, seen } from './nested-answers.js';

abstract class Node {
  @PrimaryGeneratedColumn({ name: 'node_no' })
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @VersionColumn()
  version: number;

  changes: number;

  @BeforeUpdate()
  count(): void {
    this.name = `${this.name.replace(/\+$/, '')}+`;
  }
}

@Restify({
  app: 'tree',
  filterFields: { parent: ['exact', 'isnull'], 'parent.name': ['exact'], name: ['exact'] },
})
@Entity()
@Tree('adjacency-list')
class Plain extends Node {
  @TreeParent()
  parent: Relation<Plain> | null;

  @TreeChildren()
  children: Relation<Plain[]>;
}

@Restify({
  app: 'tree',
  filterFields: { parent: ['exact', 'isnull'], 'parent.name': ['exact'], name: ['exact'] },
})
@Entity()
@Tree('closure-table')
class Closed extends Node {
  @TreeParent()
  parent: Relation<Closed> | null;

  @TreeChildren()
  children: Relation<Closed[]>;
}

@Restify({
  app: 'tree',
  filterFields: { parent: ['exact', 'isnull'], 'parent.name': ['exact'], name: ['exact'] },
})
@Entity()
@Tree('materialized-path')
class Pathed extends Node {
  @TreeParent()
  parent: Relation<Pathed> | null;

  @TreeChildren()
  children: Relation<Pathed[]>;
}

@Restify({
  app: 'tree',
  filterFields: { parent: ['exact', 'isnull'], 'parent.name': ['exact'], name: ['exact'] },
})
@Entity()
@Tree('nested-set')
class Nested extends Node {
  @TreeParent()
  parent: Relation<Nested> | null;

  @TreeChildren()
  children: Relation<Nested[]>;
}

const KINDS = [Plain, Closed, Pathed, Nested] as const;
type Kind = (typeof KINDS)[number];

/** Pairs of a key and one above it, itself included, as the parents say. */
async function pairsByParents({ dataSource }: StartedApp, kind: Kind): Promise<readonly string[]> {
  const rows = await dataSource
    .getRepository<Node & { parent: Node | null }>(kind)
    .find({ relations: { parent: true } });
  const above = new Map(rows.map((row) => [row.id, row.parent?.id]));
  return rows
    .flatMap(({ id }) => {
      const line: string[] = [];
      for (let at: number | undefined = id; at !== undefined; at = above.get(at)) line.push(`${at}>${id}`);
      return line;
    })
    .sort();
}

/** The same, as the tree's own columns say, and whether they say nothing else. */
async function pairsOfTree({ dataSource }: StartedApp, kind: Kind): Promise<readonly string[]> {
  const table = dataSource.getMetadata(kind).tablePath;
  switch (kind) {
    case Plain:
      return pairsByParents({ dataSource } as StartedApp, kind);
    case Closed: {
      const closure = dataSource.getMetadata(kind).closureJunctionTable;
      const [ancestor, descendant] = [
        closure.ancestorColumns[0]?.databaseName ?? '',
        closure.descendantColumns[0]?.databaseName ?? '',
      ];
      const rows = await dataSource.query<Record<string, number>[]>(`SELECT * FROM ${closure.tablePath}`);
      return rows.map((row) => `${row[ancestor]}>${row[descendant]}`).sort();
    }
    case Pathed: {
      const rows = await dataSource.query<{ node_no: number; mpath: string }[]>(
        `SELECT node_no, mpath FROM ${table}`,
      );
      return rows
        .flatMap(({ node_no, mpath }) =>
          mpath
            .split('.')
            .filter((part) => part !== '')
            .map((part) => `${part}>${node_no}`),
        )
        .sort();
    }
    default: {
      const rows = await dataSource.query<{ node_no: number; l: number; r: number }[]>(
        `SELECT node_no, nsleft AS l, nsright AS r FROM ${table}`,
      );
      expect(rows.flatMap(({ l, r }) => [l, r]).sort((a, b) => a - b)).toEqual(
        Array.from({ length: rows.length * 2 }, (_, index) => index + 1),
      );
      return rows
        .flatMap((one) =>
          rows
            .filter((other) => other.l <= one.l && one.r <= other.r)
            .map((other) => `${other.node_no}>${one.node_no}`),
        )
        .sort();
    }
  }
}

onEachDatabase('trees', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({ entities: [...KINDS], database });
    client = started.client;
  });
  afterAll(() => started.close());

  const made = async (kind: Kind, body: object): Promise<number> =>
    idOf(await client.post(`/rest/v1/tree/${kind.name.toLowerCase()}/`, body));
  const intact = async (kind: Kind): Promise<void> => {
    expect(await pairsOfTree(started, kind)).toEqual(await pairsByParents(started, kind));
  };

  describe.each(KINDS.map((kind) => [kind.name, kind] as const))('of the kind %s', (name, kind) => {
    const url = `/rest/v1/tree/${name.toLowerCase()}`;
    const ids = async (path: string): Promise<unknown> =>
      ((await client.get(`${url}/${path}`)).json as { id: number }[]).map(({ id }) => id);
    let root: number, a: number, b: number, a1: number;

    test('have the parent as a key, the children as a nested list, and no column of their own', async () => {
      root = await made(kind, { name: 'root' });
      a = await made(kind, { name: 'a', parent: root });
      b = await made(kind, { name: 'b', parent: root });
      const child = await client.post(`${url}/`, {
        name: 'a1',
        parent: a,
        mpath: 'x',
        nsleft: 9,
        nsright: 9,
      });
      a1 = idOf(child);
      expect(seen(child)).toEqual([
        201,
        { id: a1, name: 'a1', version: 1, parent: a, children: `${url}/${a1}/children/` },
      ]);
      expect(seen(await client.get(`${url}/${root}/`))).toEqual([
        200,
        { id: root, name: 'root', version: 1, parent: null, children: `${url}/${root}/children/` },
      ]);
      expect(await ids(`${root}/children/`)).toEqual([a, b]);
      expect(await ids(`${a}/children/?name=a1`)).toEqual([a1]);
      expect(await ids(`${a1}/children/`)).toEqual([]);
      expect(seen(await client.get(`${url}/9999/children/`))).toEqual(NOT_FOUND);
      expect(await ids(`?parent=${root}`)).toEqual([a, b]);
      expect(await ids('?parent__name=a')).toEqual([a1]);
      expect(await ids('?parent__isnull=true')).toEqual([root]);
      expect(await ids('?ordering=-parent,-id')).toEqual(
        database.name === 'postgres' ? [root, a1, b, a] : [a1, b, a, root],
      );
      expect(await ids('?mpath=1.&nsleft=1&nsright=2')).toEqual([root, a, b, a1]);
      expect(await ids('?search=a')).toEqual([a, a1]);
      expect(seen(await client.post(`${url}/`, { parent: 9999 }))).toEqual([
        400,
        { parent: noSuchPk('9999') },
      ]);
      await intact(kind);
    });

    test('are moved with everything below, as a change by TypeORM: listeners run and versions count', async () => {
      expect(seen(await client.patch(`${url}/${a}/`, { parent: b }))).toEqual([
        200,
        { id: a, name: 'a+', version: 2, parent: b, children: `${url}/${a}/children/` },
      ]);
      await intact(kind);
      expect((await client.patch(`${url}/${a1}/`, { parent: root, name: 'up' })).json).toMatchObject({
        parent: root,
        name: 'up+',
      });
      await intact(kind);
      expect((await client.put(`${url}/${a1}/`, { parent: a })).json).toMatchObject({ parent: a });
      await intact(kind);
      expect((await client.patch(`${url}/${a}/`, { parent: root })).json).toMatchObject({ parent: root });
      await intact(kind);
      expect((await client.patch(`${url}/${a}/`, { parent: root, name: 'a' })).json).toMatchObject({
        parent: root,
        name: 'a+',
      });
      expect((await client.patch(`${url}/${a}/`, { name: 'a' })).json).toMatchObject({
        parent: root,
        name: 'a+',
      });
      await intact(kind);
    });

    test('are moved by many steps, and are whole after each', async () => {
      const nodes = [root, a, b, a1];
      for (let step = 0; step < 10; step++)
        nodes.push(await made(kind, { name: `n${step}`, parent: nodes[(step * 7) % nodes.length] }));
      await intact(kind);
      let moved = 0;
      for (let step = 1; step < 30; step++) {
        const [node, parent] = [
          nodes[1 + ((step * 5) % (nodes.length - 1))],
          nodes[(step * 11) % nodes.length],
        ];
        if (kind === Plain && node === parent) continue;
        const below = (await pairsByParents(started, kind)).includes(`${node}>${parent}`);
        if (kind === Plain && below) continue;
        const answer = await client.patch(`${url}/${node}/`, { parent });
        if (below) expect(seen(answer)).toEqual([400, { parent: ['An object cannot stand below itself.'] }]);
        else expect([answer.status, (answer.json as { parent: unknown }).parent]).toEqual([200, parent]);
        if (!below) moved++;
        await intact(kind);
      }
      expect(moved).toBeGreaterThan(8);
    });

    test('lose a row without children, and keep one with them', async () => {
      const [node] = [await made(kind, { parent: root })];
      const leaf = await made(kind, { parent: node });
      expect(seen(await client.delete(`${url}/${node}/`))).toEqual([
        409,
        {
          detail: `This object cannot be deleted: objects of "tree.${name.toLowerCase()}" still refer to it.`,
        },
      ]);
      await intact(kind);
      expect(seen(await client.delete(`${url}/${leaf}/`))).toEqual(DELETED);
      expect(seen(await client.delete(`${url}/${node}/`))).toEqual(DELETED);
      await intact(kind);
    });

    test('are whole after writes at the same time', async () => {
      const [x, y] = [await made(kind, { parent: root }), await made(kind, { parent: root })];
      const below = await made(kind, { parent: x });
      const answers = await Promise.all([
        ...[x, y, below, root, x, y, below].map((parent) => client.post(`${url}/`, { parent })),
        client.patch(`${url}/${below}/`, { parent: y }),
        client.patch(`${url}/${x}/`, { parent: b }),
        client.patch(`${url}/${y}/`, { parent: root }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([
        ...Array.from({ length: 7 }, () => 201),
        200,
        200,
        200,
      ]);
      await intact(kind);
    });
  });

  test('with one root refuse a second one, and keep the one that they have', async () => {
    const [root] = (await client.get('/rest/v1/tree/nested/?parent__isnull=true')).json as [{ id: number }];
    const [child] = (await client.get(`/rest/v1/tree/nested/${root.id}/children/`)).json as [{ id: number }];
    const second = [400, { parent: ['There is a root already, and a nested set has one only.'] }];
    expect(seen(await client.post('/rest/v1/tree/nested/', { name: 'second' }))).toEqual(second);
    expect(seen(await client.patch(`/rest/v1/tree/nested/${child.id}/`, { parent: null }))).toEqual(second);
    for (const body of [{ parent: null, name: 'same' }, { name: 'same' }])
      expect((await client.patch(`/rest/v1/tree/nested/${root.id}/`, body)).json).toMatchObject({
        parent: null,
        name: 'same+',
      });
    expect(seen(await client.patch(`/rest/v1/tree/nested/${root.id}/`, { parent: child.id }))).toEqual([
      400,
      { parent: ['An object cannot stand below itself.'] },
    ]);
    await intact(Nested);
  });

  test('with several roots take a row out to be one', async () => {
    for (const kind of [Closed, Pathed]) {
      const url = `/rest/v1/tree/${kind.name.toLowerCase()}`;
      const other = await made(kind, { name: 'other' });
      const [low] = (
        (await client.get(`${url}/?parent__isnull=false&ordering=id`)).json as { id: number }[]
      ).map(({ id }) => id);
      expect((await client.patch(`${url}/${low}/`, { parent: null })).json).toMatchObject({ parent: null });
      await intact(kind);
      expect((await client.patch(`${url}/${low}/`, { parent: other })).json).toMatchObject({ parent: other });
      await intact(kind);
    }
  });
});

// Other keys, and what becomes of the children.
@Restify('wood')
@Entity()
@Tree('closure-table', {
  closureTableName: 'wood_lines',
  ancestorColumnName: () => 'upper',
  descendantColumnName: () => 'lower',
})
class Word {
  @PrimaryColumn({ length: 40 })
  word: string;

  @TreeParent({ onDelete: 'SET NULL' })
  @JoinColumn({ name: 'above' })
  parent: Relation<Word> | null;

  @TreeChildren()
  children: Relation<Word[]>;
}

@Restify('wood')
@Entity()
@Tree('materialized-path')
class Leaf {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @TreeParent({ onDelete: 'SET NULL' })
  parent: Relation<Leaf> | null;

  @TreeChildren()
  children: Relation<Leaf[]>;
}

@Restify('wood')
@Entity()
@Tree('nested-set')
class Twig {
  @PrimaryGeneratedColumn()
  id: number;

  @TreeParent({ onDelete: 'CASCADE' })
  parent: Relation<Twig> | null;

  @TreeChildren()
  children: Relation<Twig[]>;
}

@Restify({ app: 'wood', exclude: ['parent'] })
@Entity()
@Tree('materialized-path')
class Root {
  @PrimaryGeneratedColumn()
  id: number;

  @DeleteDateColumn({ select: false })
  felled: Date | null;

  @TreeParent()
  parent: Relation<Root> | null;

  @TreeChildren()
  children: Relation<Root[]>;
}

onEachDatabase('a tree', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({ entities: [Word, Leaf, Twig, Root], database });
    client = started.client;
  });
  afterAll(() => started.close());

  test('with keys from the client only ever inserts, and its children become roots where they outlive their parent', async () => {
    for (const [word, parent] of [
      ['a.b', null],
      ['b%', 'a.b'],
      ['c/d', 'b%'],
      ['e', 'c/d'],
    ])
      expect((await client.post('/rest/v1/wood/word/', { word, parent })).status).toBe(201);
    expect(seen(await client.post('/rest/v1/wood/word/', { word: 'e', parent: 'a.b' }))).toEqual([
      400,
      { word: ['This field must be unique.'] },
    ]);
    expect((await client.get('/rest/v1/wood/word/c%2Fd/children/')).json).toEqual([
      { word: 'e', parent: 'c/d', children: '/rest/v1/wood/word/e/children/' },
    ]);
    const lines = async (): Promise<readonly string[]> =>
      (
        await started.dataSource.query<{ u: string; l: string }[]>(
          'SELECT upper AS u, lower AS l FROM wood_lines_closure',
        )
      )
        .map(({ u, l }) => `${u}>${l}`)
        .sort();
    expect(await lines()).toEqual([
      'a.b>a.b',
      'a.b>b%',
      'a.b>c/d',
      'a.b>e',
      'b%>b%',
      'b%>c/d',
      'b%>e',
      'c/d>c/d',
      'c/d>e',
      'e>e',
    ]);
    expect(seen(await client.delete('/rest/v1/wood/word/b%25/'))).toEqual(DELETED);
    expect(await lines()).toEqual(['a.b>a.b', 'c/d>c/d', 'c/d>e', 'e>e']);
    expect((await client.get('/rest/v1/wood/word/c%2Fd/')).json).toMatchObject({ parent: null });
  });

  test('of paths with uuids is moved, and its children become roots where they outlive their parent', async () => {
    const made = async (parent: string | null): Promise<string> =>
      ((await client.post('/rest/v1/wood/leaf/', { parent })).json as { id: string }).id;
    const a = await made(null);
    const b = await made(a);
    const c = await made(b);
    const paths = async (): Promise<unknown> =>
      Object.fromEntries(
        (await started.dataSource.query<{ id: string; mpath: string }[]>('SELECT id, mpath FROM leaf')).map(
          ({ id, mpath }) => [id, mpath],
        ),
      );
    expect(await paths()).toEqual({ [a]: `${a}.`, [b]: `${a}.${b}.`, [c]: `${a}.${b}.${c}.` });
    expect(seen(await client.delete(`/rest/v1/wood/leaf/${a}/`))).toEqual(DELETED);
    expect(await paths()).toEqual({ [b]: `${b}.`, [c]: `${b}.${c}.` });
    expect((await client.patch(`/rest/v1/wood/leaf/${c}/`, { parent: null })).status).toBe(200);
    expect((await client.patch(`/rest/v1/wood/leaf/${b}/`, { parent: c })).status).toBe(200);
    expect(await paths()).toEqual({ [b]: `${c}.${b}.`, [c]: `${c}.` });
  });

  test('of nested sets closes the gap where children go with their parent', async () => {
    const made = async (parent: number | null): Promise<number> =>
      idOf(await client.post('/rest/v1/wood/twig/', { parent }));
    const root = await made(null);
    const [a, b] = [await made(root), await made(root)];
    await made(a);
    const c = await made(b);
    expect(seen(await client.delete(`/rest/v1/wood/twig/${a}/`))).toEqual(DELETED);
    expect(
      await started.dataSource.query('SELECT id, nsleft AS l, nsright AS r FROM twig ORDER BY id'),
    ).toEqual([
      { id: root, l: 1, r: 6 },
      { id: b, l: 2, r: 5 },
      { id: c, l: 3, r: 4 },
    ]);
    expect(seen(await client.delete(`/rest/v1/wood/twig/${root}/`))).toEqual(DELETED);
    expect(await started.dataSource.query('SELECT id FROM twig')).toEqual([]);
    expect(await made(null)).toBeGreaterThan(c);
  });

  test('whose parents are not shown has roots only, and deletes softly', async () => {
    const made = await client.post('/rest/v1/wood/root/', { parent: 1 });
    expect(seen(made)).toEqual([
      201,
      { id: idOf(made), children: `/rest/v1/wood/root/${idOf(made)}/children/` },
    ]);
    expect(await started.dataSource.query('SELECT mpath FROM root')).toEqual([{ mpath: `${idOf(made)}.` }]);
    expect(seen(await client.delete(`/rest/v1/wood/root/${idOf(made)}/`))).toEqual(DELETED);
    expect(seen(await client.get('/rest/v1/wood/root/'))).toEqual([200, []]);
    expect(await started.dataSource.getRepository(Root).count({ withDeleted: true })).toBe(1);
  });
});

/** Nothing but a relation: TypeORM 0.3 cannot save an entity with such an object. */
class Proof {
  @ManyToOne(() => Plain, { nullable: true })
  plain: Relation<Plain> | null;
}

abstract class Proven {
  @PrimaryGeneratedColumn()
  id: number;

  @Column(() => Proof)
  proof: Proof;
}

@Restify('tree')
@Entity()
@Tree('closure-table')
class ProvenClosed extends Proven {
  @TreeParent()
  parent: Relation<ProvenClosed> | null;

  @TreeChildren()
  children: Relation<ProvenClosed[]>;
}

@Restify('tree')
@Entity()
@Tree('materialized-path')
class ProvenPathed extends Proven {
  @TreeParent()
  parent: Relation<ProvenPathed> | null;

  @TreeChildren()
  children: Relation<ProvenPathed[]>;
}

@Restify('tree')
@Entity()
@Tree('nested-set')
class ProvenNested extends Proven {
  @TreeParent()
  parent: Relation<ProvenNested> | null;

  @TreeChildren()
  children: Relation<ProvenNested[]>;
}

onEachDatabase('a tree whose rows are changed by one statement', (database) => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({ entities: [Plain, ProvenClosed, ProvenPathed, ProvenNested], database });
  });

  afterAll(async () => {
    await started.close();
  });

  test.each([ProvenClosed, ProvenPathed, ProvenNested].map((kind) => [kind.name, kind] as const))(
    'keeps the places of rows that move: %s',
    async (_name, kind) => {
      const path = `/rest/v1/tree/${kind.name.toLowerCase()}/`;
      const trees = started.dataSource.getTreeRepository<Proven>(kind);
      const below = async (id: number): Promise<readonly number[]> =>
        (await trees.createDescendantsQueryBuilder('node', 'closure', { id } as Proven).getMany())
          .map((each) => each.id)
          .sort();
      const added = async (parent?: number): Promise<number> =>
        idOf(await started.client.post(path, { ...(parent === undefined ? {} : { parent }) }));
      const moved = async (id: number, parent: number): Promise<number> =>
        (await started.client.patch(`${path}${id}/`, { parent })).status;
      const root = await added();
      const [first, second] = [await added(root), await added(root)];
      const third = await added(second);

      expect(await moved(second, first)).toBe(200);
      expect([await below(root), await below(first), await below(second)]).toEqual([
        [root, first, second, third],
        [first, second, third],
        [second, third],
      ]);
      expect(await moved(second, root)).toBe(200);
      expect([await below(root), await below(first), await below(second)]).toEqual([
        [root, first, second, third],
        [first],
        [second, third],
      ]);
      expect(await moved(root, third)).toBe(400);
      expect(await below(root)).toEqual([root, first, second, third]);
    },
  );
});

/** Names that differ from those of the properties, also in case. */
class OwnNames extends DefaultNamingStrategy {
  constructor() {
    super();
    this.materializedPathColumnName = 'OWN_PATH';
    this.nestedSetColumnNames = { left: 'OWN_LEFT', right: 'OWN_RIGHT' };
  }

  override columnName(property: string, name: string | undefined, prefixes: string[]): string {
    return super.columnName(property, name ?? '', prefixes).toUpperCase();
  }

  override joinColumnName(relation: string, column: string): string {
    return super.joinColumnName(relation, column).toUpperCase();
  }
}

onEachDatabase('a tree under a naming strategy', (database) => {
  test.each(['materialized-path', 'nested-set'] as const)('is moved: %s', async (kind) => {
    @Entity('named_node')
    @Tree(kind)
    class NamedNode {
      @PrimaryGeneratedColumn() id: number;
      @Column() name: string;
      @TreeParent() parent: Relation<NamedNode> | null;
      @TreeChildren() children: Relation<NamedNode[]>;
    }
    restify(NamedNode, 'named');
    const started = await startApp({
      entities: [NamedNode],
      database,
      dataSource: { namingStrategy: new OwnNames() },
    });
    const { client, dataSource } = started;
    try {
      const NODES = '/rest/v1/named/namednode/';
      for (const [name, parent] of [
        ['a', null],
        ['b', 1],
        ['c', 1],
        ['d', 3],
      ])
        expect(await client.post(NODES, { name, parent })).toMatchObject({ status: 201 });
      for (const parent of [2, 1, 2])
        expect(await client.patch(`${NODES}3/`, { parent })).toMatchObject({ status: 200, json: { parent } });
      expect(await client.patch(`${NODES}2/`, { parent: 4 })).toMatchObject({ status: 400 });
      const trees = dataSource.getTreeRepository(NamedNode);
      const node = await trees.findOneByOrFail({ id: 2 });
      const below = await trees.findDescendants(node);
      expect(below.map(({ name }) => name).sort()).toEqual(['b', 'c', 'd']);
    } finally {
      await started.close();
    }
  });
});
