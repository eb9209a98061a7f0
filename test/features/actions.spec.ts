// @tags http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HttpCode, Injectable, Req, Res, Scope, StreamableFile, UseGuards } from '@nestjs/common';
import type { CanActivate } from '@nestjs/common';
import {
  Action,
  AllowAny,
  basic,
  CurrentActor,
  IsAuthenticated,
  MANY_TO_MANY_DETAIL_ACTION,
  MANY_TO_MANY_LIST_ACTION,
  NestedAction,
  ONE_TO_MANY_LIST_ACTION,
  ParentPk,
  Pk,
  Restify,
  RestifyController,
  RestifyModule,
} from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { ClubModule } from '../../sample-app/src/club/club.module.js';
import { DeskModule } from '../../sample-app/src/desk/desk.module.js';
import { ENTITIES } from '../../sample-app/src/data-source-options.js';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

describe('the club of the sample application', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, imports: [ClubModule, DeskModule] });
    await started.client.post('/rest/v1/club/member/', { name: 'Ada' });
  });
  afterAll(() => started.close());

  test.each([
    ['GET', '/rest/v1/club/member/1/events/', 200, { msg: 'custom list' }],
    ['GET', '/rest/v1/club/member/1/events', 200, { msg: 'custom list' }],
    ['POST', '/rest/v1/club/member/1/events/', 200, { msg: 'custom create' }],
    ['GET', '/rest/v1/club/member/1/events/a/b%20c/', 200, { msg: 'custom detail', childPk: 'a/b c' }],
    ['GET', '/rest/v1/club/member/1/payments/', 200, { msg: 'custom payments' }],
    ['GET', '/rest/v1/club/member/9/payments/', 404, { detail: 'Not found.' }],
    ['POST', '/rest/v1/club/member/9/events/', 404, { detail: 'Not found.' }],
    ['POST', '/rest/v1/club/member/1/payments/', 405, { detail: 'Method "POST" not allowed.' }],
    ['PUT', '/rest/v1/club/member/1/events/', 405, { detail: 'Method "PUT" not allowed.' }],
    ['GET', '/rest/v1/club/member/1/rename/', 405, { detail: 'Method "GET" not allowed.' }],
    [
      'GET',
      '/rest/v1/club/member/',
      200,
      [
        {
          id: 1,
          name: 'Ada',
          events: '/rest/v1/club/member/1/events/',
          payments: '/rest/v1/club/member/1/payments/',
        },
      ],
    ],
  ])('%s %s answers %i', async (method, path, status, body) => {
    const answer = await started.client.send(method, path);
    expect([answer.status, answer.json]).toEqual([status, body]);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  test('keeps the default for the methods that the detail action does not name', async () => {
    const answer = await started.client.delete('/rest/v1/club/member/1/events/5/');
    expect([answer.status, answer.headers.allow]).toEqual([404, 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS']);
  });

  test('an action uses a service, gets the key in its type, and answers field errors', async () => {
    const renamed = await started.client.post('/rest/v1/club/member/1/rename/', { name: 'Ada L.' });
    expect([renamed.status, renamed.json, renamed.headers.allow]).toEqual([
      200,
      { id: 1, name: 'Ada L.' },
      'POST, OPTIONS',
    ]);
    const refused = await started.client.post('/rest/v1/club/member/1/rename/', {});
    expect([refused.status, refused.json]).toEqual([400, { name: ['This field is required.'] }]);
    expect((await started.client.post('/rest/v1/club/member/7/rename/', { name: 'x' })).status).toBe(404);
    expect((await started.client.patch('/rest/v1/club/member/1/', { name: 'Ada' })).status).toBe(200);
  });

  test('HEAD and OPTIONS follow by themselves', async () => {
    const head = await started.client.send('HEAD', '/rest/v1/club/member/1/payments/');
    expect([head.status, head.text, head.headers.allow]).toEqual([200, '', 'GET, HEAD, OPTIONS']);
    expect((await started.client.send('OPTIONS', '/rest/v1/club/member/1/events/')).headers.allow).toBe(
      'GET, POST, HEAD, OPTIONS',
    );
  });
});

@Restify({ app: 'act', permissions: [IsAuthenticated], through: { tags: { permissions: [AllowAny] } } })
@Entity()
class ActParent {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @OneToMany(() => ActChild, (child) => child.parent) children: Relation<ActChild[]>;
  @ManyToMany(() => ActTag) @JoinTable() tags: Relation<ActTag[]>;
}

@Restify({ app: 'act', operations: [], permissions: [IsAuthenticated] })
@Entity()
class ActChild {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => ActParent, (parent) => parent.children) parent: Relation<ActParent>;
}

@Restify('act')
@Entity()
class ActTag {
  @PrimaryGeneratedColumn() id: number;
}

@Injectable({ scope: Scope.REQUEST })
class Clock {
  private static made = 0;
  readonly number = ++Clock.made;
}

@Injectable()
class Closed implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

interface PlainResponse {
  status(code: number): Record<'json' | 'send', (body: object) => void>;
}

@RestifyController(ActParent)
class ActController {
  constructor(private readonly clock: Clock) {}

  @NestedAction(ONE_TO_MANY_LIST_ACTION, 'children', {
    methods: ['GET', 'DELETE'],
    checkParent: false,
    permissions: [],
  })
  children(request: { readonly method: string }, pk: number): object | undefined {
    return request.method === 'DELETE' ? undefined : { pk, type: typeof pk };
  }

  @NestedAction()
  [`${MANY_TO_MANY_LIST_ACTION}tags`](
    @ParentPk() pk: number,
    @CurrentActor() actor: { name: string } | null,
  ): object {
    return { pk, who: actor?.name };
  }

  @NestedAction(MANY_TO_MANY_DETAIL_ACTION, 'tags', { methods: ['PUT'] })
  tag(_request: object, childPk: string, pk: number): object {
    return { childPk, pk };
  }

  @Action({ detail: false, methods: ['POST'], path: 'import' })
  @HttpCode(202)
  bring(): object {
    return { request: this.clock.number };
  }

  @Action({ detail: true })
  @UseGuards(Closed)
  closed(): object {
    return {};
  }

  @Action({ detail: true })
  own(@Req() _request: object, @Res() response: PlainResponse): void {
    response.status(203)[PLATFORM === 'fastify' ? 'send' : 'json']({ own: true });
  }

  @Action({ detail: true })
  keys(@Pk() pk: number, @ParentPk() parentPk: number): object {
    return { pk, parentPk };
  }

  @Action({ detail: false, methods: ['GET', 'POST'] })
  file(): StreamableFile {
    return new StreamableFile(Buffer.from([0, 255, 10]), {
      type: 'application/pdf',
      disposition: 'attachment; filename="a.pdf"',
    });
  }

  @Action({ detail: true })
  failing(): object {
    throw new Error('secret text');
  }
}

describe('controllers of the application that join generated endpoints', () => {
  let started: StartedApp;
  const as = { headers: { authorization: `Basic ${Buffer.from('ann:x').toString('base64')}` } };
  beforeAll(async () => {
    started = await startApp({
      entities: [ActParent, ActChild, ActTag],
      controllers: [ActController],
      providers: [Clock],
      restifyModules: [
        RestifyModule.forRoot('rest/v1', { authentication: [basic((name) => ({ name }))] }),
        RestifyModule.forRoot('rest/v2', { authentication: [basic((name) => ({ name }))] }),
      ],
    });
    await started.client.post('/rest/v1/act/actparent/', { name: 'p' }, as);
  });
  afterAll(() => started.close());

  test.each(['/rest/v1', '/rest/v2'])('answer below %s, with admission kept', async (prefix) => {
    const { client } = started;
    expect((await client.get(`${prefix}/act/actparent/1/tags/`, as)).json).toEqual({ pk: 1, who: 'ann' });
    expect((await client.get(`${prefix}/act/actparent/import/`, as)).status).toBe(405);
    expect((await client.post(`${prefix}/act/actparent/import/`, {})).status).toBe(401);
    expect((await client.put(`${prefix}/act/actparent/1/tags/a/b/`, {}, as)).json).toEqual({
      childPk: 'a/b',
      pk: 1,
    });
  });

  test('@Pk() is the key of the object of an action with detail, in its type', async () => {
    const { client } = started;
    expect((await client.get('/rest/v1/act/actparent/1/keys/', as)).json).toEqual({ pk: 1, parentPk: 1 });
  });

  test('a nested URL without a default exists by its action alone, with its own permissions and without a look at the parent', async () => {
    const { client } = started;
    expect((await client.get('/rest/v1/act/actparent/1/', as)).json).toMatchObject({
      children: '/rest/v1/act/actparent/1/children/',
    });
    const answer = await client.get('/rest/v1/act/actparent/77/children/');
    expect([answer.status, answer.json, answer.headers.allow]).toEqual([
      200,
      { pk: 77, type: 'number' },
      'GET, DELETE, HEAD, OPTIONS',
    ]);
    const nothing = await client.delete('/rest/v1/act/actparent/1/children/');
    expect([nothing.status, nothing.text]).toEqual([204, '']);
  });

  test('request-scoped dependencies, HttpCode and guards of Nest work', async () => {
    const { client } = started;
    const first = await client.post('/rest/v1/act/actparent/import/', {}, as);
    const second = await client.post('/rest/v1/act/actparent/import/', {}, as);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect((second.json as { request: number }).request).toBe(
      (first.json as { request: number }).request + 1,
    );
    const closed = await client.get('/rest/v1/act/actparent/1/closed/', as);
    expect([closed.status, Object.keys(closed.json as object)]).toEqual([403, ['detail']]);
  });

  test('a file that a method returns is sent as it is, and HEAD has its headers alone', async () => {
    const headers = {
      'content-type': 'application/pdf',
      'content-disposition': 'attachment; filename="a.pdf"',
      'content-length': '3',
      'x-frame-options': 'DENY',
    };
    const path = '/rest/v1/act/actparent/file/';
    const bytes = await fetch(`http://127.0.0.1:${started.port}${path}`, as);
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255, 10]);
    expect(Object.fromEntries(bytes.headers)).toMatchObject(headers);
    const head = await started.client.send('HEAD', path, as);
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers).toMatchObject(headers);
    expect((await started.client.post(path, {}, as)).headers).toMatchObject(headers);
  });

  test("a method may write the response itself, and what it throws is no one else's to read", async () => {
    const own = await started.client.get('/rest/v1/act/actparent/1/own/', as);
    expect([own.status, own.json, own.headers['x-frame-options']]).toEqual([203, { own: true }, 'DENY']);
    const failing = await started.client.get('/rest/v1/act/actparent/1/failing/', as);
    expect([failing.status, failing.json]).toEqual([500, { detail: 'A server error occurred.' }]);
  });

  test('generated endpoints of the same entity stay', async () => {
    const answer = await started.client.patch('/rest/v2/act/actparent/1/', { name: 'q' }, as);
    expect([answer.status, answer.json]).toMatchObject([200, { name: 'q' }]);
    expect((await started.client.get('/rest/v2/act/actparent/1/')).status).toBe(401);
  });
});
