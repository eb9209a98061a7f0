// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { BeforeInsert, Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation, ValueTransformer } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { seen } from './nested-answers.js';

const LOWER: ValueTransformer = { to: (text: string) => text.toLowerCase(), from: (text: unknown) => text };
/** Stores an UUID without hyphens. */
const COMPACT: ValueTransformer = {
  to: (text: string) => text.replaceAll('-', ''),
  from: (text: string) => text.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
};
/** Changes what it has made itself. */
const PREFIXED: ValueTransformer = {
  to: (text: string) => `x${text}`,
  from: (text: string) => text.slice(1),
};

@Restify({ app: 'tk', bulk: { upsert: ['id'] } })
@Entity('tk_lower')
class Lower {
  @PrimaryColumn({ length: 20, transformer: LOWER }) id: string;
  @Column({ length: 20, default: '' }) name: string;
  @OneToMany(() => Line, (line) => line.lower) lines: Relation<Line[]>;
}

@Restify({ app: 'tk' })
@Entity('tk_line')
class Line {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Lower, (lower) => lower.lines) lower: Relation<Lower>;
}

@Restify({ app: 'tk', bulk: true })
@Entity('tk_pair')
class Pair {
  @PrimaryColumn({ length: 20, transformer: LOWER }) code: string;
  @PrimaryColumn() place: number;
  @Column({ length: 20, default: '' }) name: string;
}

@Restify('tk')
@Entity('tk_place')
class Place {
  @PrimaryColumn({ length: 20, transformer: LOWER }) id: string;
  @Column({ length: 20 }) name: string;
}

const MADE = '00000000-0000-4000-8000-0000000000aa';

@Restify({ app: 'tk', bulk: true, readOnly: ['id'] })
@Entity('tk_compact')
class Compact {
  @PrimaryColumn({ length: 40, transformer: COMPACT }) id: string;
  @Column({ length: 20, default: '' }) name: string;
  @BeforeInsert() make(): void {
    this.id = MADE;
  }
}

@Restify({ app: 'tk', bulk: true })
@Entity('tk_prefixed')
class Prefixed {
  @PrimaryColumn({ length: 20, transformer: PREFIXED }) id: string;
  @Column({ length: 20, default: '' }) name: string;
}

const ROOT = '/rest/v1/tk';

onEachDatabase('a key with a transformer', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({ entities: [Lower, Line, Pair, Place, Compact, Prefixed], database });
    client = started.client;
  });
  afterAll(() => started.close());

  test('is found by what it stores', async () => {
    const url = `${ROOT}/lower/`;
    const made = await client.post(url, { id: 'Ab', name: 'a' });
    expect(seen(made)).toEqual([201, { id: 'ab', name: 'a', lines: expect.any(String) }]);
    expect(made.headers.location).toMatch(/\/lower\/ab\/$/);
    expect((await client.get(`${url}ab/`)).status).toBe(200);
    expect(seen(await client.post(url, { id: 'AB' }))).toEqual([400, { id: ['This field must be unique.'] }]);
    const bulk = await client.post(url, [{ id: 'Cd' }, { id: 'eF' }]);
    expect(seen(bulk)).toMatchObject([201, [{ id: 'cd' }, { id: 'ef' }]]);
    const upsert = await client.post(`${url}?upsert=true`, [{ id: 'CD', name: 'c' }, { id: 'Gh' }]);
    expect(seen(upsert)).toMatchObject([201, [{ id: 'cd', name: 'c' }, { id: 'gh' }]]);
    const line = await client.post(`${ROOT}/line/`, { id: 1, lower: 'ab' });
    expect(seen(line)).toEqual([201, { id: 1, lower: 'ab' }]);
    expect((await client.get(`${url}ab/lines/`)).json).toEqual([{ id: 1, lower: 'ab' }]);
  });

  test('that its transformer does not make is not taken for the key of another row', async () => {
    const url = `${ROOT}/place/`;
    const put = (id: string, name: string): Promise<unknown> =>
      started.dataSource.query(`INSERT INTO tk_place (id, name) VALUES ('${id}', '${name}')`);
    await put('X1', 'mine');
    if (database.name === 'mariadb') {
      // Both texts are one key.
      expect((await client.get(url)).json).toEqual([{ id: 'X1', name: 'mine' }]);
      expect((await client.patch(`${url}X1/`, { name: 'yours' })).json).toEqual({ id: 'X1', name: 'yours' });
      expect((await client.delete(`${url}X1/`)).status).toBe(204);
      return;
    }
    await put('x1', 'foreign');
    for (const answer of [
      await client.get(`${url}X1/`),
      await client.patch(`${url}X1/`, { name: 'changed' }),
      await client.put(`${url}X1/`, { name: 'changed' }),
      await client.delete(`${url}X1/`),
    ])
      expect(answer.status).toBe(404);
    const rows = await started.dataSource.query<{ name: string }[]>(`SELECT name FROM tk_place`);
    expect(rows.map(({ name }) => name).sort()).toEqual(['foreign', 'mine']);
    expect((await client.get(url)).json).toEqual([{ id: 'x1', name: 'foreign' }]);
  });

  test('is a part of a composite key', async () => {
    const url = `${ROOT}/pair/`;
    const made = await client.post(url, { code: 'Ab', place: 1 });
    expect(seen(made)).toMatchObject([201, { code: 'ab', place: 1 }]);
    const { location } = made.headers;
    expect(location).toMatch(/ab/);
    const object = new URL(location ?? '', 'http://localhost').pathname;
    expect(seen(await client.patch(object, { name: 'b' }))).toMatchObject([200, { code: 'ab', name: 'b' }]);
    expect((await client.delete(object)).status).toBe(204);
  });

  describe.each([
    ['compact', {}, MADE, COMPACT.to(MADE) as string],
    ['prefixed', { id: 'a' }, 'a', 'xa'],
  ])('of the model %s', (model, body, shown, stored) => {
    test('is loaded by what is stored', async () => {
      const url = `${ROOT}/${model}/`;
      const made = await client.post(url, body);
      expect(seen(made)).toEqual([201, { id: shown, name: '' }]);
      expect(made.headers.location).toMatch(new RegExp(`/${stored}/$`));
      const object = `${url}${stored}/`;
      expect(seen(await client.get(object))).toEqual([200, { id: shown, name: '' }]);
      expect((await client.get(url)).json).toEqual([{ id: shown, name: '' }]);
      expect(seen(await client.patch(object, { name: 'b' }))).toEqual([200, { id: shown, name: 'b' }]);
      expect(seen(await client.put(object, { ...body, name: 'c' }))).toEqual([200, { id: shown, name: 'c' }]);
      const [row] = await started.dataSource.query<object[]>(`SELECT id, name FROM tk_${model}`);
      expect(row).toEqual({ id: stored, name: 'c' });
      expect((await client.delete(object)).status).toBe(204);
      expect((await client.get(url)).json).toEqual([]);
    });
  });
});
