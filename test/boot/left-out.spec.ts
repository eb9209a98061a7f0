// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import {
  BeforeInsert,
  BeforeRemove,
  Column,
  Entity,
  JoinColumn,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeLevelColumn,
  TreeParent,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { DELETED, NOT_FOUND, seen } from '../features/nested-answers.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { problemsOf } from './refused-start.js';

// What cannot be served, as entities of another package: named by relations, and not registered.
@ViewEntity({ name: 'lo_totals', expression: 'SELECT 1 AS sum' })
class Totals {
  @ViewColumn()
  sum: number;
}

@Entity('lo_weight')
class Weight {
  @PrimaryColumn('float')
  grams: number;
}

@Entity('lo_branch')
@Tree('nested-set')
class Branch {
  @PrimaryGeneratedColumn()
  id: number;

  @TreeParent({ onDelete: 'SET NULL' })
  parent: Relation<Branch>;

  @TreeChildren()
  children: Relation<Branch[]>;
}

@Entity('lo_topic')
class Topic {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Note, (note) => note.topics)
  notes: Relation<Note[]>;
}

const removed: number[] = [];

@Entity('lo_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Topic, (topic) => topic.notes)
  topics: Relation<Topic[]>;

  @ManyToMany(() => Note)
  seeAlso: Relation<Note[]>;

  @ManyToOne(() => Weight)
  @JoinColumn({ name: 'weight' })
  weight: Relation<Weight> | null;

  @ManyToOne(() => Branch)
  branch: Relation<Branch> | null;

  @BeforeRemove()
  remember(): void {
    removed.push(this.id);
  }
}

@Entity('lo_chapter')
@Tree('materialized-path')
class Chapter {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 10 })
  title: string;

  @TreeLevelColumn()
  level: number;

  @TreeParent({ onDelete: 'CASCADE' })
  parent: Relation<Chapter> | null;

  @TreeChildren()
  children: Relation<Chapter[]>;

  /** TypeORM fills no level. */
  @BeforeInsert()
  fill(): void {
    this.level = 0;
  }
}

const UNSERVED = [Totals, Weight, Topic];
restify(Note, { app: 'lo', exclude: ['seeAlso'] });
restify(Branch, { app: 'lo', operations: ['list', 'retrieve'] });
restify(Chapter, 'lo');

onEachDatabase('what cannot be served', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({ entities: [...UNSERVED, Branch, Note, Chapter], database });
    client = started.client;
  });
  afterAll(() => started.close());

  test('keeps no application from starting that does not register it', async () => {
    const note = { id: 1, branch: null };
    expect(seen(await client.post('/rest/v1/lo/note/', {}))).toEqual([201, note]);
    expect(seen(await client.get('/rest/v1/lo/note/'))).toEqual([200, [note]]);
    expect(seen(await client.get('/rest/v1/lo/note/1/topics/'))).toEqual(NOT_FOUND);
    expect(Object.keys((await client.get('/')).json as object)).toEqual([
      'rest/v1/lo/branch',
      'rest/v1/lo/chapter',
      'rest/v1/lo/note',
    ]);
  });

  test('is left out, with its listeners, where it is a many-to-many without a join table', async () => {
    await client.post('/rest/v1/lo/note/', {});
    removed.length = 0;
    expect(seen(await client.delete('/rest/v1/lo/note/2/'))).toEqual(DELETED);
    expect(seen(await client.get('/rest/v1/lo/note/2/'))).toEqual(NOT_FOUND);
    expect(removed).toEqual([2]);
  });

  test('is read where only writing it is not supported', async () => {
    expect(seen(await client.get('/rest/v1/lo/branch/'))).toEqual([200, []]);
    expect((await client.post('/rest/v1/lo/branch/', {})).status).toBe(405);
  });

  test('is left out where it is the level of a tree', async () => {
    const root = { id: 1, title: 'a', parent: null, children: '/rest/v1/lo/chapter/1/children/' };
    const child = { id: 2, title: 'b', parent: 1, children: '/rest/v1/lo/chapter/2/children/' };
    expect(seen(await client.post('/rest/v1/lo/chapter/', { title: 'a' }))).toEqual([201, root]);
    expect(seen(await client.post('/rest/v1/lo/chapter/', { title: 'b', parent: 1, level: 7 }))).toEqual([
      201,
      child,
    ]);
    expect(seen(await client.get('/rest/v1/lo/chapter/1/children/?level=7'))).toEqual([200, [child]]);
  });
});

@Entity('lo_rope')
class Rope {
  @PrimaryColumn('float')
  length: number;

  @ManyToMany(() => Knot, (knot) => knot.ropes)
  knots: Relation<Knot[]>;
}

@Entity('lo_knot')
class Knot {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Rope, (rope) => rope.knots)
  ropes: Relation<Rope[]>;
}

@Entity('lo_twig')
@Tree('nested-set')
class Twig {
  @PrimaryGeneratedColumn()
  id: number;

  @TreeParent({ onDelete: 'SET NULL' })
  parent: Relation<Twig>;

  @TreeChildren()
  children: Relation<Twig[]>;
}
for (const entity of [Rope, Knot, Twig]) restify<object>(entity, 'lo');

onEachDatabase('registered, what cannot be served', (database) => {
  test('refuses to start with a repair that holds for entities of others', async () => {
    expect(await problemsOf({ entities: [Rope, Knot, Twig], database })).toEqual([
      "Rope.knots: neither side of this many-to-many has a join table. Write @JoinTable() on one side, or leave it out: exclude: ['knots'].",
      'Rope.length: its key is a value of the type float, which TypeORM does not find exactly. Give it a key of whole numbers, texts or UUIDs, and make this column unique, or leave the entity out: do not register it.',
      "Knot.ropes: neither side of this many-to-many has a join table. Write @JoinTable() on one side, or leave it out: exclude: ['ropes'].",
      "Twig: a nested-set tree whose children outlive their parent (onDelete: 'SET NULL') is not supported. Make it an adjacency list, serve it for reading (operations: ['list', 'retrieve']), or leave the entity out: do not register it.",
    ]);
  });
});
