// @tags nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  Action,
  AllowAny,
  ResourceController,
  Restify,
  RestifyController,
  RestifyOperations,
} from 'nestjs-restify';
import type { Operation } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const seen: { readonly where: string; readonly operations: readonly Operation[] }[] = [];

@Injectable()
class Watching implements CanActivate {
  constructor(private readonly operations: RestifyOperations) {}

  canActivate(context: ExecutionContext): boolean {
    seen.push({ where: 'model', operations: this.operations.of(context) });
    return true;
  }
}

/** Who may create may not change. */
@Injectable()
class NoChanges implements CanActivate {
  constructor(private readonly operations: RestifyOperations) {}

  canActivate(context: ExecutionContext): boolean {
    const operations = this.operations.of(context);
    seen.push({ where: 'application', operations });
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    return headers['x-role'] !== 'maker' || !operations.includes('update');
  }
}

@Restify({
  app: 'ops',
  permissions: [AllowAny],
  guards: [Watching],
  bulk: { upsert: ['code'] },
  filterFields: ['code'],
  through: { tags: { guards: [Watching], bulk: true } },
})
@Entity('ops_thing')
class OpsThing {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10, unique: true }) code: string;
  @Column({ type: 'int', default: 0 }) votes: number;
  @ManyToMany(() => OpsTag) @JoinTable({ name: 'ops_thing_tag' }) tags: Relation<OpsTag[]>;
}

@Restify({ app: 'ops', permissions: [AllowAny], guards: [Watching] })
@Entity('ops_tag')
class OpsTag {
  @PrimaryGeneratedColumn() id: number;
}

@RestifyController(OpsTag)
class OpsTagController extends ResourceController<OpsTag> {
  override create(request: object): Promise<unknown> {
    return super.create(request);
  }

  @Action({ detail: false, methods: ['POST'] })
  sweep(): object {
    return {};
  }
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({
    entities: [OpsThing, OpsTag],
    controllers: [OpsTagController],
    restify: { permissions: [AllowAny] },
    providers: [Watching, { provide: APP_GUARD, useClass: NoChanges }],
    undescribed: [403],
  });
});
afterAll(() => started.close());
beforeEach(() => {
  seen.length = 0;
});

test.each<[method: string, path: string, body: unknown, operations: readonly Operation[]]>([
  ['GET', 'opsthing/', undefined, ['list']],
  ['HEAD', 'opsthing/', undefined, ['list']],
  ['OPTIONS', 'opsthing/', undefined, []],
  ['GET', 'opsthing/1/', undefined, ['retrieve']],
  ['PUT', 'opsthing/1/', {}, ['update']],
  ['PATCH', 'opsthing/1/', {}, ['partialUpdate']],
  ['DELETE', 'opsthing/1/', undefined, ['destroy']],
  ['POST', 'opsthing/', { code: 'a' }, ['create']],
  ['POST', 'opsthing/?upsert=false', { code: 'b' }, ['create']],
  ['POST', 'opsthing/?upsert=true', { code: 'a' }, ['create', 'update']],
  ['POST', 'opsthing?upsert=TRUE', [{ code: 'a' }], ['create', 'update']],
  ['POST', 'opsthing/?upsert=1', [], ['create', 'update']],
  ['POST', 'opsthing/?%75psert=true&x=1', [], ['create', 'update']],
  ['POST', 'opsthing/?upsert=false&upsert=true', [], ['create', 'update']],
  ['POST', 'opsthing/?upsert=perhaps', [], ['create', 'update']],
  ['PATCH', 'opsthing/?keys=9', {}, ['partialUpdate']],
  ['DELETE', 'opsthing/?keys=9', undefined, ['destroy']],
  ['GET', 'opsthing/1/tags/', undefined, ['list']],
  ['POST', 'opsthing/1/tags/?upsert=true', {}, ['create']],
  ['POST', 'opstag/?upsert=true', {}, ['create']],
  ['POST', 'opstag/sweep/', {}, []],
])(
  '%s %s with a body %j has the operations %j in guards of the model and of the application',
  async (method, path, body, operations) => {
    await started.client.send(method, `/rest/v1/ops/${path}`, { body });
    expect(seen).toEqual([
      { where: 'application', operations },
      { where: 'model', operations },
    ]);
  },
);

test('a guard can deny the changes of an upsert to callers who may only create', async () => {
  const { client } = started;
  await client.post('/rest/v1/ops/opsthing/', { code: 'kept', votes: 1 });
  const asMaker = { headers: { 'x-role': 'maker' } };
  expect(
    (await client.post('/rest/v1/ops/opsthing/?upsert=true', { code: 'kept', votes: 9 }, asMaker)).status,
  ).toBe(403);
  expect((await client.post('/rest/v1/ops/opsthing/', { code: 'new', votes: 9 }, asMaker)).status).toBe(201);
  expect(await started.dataSource.manager.findOneBy(OpsThing, { code: 'kept' })).toMatchObject({ votes: 1 });
});
