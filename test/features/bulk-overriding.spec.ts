// @tags db
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type {
  CallHandler,
  CanActivate,
  ExecutionContext,
  NestInterceptor,
  PipeTransform,
} from '@nestjs/common';
import { Length } from 'class-validator';
import {
  InvalidInput,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type { HookContext, RowFilter, Write } from 'nestjs-restify';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { BeforeInsert, Column, Entity, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import type { Client } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

let seen: string[] = [];

@Injectable()
class Counting implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(
        map((value: unknown) =>
          Array.isArray(value) ? { count: value.length, rows: value as unknown } : value,
        ),
      );
  }
}

@Injectable()
class Shouting implements PipeTransform {
  transform(value: unknown, { type }: { readonly type: string }): unknown {
    const { text } = value as { text?: unknown };
    return type === 'body' && typeof text === 'string' ? { ...(value as object), text: `${text}!` } : value;
  }
}

@Injectable()
class Locked implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return (
      context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>().headers['x-locked'] ===
      undefined
    );
  }
}

@Restify({ app: 'bulkover', bulk: { upsert: ['text'] }, guards: [Locked] })
@Entity('bulkover_task')
class Task {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) @Length(2, 20, { message: 'Too short.' }) text: string;
  @Column({ default: 'open' }) state: string;
  @Column({ length: 20, nullable: true, type: 'varchar' }) made: string | null;
  @BeforeInsert() note(): void {
    seen.push(`insert ${this.text}`);
  }
}

@RestifyController(Task)
class TaskController extends ResourceController<Task> {
  override scope(): RowFilter {
    return where('state', 'ne', 'gone');
  }

  override valuesOnCreate({ actor }: HookContext): { readonly made: string } {
    return { made: (actor as { name: string } | null)?.name ?? 'nobody' };
  }

  override async beforeWrite({ entity, operation }: Write<Task>): Promise<void> {
    seen.push(`before ${operation} ${entity.text}`);
    if (entity.text === 'bad one') throw InvalidInput.of('text', 'Not this one.');
    await Promise.resolve();
  }

  override async afterWrite({ entity, operation }: Write<Task>): Promise<void> {
    seen.push(`after ${operation} ${entity.text}`);
    if (entity.text === 'late one') throw new Error('too late');
    await Promise.resolve();
  }
}

@Restify({ app: 'bulkover', bulk: true, interceptors: [Counting], pipes: [Shouting] })
@Entity('bulkover_loud')
class Loud {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) text: string;
}

@Restify({ app: 'bulkover', bulk: { upsert: ['text'] }, conditional: true })
@Entity('bulkover_page')
class Page {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) text: string;
  @VersionColumn() version: number;
}

const [TASKS, LOUD, PAGES] = [
  '/rest/v1/bulkover/task/',
  '/rest/v1/bulkover/loud/',
  '/rest/v1/bulkover/page/',
];

onEachDatabase('bulk writes beside what the application adds', (database) => {
  let started: StartedApp;
  let client: Client;
  beforeAll(async () => {
    started = await startApp({ entities: [Task, Loud, Page], database, controllers: [TaskController] });
    client = started.client;
  });
  beforeEach(async () => {
    for (const entity of [Task, Loud, Page])
      await started.dataSource.manager.createQueryBuilder().delete().from(entity).execute();
    seen = [];
  });
  afterAll(() => started.close());
  const texts = async (): Promise<readonly string[]> =>
    (await started.dataSource.getRepository(Task).find({ order: { text: 'ASC' } })).map(({ text }) => text);

  test('hooks, listeners and validators are called for each written object, and for no other one', async () => {
    expect(
      await client.post(TASKS, [{ text: 'aa' }, { text: 'b' }, { text: 'cc', state: null }]),
    ).toMatchObject({
      status: 400,
      json: [{}, { text: ['Too short.'] }, { state: ['This field may not be null.'] }],
    });
    expect(seen).toEqual([]);
    expect(await client.post(TASKS, [{ text: 'aa' }, { text: 'bb' }])).toMatchObject({
      status: 201,
      json: [
        { text: 'aa', made: 'nobody' },
        { text: 'bb', made: 'nobody' },
      ],
    });
    expect(seen).toEqual([
      'before create aa',
      'insert aa',
      'after create aa',
      'before create bb',
      'insert bb',
      'after create bb',
    ]);
    seen = [];
    const [one, two] = (await client.get(TASKS)).json as readonly { id: number }[];
    expect(
      await client.patch(TASKS, [
        { id: one?.id, text: 'x' },
        { id: two?.id, text: 'y' },
      ]),
    ).toMatchObject({ status: 400, json: [{ text: ['Too short.'] }, { text: ['Too short.'] }] });
    expect(await client.patch(`${TASKS}?state=open`, { text: 'z' })).toMatchObject({
      status: 400,
      json: { text: ['Too short.'] },
    });
    expect(seen).toEqual([]);
    expect((await client.patch(`${TASKS}?state=open`, { state: 'done' })).status).toBe(200);
    expect((await client.delete(`${TASKS}?state=done`)).status).toBe(204);
    expect(seen).toEqual([
      'before partialUpdate aa',
      'after partialUpdate aa',
      'before partialUpdate bb',
      'after partialUpdate bb',
      'before destroy aa',
      'after destroy aa',
      'before destroy bb',
      'after destroy bb',
    ]);
  });

  test('what a hook throws undoes all of them', async () => {
    expect(
      await client.post(TASKS, [{ text: 'aa' }, { text: 'bad one' }, { text: 'bad one' }]),
    ).toMatchObject({ status: 400, json: [{}, { text: ['Not this one.'] }, { text: ['Not this one.'] }] });
    expect(await client.post(TASKS, [{ text: 'aa' }, { text: 'late one' }])).toMatchObject({
      status: 500,
      json: { detail: 'A server error occurred.' },
    });
    expect(await texts()).toEqual([]);
  });

  test('the scope of a class rules which rows there are', async () => {
    await started.dataSource.getRepository(Task).save([{ text: 'aa', state: 'gone' }, { text: 'bb' }]);
    const [hidden] = await started.dataSource.getRepository(Task).findBy({ text: 'aa' });
    expect((await client.patch(`${TASKS}?text__ne=x`, {})).status).toBe(400);
    expect(await client.patch(`${TASKS}?keys=${hidden?.id ?? 0}`, { state: 'open' })).toMatchObject({
      status: 400,
    });
    expect(await client.post(`${TASKS}?upsert=true`, [{ text: 'aa', state: 'open' }])).toMatchObject({
      status: 400,
      json: [{ text: ['This field must be unique.'] }],
    });
    expect(
      await client.post(`${TASKS}?upsert=true`, [{ text: 'bb', state: 'done' }, { text: 'cc' }]),
    ).toMatchObject({
      status: 201,
      json: [
        { text: 'bb', state: 'done', made: null },
        { text: 'cc', made: 'nobody' },
      ],
    });
    expect((await client.patch(`${TASKS}?state=done`, { state: 'gone' })).status).toBe(403);
  });

  test('guards stand before them', async () => {
    expect((await client.delete(`${TASKS}?state=open`, { headers: { 'x-locked': 'yes' } })).status).toBe(403);
  });

  test('interceptors are given the whole list, and pipes one object at a time', async () => {
    expect(await client.post(LOUD, [{ text: 'a' }, { text: 'b' }])).toMatchObject({
      status: 201,
      json: { count: 2, rows: [{ text: 'a!' }, { text: 'b!' }] },
    });
    expect(await client.post(LOUD, [{ text: 'a' }, 5])).toMatchObject({
      status: 400,
      json: [{}, { non_field_errors: ['Invalid data. Expected a dictionary, but got int.'] }],
    });
    expect(await client.patch(`${LOUD}?text=a!`, { text: 'c' })).toMatchObject({
      status: 200,
      json: { count: 1, rows: [{ text: 'c!' }] },
    });
    expect((await client.delete(`${LOUD}?text=c!`)).status).toBe(204);
    expect((await client.get(LOUD)).json).toMatchObject({ count: 1 });
  });

  test('no condition of a request is about many objects', async () => {
    const made = await client.post(PAGES, { text: 'a' });
    expect([made.status, made.headers.etag === undefined]).toEqual([201, false]);
    const many = await client.post(PAGES, [{ text: 'b' }, { text: 'c' }]);
    expect([many.status, many.headers.etag]).toEqual([201, undefined]);
    const headers = { 'if-match': String(made.headers.etag) };
    expect((await client.patch(`${PAGES}?text=a`, { text: 'x' }, { headers })).status).toBe(412);
    for (const body of [{ text: 'a' }, [{ text: 'a' }]])
      expect((await client.post(`${PAGES}?upsert=true`, body, { headers })).status).toBe(412);
    expect(
      (
        await client.delete(`${PAGES}?text=a`, {
          headers: { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
        })
      ).status,
    ).toBe(412);
    expect(await client.patch(`${PAGES}?text=a`, { text: 'x' })).toMatchObject({
      status: 200,
      json: [{ text: 'x', version: 2 }],
    });
  });

  test('the application itself writes one object at a time, on the URL of that', async () => {
    const tasks = started.app.get(RestifyResources).of(Task).as(null);
    const { id } = (await tasks.create({ text: 'aa' })) as { id: number };
    expect(await tasks.partialUpdate(id, { state: 'done' })).toMatchObject({ id, state: 'done' });
    await tasks.destroy(id);
    expect(await texts()).toEqual([]);
  });
});
