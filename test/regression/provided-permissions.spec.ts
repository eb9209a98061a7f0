// @tags nest
import { afterEach, expect, test } from '@jest/globals';
import { Inject, Injectable } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  allow,
  AllowAny,
  deny,
  IsAuthenticated,
  ModelSerializer,
  restify,
  Restify,
  SearchFilter,
  where,
} from 'nestjs-restify';
import type { AccessContext, Denial, FilterContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

class OwnPermission implements Permission {
  constructor(private readonly isOpen: boolean) {}

  decide(): Grant | Denial {
    return this.isOpen ? allow() : deny({ hides: 'rows' });
  }
}

@Restify({ app: 'provided', permissions: [IsAuthenticated] })
@Entity('provided_person')
class Person {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @Column({ type: 'int', default: 1000 }) salary: number;
}

@Restify({ app: 'provided', permissions: [AllowAny] })
@Entity('provided_open')
class Open {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'provided', permissions: [OwnPermission] })
@Entity('provided_made')
class Made {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'provided', permissions: [AllowAny], searchFields: ['name'] })
@Entity('provided_named')
class Named {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Entity('provided_late')
class Late {
  @PrimaryGeneratedColumn() id: number;
}

const ENTITIES = [Person, Open, Made, Named];
let started: StartedApp | undefined;

async function start(providers: AppSettings['providers']): Promise<StartedApp> {
  started = await startApp({
    entities: ENTITIES,
    providers: [...(providers ?? [])],
    undescribed: 'all',
    // The comparison reads lists a second time.
    compare: false,
  });
  return started;
}

afterEach(async () => {
  await started?.close();
  started = undefined;
});

const OWN = { provide: OwnPermission, useValue: new OwnPermission(true) };

/** All callers may write a salary, and none may read it. */
class HidesSalaries implements Permission {
  decide({ method }: { readonly method: string }): Grant | Denial {
    return method === 'GET' ? allow({ readable: ['id', 'name'] }) : allow();
  }
}

test('responses to writes hide fields that a replacement of a built-in permission hides', async () => {
  const { client } = await start([OWN, { provide: IsAuthenticated, useClass: HidesSalaries }]);
  const created = await client.post('/rest/v1/provided/person/', { name: 'Ann', salary: 3000 });
  expect([created.status, created.json]).toEqual([201, { id: 1, name: 'Ann' }]);
});

test('so do those where methods of the provided instance replace those of its class', async () => {
  const hidesSalaries = Object.assign(new IsAuthenticated(), {
    decide: (context: AccessContext) => new HidesSalaries().decide(context),
  });
  const { client } = await start([OWN, { provide: IsAuthenticated, useValue: hidesSalaries }]);
  const created = await client.post('/rest/v1/provided/person/', { name: 'Ann', salary: 3000 });
  expect([created.status, created.json]).toEqual([201, { id: 1, name: 'Ann' }]);
});

test('methods of a provided instance of a built-in class replace those of its class', async () => {
  const closed = Object.assign(new AllowAny(), { decide: () => deny({ hides: 'rows' }) });
  const masking = Object.assign(new ModelSerializer(), { represent: () => ({ masked: true }) });
  const ofNoRows = Object.assign(new SearchFilter(), {
    filter: () => ({ rows: where('name', 'no such name') }),
  });
  const { client, dataSource } = await start([OWN, { provide: AllowAny, useValue: closed }]);
  await dataSource.getRepository(Open).insert({});
  expect((await client.get('/rest/v1/provided/open/')).status).toBe(403);
  await started?.close();
  const second = await start([OWN, { provide: ModelSerializer, useValue: masking }]);
  await second.dataSource.getRepository(Open).insert({});
  expect((await second.client.get('/rest/v1/provided/open/')).json).toEqual([{ masked: true }]);
  await second.close();
  const third = await start([OWN, { provide: SearchFilter, useValue: ofNoRows }]);
  await third.dataSource.getRepository(Named).insert({ name: 'Ann' });
  expect((await third.client.get('/rest/v1/provided/named/')).json).toEqual([]);
});

test('parameters that a filter backend adds to a request without a query are not those of others', async () => {
  const seen: (string | undefined)[] = [];
  const adding = {
    filter: ({ parameters }: FilterContext) => {
      seen.push(parameters.get('tenant'));
      (parameters as Map<string, string>).set('tenant', 'first');
      return {};
    },
  };
  const { client } = await start([OWN, { provide: SearchFilter, useValue: adding }]);
  for (let at = 0; at < 2; at++) await client.get('/rest/v1/provided/named/');
  expect(new Set(seen)).toEqual(new Set([undefined]));
});

/** Created for each request, which Nest finds out when it injects the property. */
@Injectable()
class OfRequest implements Permission {
  @Inject(REQUEST) readonly request: unknown;

  constructor(@Inject('POLICY') private readonly policy: { readonly isOpen: boolean }) {}

  decide(): Grant | Denial {
    return (this.policy as object | undefined) && !this.policy.isOpen ? deny() : allow();
  }
}

test('a permission that turns out to be created for each request is an error at start', async () => {
  const POLICY = {
    provide: 'POLICY',
    useFactory: async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { isOpen: false };
    },
  };
  restify(Late, { app: 'provided', permissions: [OfRequest] });
  const starting = startApp({ entities: [Late], providers: [POLICY, OfRequest] });
  await expect(starting).rejects.toThrow('it is created for each request');
});

test('a replacement of AllowAny decides', async () => {
  const { client } = await start([
    OWN,
    { provide: AllowAny, useValue: { decide: () => deny({ hides: 'rows' }) } },
  ]);
  expect((await client.get('/rest/v1/provided/open/')).status).toBe(403);
});

test('a permission may come from a factory that waits', async () => {
  const { client } = await start([
    {
      provide: OwnPermission,
      useFactory: async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return new OwnPermission(false);
      },
    },
  ]);
  expect((await client.get('/rest/v1/provided/made/')).status).toBe(403);
  expect((await client.get('/rest/v1/provided/open/')).json).toEqual([]);
});
