// @tags nest
import { expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  AfterLoad,
  Column,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';

/** Written by statements of the adapter. */
@Entity('si_plain')
class SiPlain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ unique: true }) name: string;
  @Column({ default: 5 }) size: number;
  @Column({ type: 'bigint', default: '9007199254740993' }) big: string;
  @Column({ default: true }) flag: boolean;
  @Column({ type: 'decimal', precision: 10, scale: 2, default: 3 }) price: string;
  @Column({ type: 'float', default: 2 }) ratio: number;
  @VersionColumn() version: number;
  @ManyToOne(() => SiPlain) up: Relation<SiPlain> | null;
  @OneToMany(() => SiPlain, (plain) => plain.up) downs: Relation<SiPlain[]>;
}

/** Written and read by TypeORM. */
@Entity('si_heard')
class SiHeard {
  @PrimaryGeneratedColumn() id: number;
  @Column({ unique: true }) name: string;
  @Column({ default: 5 }) size: number;
  @Column({ type: 'bigint', default: '9007199254740993' }) big: string;
  @Column({ default: true }) flag: boolean;
  @VersionColumn() version: number;
  @ManyToOne(() => SiHeard) up: Relation<SiHeard> | null;

  label: string;
  @AfterLoad() describe(): void {
    this.label = `${this.name} ${this.size + 1}`;
  }
}

@Entity('si_tree')
@Tree('nested-set')
class SiTree {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @TreeParent() parent: Relation<SiTree> | null;
  @TreeChildren() children: Relation<SiTree[]>;
}

restify(SiPlain, { app: 'si', bulk: { upsert: ['name'] } });
restify(SiHeard, { app: 'si', bulk: { upsert: ['name'] }, computed: { title: (heard) => heard.label } });
restify(SiTree, 'si');

/** What an application sends, as method, path and body. */
const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ...['siplain', 'siheard'].flatMap((model): [string, string, unknown?][] => [
    ['POST', `${model}/`, { name: 'a' }],
    ['POST', `${model}/`, { name: 'b', up: 1, flag: false, size: 7, big: '12' }],
    ['POST', `${model}/`, { name: 'b', up: 99 }],
    ['POST', `${model}/`, { name: 'b' }],
    ['PATCH', `${model}/2/`, { name: 'c', size: 8 }],
    ['PUT', `${model}/2/`, { name: 'd', up: 1 }],
    ['POST', `${model}/`, [{ name: 'x' }, { name: 'y', up: 2 }]],
    ['PATCH', `${model}/`, [{ id: 1, size: 3 }]],
    ['POST', `${model}/`, [{ name: 'x', size: 4 }, { name: 'z' }]],
    ['GET', `${model}/`],
    ['GET', `${model}/?expand=up`],
    ['GET', `${model}/?size__gt=2&ordering=-size&big=9007199254740993`],
    ['GET', `${model}/?format=csv`],
    ['GET', `${model}/1/`],
    ['DELETE', `${model}/1/`],
    ['DELETE', `${model}/4/`],
  ]),
  ['GET', 'siplain/1/downs/'],
  ['POST', 'sitree/', { name: 'a' }],
  ['POST', 'sitree/', { name: 'b', parent: 1 }],
  ['POST', 'sitree/', { name: 'c', parent: 2 }],
  ['PATCH', 'sitree/3/', { parent: 1 }],
  ['DELETE', 'sitree/2/'],
  ['GET', 'sitree/'],
];

/** The answers of an application, and what its own statement reads. */
async function answersOf(database: string, safe: boolean): Promise<readonly unknown[]> {
  const started = await startApp({
    entities: [SiPlain, SiHeard, SiTree],
    dataSource: {
      database,
      prepareDatabase: (connection: { defaultSafeIntegers(on: boolean): void }) => {
        connection.defaultSafeIntegers(safe);
      },
    },
  });
  try {
    const answers: unknown[] = [];
    for (const [method, path, body] of REQUESTS) {
      const { status, text } = await started.client.send(method, `/rest/v1/si/${path}`, { body });
      answers.push([method, path, status, text]);
    }
    // The application's own statements read as it has said.
    const [read] = await started.dataSource.query<{ id: unknown }[]>('SELECT id FROM si_plain');
    expect(typeof read?.id).toBe(safe ? 'bigint' : 'number');
    return answers;
  } finally {
    await started.close();
  }
}

test.each(['in memory', 'in a file'])(
  'a connection that reads integers as BigInt is served as any other, %s',
  async (place) => {
    const folder = await mkdtemp(join(tmpdir(), 'restify-'));
    const file = (name: string): string => (place === 'in memory' ? ':memory:' : join(folder, name));
    try {
      const answers = await answersOf(file('numbers'), false);
      expect(answers).toContainEqual(['POST', 'siplain/', 201, expect.stringContaining('"id":1,')]);
      expect(answers).toContainEqual(['PATCH', 'siheard/2/', 200, expect.stringContaining('"title":"c 9"')]);
      expect(await answersOf(file('bigints'), true)).toEqual(answers);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
