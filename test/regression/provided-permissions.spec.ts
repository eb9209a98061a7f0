// @tags core
import { afterEach, expect, test } from '@jest/globals';
import { allow, AllowAny, deny, IsAuthenticated, Restify } from 'nestjs-restify';
import type { Denial, Grant, Permission } from 'nestjs-restify';
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

const ENTITIES = [Person, Open, Made];
let started: StartedApp | undefined;

async function start(providers: AppSettings['providers']): Promise<StartedApp> {
  started = await startApp({ entities: ENTITIES, providers: [...(providers ?? [])], undescribed: 'all' });
  return started;
}

afterEach(async () => {
  await started?.close();
  started = undefined;
});

const OWN = { provide: OwnPermission, useValue: new OwnPermission(true) };

/** Everybody may write a salary, and nobody may read it. */
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
