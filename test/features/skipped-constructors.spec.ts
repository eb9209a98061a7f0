// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { BeforeInsert, Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class ScSize {
  @Column() width: number;

  constructor(given: { readonly width: number }) {
    this.width = Math.round(given.width);
  }
}

/** Its constructor cannot run without an argument. */
@Entity('sc_point')
class ScPoint {
  @PrimaryGeneratedColumn() id: number;
  @Column() label: string;
  @Column({ default: 1 }) x: number;
  @ManyToOne(() => ScPoint) up: Relation<ScPoint> | null;

  constructor(given: { readonly label: string }) {
    this.label = given.label.trim();
  }
}

@Entity('sc_heard')
class ScHeard {
  @PrimaryGeneratedColumn() id: number;
  @Column() label: string;
  @Column(() => ScSize) size: ScSize;
  @ManyToOne(() => ScHeard) up: Relation<ScHeard> | null;

  constructor(given: { readonly label: string }) {
    this.label = given.label.trim();
  }

  @BeforeInsert() inserted(): void {
    this.label = `${this.label}!`;
  }
}

/** Its constructor sets a value that a new row has. */
@Entity('sc_initial')
class ScInitial {
  @PrimaryGeneratedColumn() id: number;
  @Column() label: string;
  @Column({ default: 'old' }) state: string = 'new';
}

for (const entity of [ScPoint, ScHeard, ScInitial]) restify(entity, 'sc');

onEachDatabase('entitySkipConstructor', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [ScPoint, ScHeard, ScInitial],
      database,
      dataSource: { entitySkipConstructor: true },
    });
  });
  afterAll(() => started.close());

  test('serves entities whose constructors need arguments', async () => {
    const { client } = started;
    const point = { id: 1, label: 'a', x: 1, up: null };
    const POINTS = '/rest/v1/sc/scpoint/';
    expect(await client.post(POINTS, { label: 'a' })).toMatchObject({ status: 201, json: point });
    expect(await client.post(POINTS, { label: 'b', up: 1 })).toMatchObject({ status: 201 });
    expect(await client.patch(`${POINTS}1/`, { x: 2 })).toMatchObject({
      status: 200,
      json: { ...point, x: 2 },
    });
    expect(await client.put(`${POINTS}1/`, { label: 'c' })).toMatchObject({ status: 200 });
    expect(await client.get(POINTS)).toMatchObject({ json: [{ label: 'c' }, { label: 'b', up: 1 }] });
    expect(await client.delete(`${POINTS}2/`)).toMatchObject({ status: 204 });
  });

  test('serves them with listeners and embedded objects', async () => {
    const { client } = started;
    const HEARD = '/rest/v1/sc/scheard/';
    const size = { width: 3 };
    expect(await client.post(HEARD, { label: 'a', size })).toMatchObject({
      status: 201,
      json: { id: 1, label: 'a!', size },
    });
    expect(await client.patch(`${HEARD}1/`, { label: 'b' })).toMatchObject({ json: { label: 'b', size } });
    expect(await client.delete(`${HEARD}1/`)).toMatchObject({ status: 204 });
  });

  test('creates objects by the constructors that need none, as the application does', async () => {
    const { client } = started;
    expect(await client.post('/rest/v1/sc/scinitial/', { label: 'a' })).toMatchObject({
      status: 201,
      json: { label: 'a', state: 'new' },
    });
  });
});
