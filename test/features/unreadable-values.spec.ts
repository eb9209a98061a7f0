// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { IsOptional } from 'class-validator';
import { Restify, restify } from 'nestjs-restify';
import type { RestifyOptions } from 'nestjs-restify';
import {
  AfterLoad,
  BeforeUpdate,
  Column,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { ColumnOptions, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { WORLD } from '../support/world.js';

class Base {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @Column({ type: 'simple-json', nullable: true }) data: unknown;
}

const seen: unknown[] = [];

@Restify({ app: 'unread', bulk: true, expandable: ['children'], shape: true })
@Entity('unread_plain')
class Plain extends Base {
  @OneToMany(() => Child, (child) => child.plain) children: Relation<Child[]>;
}

@Restify({ app: 'unread', expandable: ['plain'], shape: true })
@Entity('unread_child')
class Child {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Plain, (plain) => plain.children) plain: Relation<Plain>;
}

@Restify({ app: 'unread', bulk: true })
@Entity('unread_listened')
class Listened extends Base {
  @BeforeUpdate() look(): void {
    seen.push(this.data);
  }
}

@Restify({ app: 'unread', bulk: true })
@Entity('unread_loaded')
class Loaded extends Base {
  @AfterLoad() look(): void {
    seen.push(this.data);
  }
}

@Restify({ app: 'unread', bulk: true })
@Entity('unread_validated')
class Validated extends Base {
  @IsOptional() declare title: string;
}

const COMPUTED: RestifyOptions<Computed> = {
  app: 'unread',
  bulk: true,
  computed: { size: ({ title }) => title.length },
};
@Restify(COMPUTED)
@Entity('unread_computed')
class Computed extends Base {}

const MODELS = ['plain', 'listened', 'loaded', 'validated', 'computed'] as const;

onEachDatabase('JSON that cannot be read', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Plain, Child, Listened, Loaded, Validated, Computed],
      database,
      undescribed: 'all',
    });
  });
  afterAll(() => started.close());

  describe.each(MODELS)('of the model %s', (model) => {
    const url = `/rest/v1/unread/${model}/`;
    const break1 = async (text: string): Promise<number> => {
      const { client, dataSource } = started;
      const { id } = (await client.post(url, { title: 'a', data: { n: 1 } })).json as { id: number };
      await dataSource.query(
        `UPDATE unread_${model} SET data = ${database.name === 'postgres' ? '$1' : '?'} WHERE id = ${id}`,
        [text],
      );
      return id;
    };

    test.each(['', '{"n":', "{n:'x'}", '1,2', 'x'])('%j is shown, stays and goes', async (text) => {
      const { client } = started;
      const id = await break1(text);
      const object = `${url}${id}/`;
      expect(await client.get(object)).toMatchObject({ status: 200, json: { data: text } });
      expect((await client.get(url)).json).toContainEqual(expect.objectContaining({ id, data: text }));
      expect(await client.patch(object, { title: 'b' })).toMatchObject({
        status: 200,
        json: { title: 'b', data: text },
      });
      expect(await client.patch(url, [{ id, title: 'c' }])).toMatchObject({
        status: 200,
        json: [{ title: 'c', data: text }],
      });
      expect(await client.put(object, { title: 'd' })).toMatchObject({
        status: 200,
        json: { title: 'd', data: text },
      });
      expect(await client.patch(object, { data: { n: 2 } })).toMatchObject({
        status: 200,
        json: { title: 'd', data: { n: 2 } },
      });
      const other = await break1(text);
      expect((await client.delete(`${url}${other}/`)).status).toBe(204);
      const third = await break1(text);
      expect((await client.delete(`${url}?keys=${third}`)).status).toBe(204);
      const fourth = await break1(text);
      expect(await client.patch(`${url}${fourth}/`, { data: null })).toMatchObject({
        status: 200,
        json: { data: null },
      });
    });
  });

  test('is shown in expansions', async () => {
    const { client, dataSource } = started;
    const { id } = (await client.post('/rest/v1/unread/plain/', { title: 'a' })).json as { id: number };
    await dataSource.query(`UPDATE unread_plain SET data = '' WHERE id = ${id}`);
    const child = await client.post('/rest/v1/unread/child/?expand=plain', { plain: id });
    expect(child).toMatchObject({ status: 201, json: { plain: { id, data: '' } } });
  });
});

/** Values of SQLite that are of no type. */
const COLUMNS: readonly (readonly [string, ColumnOptions])[] = [
  ['data', { type: 'json' }],
  ...(WORLD.name === 'nest-12' ? [['packed', { type: 'jsonb' }] as const] : []),
  ['simple', { type: 'simple-json' }],
  ['tags', { type: 'simple-array' }],
  ['kind', { type: 'simple-enum', enum: ['a', 'b'] }],
  ['level', { type: 'simple-enum', enum: { Low: 1, High: 2 } }],
  ['day', { type: 'date' }],
  ['moment', { type: 'datetime' }],
  ['time', { type: 'time' }],
  ['open', { type: 'boolean' }],
  ['price', { type: 'decimal', precision: 5, scale: 2 }],
  ['ratio', { type: 'float' }],
  ['big', { type: 'bigint' }],
  ['bytes', { type: 'blob' }],
];

const STORED = ["'junk'", "''", '7', '1.5', "x'ff'", "x'7b'", "'2022-13-45 99:00:00'", "'{'", 'NULL'];

function oddEntity(name: string, isListened: boolean): new () => object {
  class Odd {
    readonly id: number;
    readonly title: string;
  }
  PrimaryGeneratedColumn({ type: 'integer' })(Odd.prototype, 'id');
  Column({ type: 'varchar' })(Odd.prototype, 'title');
  for (const [column, options] of COLUMNS) Column({ ...options, nullable: true })(Odd.prototype, column);
  if (isListened) {
    Object.defineProperty(Odd.prototype, 'look', { value: () => undefined });
    BeforeUpdate()(Odd.prototype, 'look');
    AfterLoad()(Odd.prototype, 'look');
  }
  Entity({ name: `unread_${name}`, synchronize: false })(Odd);
  restify(Odd, { app: 'unread', name, shape: true });
  return Odd;
}

describe.each([
  ['odd', false],
  ['oddlistened', true],
])('values on SQLite that are none of their type, of the model %s', (name, isListened) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [oddEntity(name, isListened)], undescribed: 'all' });
    await started.dataSource.query(
      `CREATE TABLE unread_${name} (id INTEGER PRIMARY KEY, title varchar NOT NULL, ${COLUMNS.map(([column]) => column).join(', ')})`,
    );
  });
  afterAll(() => started.close());

  test.each(COLUMNS.map(([column]) => column))(
    '%s is shown, remains after other changes, and can be deleted',
    async (column) => {
      const { client, dataSource } = started;
      const url = `/rest/v1/unread/${name}/`;
      for (const value of STORED) {
        await dataSource.query(`DELETE FROM unread_${name}`);
        const [{ id }] = await dataSource.query<[{ id: number }]>(
          `INSERT INTO unread_${name}(title, ${column}) VALUES ('a', ${value}) RETURNING id`,
        );
        const read = await client.get(`${url}${id}/`);
        expect([value, read.status]).toEqual([value, 200]);
        expect([value, (await client.get(url)).json]).toEqual([value, [read.json]]);
        const changed = await client.patch(`${url}${id}/`, { title: 'b' });
        expect([value, changed.status, changed.json]).toEqual([
          value,
          200,
          { ...(read.json as object), title: 'b' },
        ]);
        expect(
          await dataSource.query(
            `SELECT typeof(${column}) AS type, ${column} IS ${value} AS same, typeof(${value}) AS of FROM unread_${name}`,
          ),
        ).toEqual([{ type: expect.any(String), same: 1, of: expect.any(String) }]);
        expect([value, (await client.delete(`${url}${id}/`)).status]).toEqual([value, 204]);
      }
    },
  );
});
