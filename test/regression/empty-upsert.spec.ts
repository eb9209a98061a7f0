// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'empty', bulk: { upsert: ['code'] } })
@Entity('empty_ware')
class Ware {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ unique: true })
  code: string;
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({ entities: [Ware] });
});
afterAll(() => started.close());

test('an upsert of no objects has created none, and is 200 (contract 14.1)', async () => {
  const { client } = started;
  const upsert = await client.post('/rest/v1/empty/ware/?upsert=true', []);
  expect([upsert.status, upsert.json]).toEqual([200, []]);
  const create = await client.post('/rest/v1/empty/ware/', []);
  expect([create.status, create.json]).toEqual([201, []]);
  const both = [{ code: 'a' }, { code: 'b' }];
  expect((await client.post('/rest/v1/empty/ware/?upsert=true', both)).status).toBe(201);
  expect((await client.post('/rest/v1/empty/ware/?upsert=true', both)).status).toBe(200);
});
