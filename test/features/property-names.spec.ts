// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import { documentOf } from '../openapi/document.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Names with a meaning for promises, JSON, functions or lists. */
const NAMES = ['then', 'catch', 'toJSON', 'prototype', 'length', 'name', 'values'];

class Step {
  id: number;
}
PrimaryGeneratedColumn()(Step.prototype, 'id');
for (const name of NAMES) {
  Column({ length: 20, nullable: true, type: 'varchar', name: `c_${name}` })(Step.prototype, name);
}
Column('simple-json', { nullable: true })(Step.prototype, 'json');
OneToMany(() => Turn, 'then')(Step.prototype, 'turns');
Entity('pn_step')(Step);
restify(Step, { app: 'pn', bulk: true, shape: true });

class Part {
  then: unknown;
}
for (const name of ['then', 'toJSON']) Column('simple-json', { nullable: true })(Part.prototype, name);

/** With a relation, and members of an embedded object, of such names. */
class Turn {
  id: number;
  then: Step;
}
PrimaryGeneratedColumn()(Turn.prototype, 'id');
ManyToOne(() => Step, 'turns')(Turn.prototype, 'then');
Column(() => Part)(Turn.prototype, 'part');
Entity('pn_turn')(Turn);
restify(Turn, { app: 'pn', bulk: true, shape: true, expandable: ['then'] });

const STEPS = '/rest/v1/pn/step/';
const TURNS = '/rest/v1/pn/turn/';

onEachDatabase('properties with a name of promises, JSON or functions', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ database, entities: [Step, Turn] });
  });
  afterAll(() => started.close());

  test('are fields like any other', async () => {
    const { client } = started;
    const body = Object.fromEntries(NAMES.map((name) => [name, `v-${name}`]));
    const nulls = Object.fromEntries(NAMES.map((name) => [name, null]));
    const made = await client.post(STEPS, body);
    const shown = { id: 1, ...body, json: null, turns: `${STEPS}1/turns/` };
    expect([made.status, made.json]).toEqual([201, shown]);
    expect((await client.post(STEPS, [{}, body])).json).toMatchObject([nulls, body]);
    expect((await client.get(`${STEPS}1/`)).json).toEqual(shown);
    for (const name of NAMES) {
      expect((await client.get(`${STEPS}?${name}=v-${name}&ordering=${name}&fields=${name}`)).json).toEqual([
        { [name]: `v-${name}` },
        { [name]: `v-${name}` },
      ]);
      expect((await client.patch(`${STEPS}2/`, { [name]: 'new' })).json).toMatchObject({ [name]: 'new' });
      expect((await client.put(`${STEPS}3/`, { [name]: null })).json).toMatchObject({ [name]: null });
      expect((await client.patch(`${STEPS}2/`, { [name]: {} })).json).toEqual({
        [name]: ['Not a valid string.'],
      });
    }
    const { schemas = {} } = documentOf(started.app).components;
    expect(Object.keys((schemas.PnStep as { properties: object }).properties)).toEqual(Object.keys(shown));
  });

  test('are such for relations, members of embedded objects, and values of JSON', async () => {
    const { client } = started;
    const part = { then: { then: 1, toJSON: 12345678901234 }, toJSON: { a: [1.5], toJSON: 'x' } };
    expect((await client.post(STEPS, { json: { then: 'x', toJSON: 2 } })).json).toMatchObject({
      json: { then: 'x', toJSON: 2 },
    });
    expect((await client.post(TURNS, { then: 4, part })).json).toEqual({ id: 1, then: 4, part });
    expect((await client.post(TURNS, [{ then: 4, part }])).json).toEqual([{ id: 2, then: 4, part }]);
    expect((await client.get(`${TURNS}?then=4&fields=id,then&ordering=then`)).json).toEqual([
      { id: 1, then: 4 },
      { id: 2, then: 4 },
    ]);
    expect((await client.get(`${TURNS}1/?expand=then&fields=then.id,then.then`)).json).toEqual({
      then: { id: 4, then: null },
    });
    expect((await client.get(`${STEPS}4/turns/?omit=then`)).json).toEqual([
      { id: 1, part },
      { id: 2, part },
    ]);
    expect((await client.patch(`${TURNS}1/`, { part: { toJSON: null } })).json).toEqual({
      id: 1,
      then: 4,
      part: { ...part, toJSON: null },
    });
  });
});

describe('properties with a name that each object inherits', () => {
  test.each([...Object.getOwnPropertyNames(Object.prototype)])(
    'keep the application from starting: %s',
    async (name) => {
      class Odd {
        id: number;
      }
      class OddPart {
        other: string;
      }
      PrimaryGeneratedColumn()(Odd.prototype, 'id');
      Column({ type: 'varchar', nullable: true, name: 'own' })(Odd.prototype, name);
      Column({ type: 'varchar', nullable: true, name: 'inner' })(OddPart.prototype, name);
      Column(() => OddPart)(Odd.prototype, 'part');
      Entity('pn_odd')(Odd);
      restify(Odd, 'pn');
      const started = startApp({ entities: [Odd] });
      await expect(started).rejects.toThrow(
        `Odd.${name}: each object of JavaScript inherits a member of this name`,
      );
      await expect(started).rejects.toThrow(`Odd.part.${name}: `);
    },
  );
});
