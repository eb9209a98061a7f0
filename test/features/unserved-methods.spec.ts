// @tags http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Body, HttpException, Injectable, UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  Action,
  basic,
  IsAuthenticated,
  NestedAction,
  ONE_TO_MANY_LIST_ACTION,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import { METHODS } from 'node:http';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** The guards of the request, in the order in which they ran. */
const ran: string[] = [];
/** The guard that denies access. */
let denying: string | undefined;

function runAs(name: string, context: ExecutionContext): boolean {
  const { user } = context.switchToHttp().getRequest<{ user?: { name: string } }>();
  ran.push(name === 'global' ? name : `${name} for ${user?.name ?? 'nobody'}`);
  if (denying === name) throw new HttpException(`The ${name} guard is closed.`, 418);
  return true;
}

@Injectable()
class GlobalGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return runAs('global', context);
  }
}

@Injectable()
class ClassGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return runAs('class', context);
  }
}

@Injectable()
class ModelGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return runAs('model', context);
  }
}

@Restify({ app: 'unserved', guards: [ModelGuard] })
@Entity('unserved_house')
class House {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToMany(() => Room, (room) => room.house)
  rooms: Relation<Room[]>;

  @OneToMany(() => Tree, (tree) => tree.house)
  trees: Relation<Tree[]>;

  @ManyToMany(() => Key)
  @JoinTable({ name: 'unserved_house_keys' })
  keys: Relation<Key[]>;
}

/** Its nested URL belongs to two classes: GET to that of the house, the rest to its own. */
@Restify({ app: 'unserved', guards: [ModelGuard] })
@Entity('unserved_room')
class Room {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => House, (house) => house.rooms)
  house: Relation<House>;
}

@Restify({ app: 'unserved', guards: [ModelGuard] })
@Entity('unserved_tree')
class Tree {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => House, (house) => house.trees)
  house: Relation<House>;
}

@Restify('unserved')
@Entity('unserved_key')
class Key {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 1 })
  teeth: number;
}

@RestifyController(House)
class HouseController {
  @Action({ detail: false, methods: ['POST'] })
  build(@Body() _body: unknown): object {
    return {};
  }

  @NestedAction(ONE_TO_MANY_LIST_ACTION, 'rooms')
  rooms(): object {
    return { of: 'the house' };
  }
}

@RestifyController(Room)
@UseGuards(ClassGuard)
class RoomController {
  @Action({ detail: false })
  free(): object {
    return {};
  }
}

const HOUSES = '/rest/v1/unserved/house/';
const ROOMS = '/rest/v1/unserved/room/';
const URLS: readonly (readonly [path: string, allow: string, guards: readonly string[]])[] = [
  [HOUSES, 'GET, POST, HEAD, OPTIONS', ['global', 'model for ann']],
  [`${HOUSES}1/`, 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS', ['global', 'model for ann']],
  [`${HOUSES}1/trees/`, 'GET, HEAD, OPTIONS', ['global', 'model for ann']],
  [`${HOUSES}1/keys/`, 'GET, POST, HEAD, OPTIONS', ['global']],
  [`${HOUSES}1/keys/1/`, 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS', ['global']],
  [`${HOUSES}build/`, 'POST, OPTIONS', ['global', 'model for ann']],
  [ROOMS, 'GET, POST, HEAD, OPTIONS', ['global', 'model for ann', 'class for ann']],
  [`${ROOMS}free/`, 'GET, HEAD, OPTIONS', ['global', 'model for ann', 'class for ann']],
  [`${HOUSES}1/rooms/`, 'GET, HEAD, OPTIONS', ['global', 'model for ann', 'class for ann']],
];
const ANN = { authorization: `Basic ${Buffer.from('ann:x').toString('base64')}` };
const SERVED = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
/** All that Node's parser accepts; CONNECT is no request of an API. */
const UNSERVED = [...METHODS.filter((method) => ![...SERVED, 'CONNECT'].includes(method)), 'PUT'];

let started: StartedApp;

beforeAll(async () => {
  started = await startApp({
    entities: [House, Room, Tree, Key],
    controllers: [HouseController, RoomController],
    providers: [ModelGuard, { provide: APP_GUARD, useClass: GlobalGuard }],
    undescribed: 'all',
    restify: {
      permissions: [IsAuthenticated],
      authenticationThrottle: false,
      authentication: [basic((name) => (name === 'eve' ? null : { name }))],
    },
  });
  await started.dataSource.getRepository(House).insert({ id: 1 });
});
beforeEach(() => {
  denying = undefined;
  ran.length = 0;
});
afterAll(() => started.close());

async function send(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = ANN,
): Promise<Answer> {
  ran.length = 0;
  return started.client.send(method, path, { headers });
}

describe.each(UNSERVED)('%s', (method) => {
  test.each(URLS)('of %s is 405 behind all guards', async (path, allow, guards) => {
    if (allow.includes(method)) return;
    const { status, json, headers } = await send(method, path);
    expect([status, json, headers.allow, ran]).toEqual([
      405,
      { detail: `Method "${method}" not allowed.` },
      allow,
      guards,
    ]);
    for (const guard of guards.map((each) => each.replace(/ for .*/, ''))) {
      denying = guard;
      const denied = await send(method, path);
      expect([guard, denied.status, denied.json]).toEqual([
        guard,
        418,
        { detail: `The ${guard} guard is closed.` },
      ]);
    }
  });

  test('is 401 behind the global guards, and before those of the model', async () => {
    for (const headers of [{}, { authorization: 'Basic ZXZlOng=' }] as Record<string, string>[]) {
      const { status } = await send(method, `${HOUSES}1/rooms/`, headers);
      expect([status, ran]).toEqual([401, ['global']]);
    }
  });

  test('is 404 where there is no URL', async () => {
    expect((await send(method, '/rest/v1/unserved/nothing/')).status).toBe(404);
    expect((await send(method, `${HOUSES}1/nothing/`)).status).toBe(404);
  });

  test('with a body of any type is 405', async () => {
    for (const type of ['application/json', 'text/plain', 'nonsense']) {
      const { status } = await started.client.send(method, HOUSES, {
        raw: '{',
        headers: { ...ANN, 'content-type': type },
      });
      expect([type, status]).toEqual([type, 405]);
    }
    expect((await send('GET', HOUSES)).status).toBe(200);
  });
});

test('two classes that share a URL keep their methods', async () => {
  const { client } = started;
  expect((await client.get(`${HOUSES}1/rooms/`, { headers: ANN })).json).toEqual({ of: 'the house' });
  expect((await client.send('HEAD', `${HOUSES}1/rooms/`, { headers: ANN })).status).toBe(200);
  expect((await client.send('OPTIONS', `${HOUSES}1/rooms/`, { headers: ANN })).json).toMatchObject({
    methods: ['GET'],
  });
});

test.each([
  ['too large', 'application/json', `"${'x'.repeat(200_000)}"`, 413],
  ['of another type', 'application/xml', 'x', 415],
  ['a text that is too large', 'text/plain', 'x'.repeat(200_000), 413],
  ['no JSON', 'application/json', '{', 400],
])('a body of an action that is %s is refused behind the guards', async (_what, type, raw, status) => {
  const options = { raw, headers: { ...ANN, 'content-type': type } };
  const path = `${HOUSES}build/`;
  expect((await started.client.send('POST', path, options)).status).toBe(status);
  expect(ran).toContain('model for ann');
  denying = 'model';
  expect((await started.client.send('POST', path, options)).status).toBe(418);
});
