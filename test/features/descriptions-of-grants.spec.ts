// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  Action,
  allow,
  deny,
  IsAdmin,
  ModelPermissions,
  ResourceController,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission, RouteDescription } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const AS_DESCRIPTION = { accept: 'application/vnd.restify.description+json' };

function nameOf({ actor }: AccessContext): string {
  return (actor as { name: string } | null)?.name ?? '';
}

/** Writers may not read at all, and others read two fields and write one. */
class Narrow implements Permission {
  decide(context: AccessContext): Grant | Denial {
    const { method } = context;
    if (method === 'OPTIONS') return allow();
    if (method !== 'GET') return allow({ writable: ['title', 'secret_word'] });
    return nameOf(context) === 'writer' ? deny() : allow({ readable: ['id', 'title'] });
  }
}

class Size {
  @Column({ default: 1 }) width: number;
  @Column({ default: 1, select: false, insert: false, update: false }) hidden: number;
}

@Restify({ app: 'dsn', permissions: [Narrow], writeOnly: ['secret_word'] })
@Entity('dsn_folder')
class Folder {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @Column({ default: '' }) secret: string;
  @Column({ default: '' }) secret_word: string;
  @Column({ type: 'simple-enum', enum: ['top', 'low'], default: 'low' }) level: string;
  @ManyToOne(() => Folder, { nullable: true }) above: Relation<Folder> | null;
}

@Restify({ app: 'dsn', writeOnly: ['pin'] })
@Entity('dsn_sheet')
class Sheet {
  @PrimaryGeneratedColumn() id: number;
  @Column({ update: false, default: '' }) pin: string;
  @Column(() => Size) size: Size;
}

@Restify({ app: 'dsn', permissions: [ModelPermissions] })
@Entity('dsn_job')
class Job {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: '' }) name: string;
}

@RestifyController(Job)
class JobController extends ResourceController<Job> {
  @Action({ path: 'run', detail: true, methods: ['GET', 'POST'] }) run(): unknown {
    return { done: true };
  }
  @Action({ path: 'all', detail: false, methods: ['POST'] }) all(): unknown {
    return { done: true };
  }
  @Action({ path: 'reset', detail: true, methods: ['POST'], permissions: [IsAdmin] }) reset(): unknown {
    return { done: true };
  }
}

const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  adder: ['dsn.add_job'],
  changer: ['dsn.change_job'],
  viewer: ['dsn.view_job'],
};

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({
    entities: [Folder, Sheet, Job],
    controllers: [JobController],
    configure: (app) => {
      app.use((request: { user?: object; headers: Record<string, string> }, _: unknown, next: () => void) => {
        const name = request.headers['x-user'];
        if (name !== undefined) request.user = { name, permissions: PERMISSIONS[name] ?? [] };
        next();
      });
    },
  });
  await started.dataSource.manager.save(Job, { name: 'One' });
});
afterAll(() => started.close());

async function describeUrl(path: string, user: string): Promise<RouteDescription> {
  const headers = { ...AS_DESCRIPTION, 'x-user': user };
  const { status, json } = await started.client.get(`/rest/v1/dsn/${path}`, { headers });
  expect(status).toBe(200);
  return json as RouteDescription;
}

describe('the fields of `actions`', () => {
  test('are those that the caller may write, and those that the response to the write shows', async () => {
    for (const [path, method] of [
      ['folder/', 'POST'],
      ['folder/1/', 'PUT'],
    ] as const) {
      const { actions } = await describeUrl(path, 'reader');
      const fields = actions[method] ?? {};
      expect(Object.keys(fields).sort()).toEqual(['id', 'secret_word', 'title']);
      expect(fields.id?.read_only).toBe(true);
      expect(fields.title?.read_only).toBe(false);
    }
  });

  test('are those of the grant of the write for a caller who may not read', async () => {
    const { actions } = await describeUrl('folder/', 'writer');
    expect(Object.keys(actions.POST ?? {})).toEqual(
      expect.arrayContaining(['id', 'title', 'secret', 'level', 'above']),
    );
  });

  test('have none that only another method writes, and none that is hidden in an embedded object', async () => {
    const { actions } = await describeUrl('sheet/', 'reader');
    expect(Object.keys(actions.POST ?? {}).sort()).toEqual(['id', 'pin', 'size']);
    expect(Object.keys(actions.POST?.size?.children ?? {})).toEqual(['width']);
    const { actions: ofObject } = await describeUrl('sheet/1/', 'reader');
    expect(Object.keys(ofObject.PUT ?? {}).sort()).toEqual(['id', 'size']);
  });
});

describe('the methods at the URL of an action', () => {
  test.each([
    ['adder', { run: [], reset: [], all: ['POST'] }],
    ['changer', { run: ['POST'], reset: [], all: [] }],
    ['viewer', { run: ['GET'], reset: [], all: [] }],
    ['nobody', { run: [], reset: [], all: [] }],
  ])('are those that %s may call', async (user, expected) => {
    const headers = { 'x-user': user };
    const { custom } = await describeUrl('job/', user);
    for (const [name, methods] of Object.entries(expected)) {
      const path = name === 'all' ? 'job/all/' : `job/1/${name}/`;
      const { json } = await started.client.send('OPTIONS', `/rest/v1/dsn/${path}`, { headers });
      expect([name, (json as RouteDescription).methods]).toEqual([name, methods]);
      expect(custom.find((each) => each.name === name)?.methods ?? []).toEqual(methods);
      const { status } = await started.client.send('POST', `/rest/v1/dsn/${path}`, { headers });
      expect(status === 200).toBe((methods as readonly string[]).includes('POST'));
    }
  });
});
