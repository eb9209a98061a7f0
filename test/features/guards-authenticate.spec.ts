// @tags http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  ForbiddenException,
  Injectable,
  NotFoundException,
  ServiceUnavailableException,
  SetMetadata,
  UnauthorizedException,
} from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import {
  Action,
  allow,
  AllowAny,
  basic,
  CurrentActor,
  deny,
  guard,
  IdempotencyRecord,
  IsAdmin,
  IsAuthenticated,
  IsAuthenticatedOrReadOnly,
  NestedAction,
  MANY_TO_MANY_LIST_ACTION,
  Restify,
  RestifyController,
  RestifyOpenApi,
  RestifyResources,
  timingSafeEqual,
  where,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission, Denial } from 'nestjs-restify';
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Strategy } from 'passport';
import { from, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

interface GaRequest extends IncomingMessage {
  user?: unknown;
}

function requestOf(context: ExecutionContext): GaRequest {
  return context.switchToHttp().getRequest<GaRequest>();
}

/** `Bearer of-ada` is ada's; the answer comes later for some. */
class GaTokens extends Strategy {
  override authenticate({ headers }: IncomingMessage): void {
    const [scheme, token = ''] = (headers.authorization ?? '').split(' ');
    const name = /^of-(\w+)$/.exec(token)?.[1];
    const tell = (): void => {
      if (scheme === 'Bearer' && name !== undefined) this.success({ id: name, name });
      else this.fail(401);
    };
    if (token === 'storm') this.error(new Error('the token service at secret-host is away'));
    else if (name?.startsWith('slow') === true) void pause(20).then(tell);
    else tell();
  }
}

@Injectable()
class GaTokenStrategy extends PassportStrategy(GaTokens, 'ga-tokens') {
  validate(): void {
    // The strategy tells for itself.
  }
}

const TokenGuard = AuthGuard('ga-tokens');

/** The way of Nest's documents to let somebody in without credentials. */
@Injectable()
class PublicOrToken extends TokenGuard {
  private readonly reflector = new Reflector();

  override canActivate(context: ExecutionContext): boolean | Promise<boolean> | Observable<boolean> {
    const open = this.reflector.getAllAndOverride<boolean | undefined>('ga-public', [
      context.getHandler(),
      context.getClass(),
    ]);
    return open === true || super.canActivate(context);
  }
}

/** Lets the anonymous pass, as an override of handleRequest does. */
@Injectable()
class OptionalToken extends TokenGuard {
  override handleRequest<User>(_error: unknown, user: User): User {
    return user;
  }
}

@Injectable()
class GaMembers {
  readonly banned = new Set(['mallory']);
  readonly seen: string[] = [];
}

/** Written by hand, with something injected: behind the one that knows the caller. */
@Injectable()
class NotBanned implements CanActivate {
  constructor(private readonly members: GaMembers) {}

  canActivate(context: ExecutionContext): Observable<boolean> {
    const { user } = requestOf(context) as { user?: { name: string } };
    if (!user) return of(true);
    this.members.seen.push(user.name);
    return from([!this.members.banned.has(user.name)]);
  }
}

@Injectable()
class ByDoor implements CanActivate {
  canActivate(context: ExecutionContext): Observable<boolean> {
    const request = requestOf(context);
    if (request.headers['x-door'] === undefined) return of(false);
    if (request.headers['x-door'] === 'away') throw new ServiceUnavailableException('Come back tomorrow.');
    request.user = { name: 'door' };
    return of(true);
  }
}

/** Tells who may not, before it is asked whether there is anything. */
@Injectable()
class ExistingFirst implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { url = '' } = requestOf(context);
    if (url.includes('/404/')) throw new NotFoundException();
    if (url.includes('/403/')) throw new ForbiddenException('Not yours.');
    return true;
  }
}

@Injectable()
class GaKeys implements CanActivate {
  canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    if (request.headers['x-key'] !== 'sesame') throw new UnauthorizedException('No key of ours: secret');
    request.user = { name: 'machine' };
    return Promise.resolve(true);
  }
}

@Injectable()
class GaOwn implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    if (actor === null) return deny({ hides: 'rows' });
    return allow({ rows: where('owner', (actor as { name: string }).name) });
  }
}

@Restify({ app: 'ga', permissions: [AllowAny], through: { tags: { guards: [ByDoor] } } })
@Entity()
class GaBook {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => GaNote, (note) => note.book) notes: Relation<GaNote[]>;
  @ManyToMany(() => GaTag) @JoinTable() tags: Relation<GaTag[]>;
}

@Restify({
  app: 'ga',
  permissions: [IsAuthenticated, GaOwn],
  guards: [PublicOrToken, NotBanned],
  bulk: true,
  conditional: true,
  idempotency: true,
})
@Entity()
class GaNote {
  @PrimaryGeneratedColumn() id: number;
  @Column() owner: string;
  @Column({ default: '' }) text: string;
  @ManyToOne(() => GaBook, (book) => book.notes, { nullable: true }) book: Relation<GaBook> | null;
}

@Restify({ app: 'ga', permissions: [AllowAny] })
@Entity()
class GaTag {
  @PrimaryGeneratedColumn() id: number;
}

/** Nothing but the prefix's permission: IsAuthenticated. */
@Restify({ app: 'ga', guards: [TokenGuard, ExistingFirst] })
@Entity()
class GaPlain {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'ga', guards: [TokenGuard, ExistingFirst], permissions: [IsAdmin] })
@Entity()
class GaAdmin {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'ga', authentication: [guard(TokenGuard, 'Bearer')], permissions: [AllowAny] })
@Entity()
class GaNamed {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'ga', authentication: [OptionalToken], permissions: [IsAuthenticatedOrReadOnly] })
@Entity()
class GaOptional {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({
  app: 'ga',
  authentication: [
    TokenGuard,
    basic((name, password) => timingSafeEqual(password, 'right') && { name }),
    guard(GaKeys, { header: 'X-Key', challenge: 'Key' }),
  ],
})
@Entity()
class GaMixed {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'ga', authentication: [guard(ByDoor, { header: 'X-Door' })], permissions: [AllowAny] })
@Entity()
class GaDoor {
  @PrimaryGeneratedColumn() id: number;
}

function telling(entity: object): new () => object {
  @RestifyController(entity)
  class Telling {
    @Action({ detail: false })
    me(@CurrentActor() actor: object | null): object {
      return { actor };
    }
  }
  return Telling;
}

@RestifyController(GaNote)
class GaNotes {
  @Action({ detail: false })
  me(@CurrentActor() actor: object | null): object {
    return { actor };
  }

  @Action({ detail: false, permissions: [AllowAny] })
  @SetMetadata('ga-public', true)
  welcome(): object {
    return { hello: 'everybody' };
  }
}

@RestifyController(GaBook)
class GaBooks {
  @NestedAction(MANY_TO_MANY_LIST_ACTION, 'tags')
  tags(_request: object, pk: number): object {
    return [{ of: pk }];
  }
}

const NOT_PROVIDED = { detail: 'Authentication credentials were not provided.' };
const DENIED = { detail: 'You do not have permission to perform this action.' };
const INVALID = { detail: 'Invalid token.' };

const as = (name: string, more: Record<string, string> = {}): { headers: Record<string, string> } => ({
  headers: { authorization: `Bearer of-${name}`, ...more },
});

const shown = ({ status, json }: Answer): [number, unknown] => [status, json];

describe('guards in the place of authentication', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [
        GaBook,
        GaNote,
        GaTag,
        GaPlain,
        GaAdmin,
        GaNamed,
        GaOptional,
        GaMixed,
        GaDoor,
        IdempotencyRecord,
      ],
      providers: [GaTokenStrategy, GaMembers, NotBanned],
      controllers: [GaNotes, GaBooks, ...[GaNamed, GaOptional, GaMixed, GaDoor].map(telling)],
      restify: { permissions: [IsAuthenticated], authenticationThrottle: { perAddress: 1000 } },
    });
    await started.client.post('/rest/v1/ga/gabook/', {});
    for (const name of ['ada', 'eve'])
      await started.client.post('/rest/v1/ga/ganote/', { owner: name, book: 1 }, as(name));
  });
  afterAll(() => started.close());

  test.each([
    ['GET', '/rest/v1/ga/ganote/'],
    ['HEAD', '/rest/v1/ga/ganote/'],
    ['OPTIONS', '/rest/v1/ga/ganote/'],
    ['POST', '/rest/v1/ga/ganote/'],
    ['PUT', '/rest/v1/ga/ganote/'],
    ['PATCH', '/rest/v1/ga/ganote/?owner=ada'],
    ['DELETE', '/rest/v1/ga/ganote/?owner=ada'],
    ['GET', '/rest/v1/ga/ganote/1/'],
    ['GET', '/rest/v1/ga/ganote/99/'],
    ['GET', '/rest/v1/ga/ganote/me/'],
    ['GET', '/rest/v1/ga/gabook/1/notes/'],
    ['OPTIONS', '/rest/v1/ga/gabook/1/notes/'],
    ['GET', '/rest/v1/ga/gabook/99/notes/'],
    ['GET', '/rest/v1/ga/gaplain/'],
  ])('AuthGuard alone refuses the anonymous with 401: %s %s', async (method, path) => {
    for (const headers of [{}, { authorization: 'Bearer wrong' }] as Record<string, string>[]) {
      const answer = await started.client.send(method, path, {
        headers,
        body: method === 'POST' ? {} : undefined,
      });
      expect(answer.status).toBe(401);
      if (method !== 'HEAD') expect(answer.json).toEqual('authorization' in headers ? INVALID : NOT_PROVIDED);
      expect(answer.headers['www-authenticate']).toBeUndefined();
      expect(answer.headers.allow).toContain('OPTIONS');
    }
  });

  test('what they set is the actor: of grants, rows, actions and nested URLs', async () => {
    expect(shown(await started.client.get('/rest/v1/ga/ganote/', as('ada')))).toEqual([
      200,
      [{ id: 1, owner: 'ada', text: '', book: 1 }],
    ]);
    expect((await started.client.get('/rest/v1/ga/ganote/2/', as('ada'))).status).toBe(404);
    expect((await started.client.get('/rest/v1/ga/ganote/me/', as('eve'))).json).toEqual({
      actor: { id: 'eve', name: 'eve' },
    });
    expect((await started.client.get('/rest/v1/ga/gabook/1/notes/', as('eve'))).json).toEqual([
      { id: 2, owner: 'eve', text: '', book: 1 },
    ]);
    expect((await started.client.send('OPTIONS', '/rest/v1/ga/ganote/', as('eve'))).status).toBe(200);
    expect((await started.client.send('HEAD', '/rest/v1/ga/ganote/', as('eve'))).status).toBe(200);
    const others = await started.client.post('/rest/v1/ga/ganote/', { owner: 'eve' }, as('ada'));
    expect(shown(others)).toEqual([403, DENIED]);
  });

  test('all run in order, behind each other', async () => {
    const { seen } = started.app.get(GaMembers);
    seen.length = 0;
    expect(shown(await started.client.get('/rest/v1/ga/ganote/', as('mallory')))).toEqual([403, DENIED]);
    expect((await started.client.get('/rest/v1/ga/ganote/')).status).toBe(401);
    expect(seen).toEqual(['mallory']);
  });

  test('are given the handler and the class, so that metadata opens an action', async () => {
    expect((await started.client.get('/rest/v1/ga/ganote/welcome/')).json).toEqual({
      hello: 'everybody',
    });
  });

  test('come before the method, the form, the size and the type of a body', async () => {
    const path = '/rest/v1/ga/gaplain/';
    for (const [method, options] of [
      ['PROPFIND', {}],
      ['DELETE', {}],
      ['GET', { headers: { accept: 'text/html' } }],
      ['POST', { raw: 'x', headers: { 'content-type': 'text/plain' } }],
      ['POST', { raw: '{', headers: { 'content-type': 'application/json' } }],
      ['POST', { raw: `"${'x'.repeat(200_000)}"`, headers: { 'content-type': 'application/json' } }],
    ] as const) {
      expect([method, (await started.client.send(method, path, options)).status]).toEqual([method, 401]);
    }
    const long = {
      raw: `"${'x'.repeat(200_000)}"`,
      headers: { ...as('ada').headers, 'content-type': 'application/json' },
    };
    expect((await started.client.send('POST', path, long)).status).toBe(413);
    expect((await started.client.send('DELETE', path, as('ada'))).status).toBe(405);
  });

  test('a guard that depends on an object reveals nothing to callers whom it rejects', async () => {
    for (const pk of ['404', '403', '1']) {
      expect((await started.client.get(`/rest/v1/ga/gaplain/${pk}/`)).status).toBe(401);
      expect(shown(await started.client.get(`/rest/v1/ga/gaadmin/${pk}/`, as('ada')))).toEqual([403, DENIED]);
    }
    expect(shown(await started.client.get('/rest/v1/ga/gaplain/403/', as('ada')))).toEqual([
      403,
      { detail: 'Not yours.' },
    ]);
    expect((await started.client.get('/rest/v1/ga/gaplain/404/', as('ada'))).status).toBe(404);
  });

  test('the guards of a through model stand before its nested URLs', async () => {
    const path = '/rest/v1/ga/gabook/1/tags/';
    expect(shown(await started.client.get(path, as('ada')))).toEqual([403, DENIED]);
    expect(shown(await started.client.get(path, { headers: { 'x-door': 'blue' } }))).toEqual([
      200,
      [{ of: 1 }],
    ]);
    expect(shown(await started.client.get(path, { headers: { 'x-door': 'away' } }))).toEqual([
      503,
      { detail: 'Come back tomorrow.' },
    ]);
  });

  test('one that fails is 503, without its cause', async () => {
    const answer = await started.client.get('/rest/v1/ga/gaplain/', {
      headers: { authorization: 'Bearer storm' },
    });
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain('secret');
  });

  test('an Idempotency-Key and an ETag are those of their actor', async () => {
    const send = (name: string): Promise<Answer> =>
      started.client.post(
        '/rest/v1/ga/ganote/',
        { owner: name, text: 'once' },
        as(name, { 'idempotency-key': 'one' }),
      );
    const first = await send('ada');
    const again = await send('ada');
    const other = await send('eve');
    expect([first.status, again.status, other.status]).toEqual([201, 201, 201]);
    expect(again.text).toBe(first.text);
    expect(other.json).toMatchObject({ owner: 'eve' });
    const { id } = first.json as { id: number };
    const got = await started.client.get(`/rest/v1/ga/ganote/${id}/`, as('ada'));
    const match = { 'if-none-match': got.headers.etag ?? '' };
    expect((await started.client.get(`/rest/v1/ga/ganote/${id}/`, as('ada', match))).status).toBe(304);
    expect((await started.client.get(`/rest/v1/ga/ganote/${id}/`, { headers: match })).status).toBe(401);
    expect((await started.client.get(`/rest/v1/ga/ganote/${id}/`, as('eve', match))).status).toBe(404);
    const both = await started.client.delete('/rest/v1/ga/ganote/?text=once', as('ada'));
    expect(both.status).toBeLessThan(300);
    expect((await started.client.get(`/rest/v1/ga/ganote/?text=once`, as('eve'))).json).toHaveLength(1);
  });

  test('concurrent requests are independent', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `${index % 2 === 0 ? 'slow' : 'fast'}${index}`);
    const answers = await Promise.all(
      names.map((name, index) =>
        started.client.get('/rest/v1/ga/ganote/me/', index % 5 === 4 ? {} : as(name)),
      ),
    );
    answers.forEach((answer, index) => {
      const name = names[index];
      expect(shown(answer)).toEqual(
        index % 5 === 4 ? [401, NOT_PROVIDED] : [200, { actor: { id: name, name } }],
      );
    });
  });

  test('AuthGuard in authentication is named in the document, and its 401 has a challenge', async () => {
    const refused = await started.client.get('/rest/v1/ga/ganamed/me/');
    expect(shown(refused)).toEqual([401, NOT_PROVIDED]);
    expect(refused.headers['www-authenticate']).toBe('Bearer realm="api"');
    expect(
      shown(await started.client.get('/rest/v1/ga/ganamed/me/', { headers: { authorization: 'Bearer x' } })),
    ).toEqual([401, INVALID]);
    expect((await started.client.get('/rest/v1/ga/ganamed/me/', as('ada'))).json).toEqual({
      actor: { id: 'ada', name: 'ada' },
    });
    const empty = { openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths: {} };
    const { paths, components } = started.app.get(RestifyOpenApi).extend(empty) as unknown as {
      paths: Record<string, { get: { security: unknown; responses: object } }>;
      components: { securitySchemes: object };
    };
    expect(components.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer' },
      basic: { type: 'http', scheme: 'basic' },
      'header-x-key': { type: 'apiKey', in: 'header', name: 'x-key' },
      'header-x-door': { type: 'apiKey', in: 'header', name: 'x-door' },
    });
    expect(paths['/rest/v1/ga/ganamed']?.get.security).toEqual([{ bearer: [] }]);
    expect(paths['/rest/v1/ga/gamixed']?.get.security).toEqual([{ basic: [] }, { 'header-x-key': [] }]);
    expect(Object.keys(paths['/rest/v1/ga/ganote']?.get.responses ?? {})).toEqual(
      expect.arrayContaining(['401', '403', '429']),
    );
  });

  test('one that lets the anonymous pass leaves them to the permissions', async () => {
    expect((await started.client.get('/rest/v1/ga/gaoptional/me/')).json).toEqual({ actor: null });
    expect(shown(await started.client.post('/rest/v1/ga/gaoptional/', {}))).toEqual([403, DENIED]);
    expect((await started.client.post('/rest/v1/ga/gaoptional/', {}, as('ada'))).status).toBe(201);
  });

  test.each([
    ['the guard', as('ada').headers, { id: 'ada', name: 'ada' }],
    [
      'another scheme',
      { authorization: `Basic ${Buffer.from('ada:right').toString('base64')}` },
      { name: 'ada' },
    ],
    ['the last guard', { 'x-key': 'sesame' }, { name: 'machine' }],
  ])(
    'of several in a list the first that identifies the caller decides: %s',
    async (_name, headers, actor) => {
      expect((await started.client.get('/rest/v1/ga/gamixed/me/', { headers })).json).toEqual({ actor });
    },
  );

  test.each([
    ['nothing', {}, NOT_PROVIDED],
    ['a wrong token', { authorization: 'Bearer x' }, INVALID],
    ['a wrong password', { authorization: 'Basic YTpi' }, { detail: 'Invalid username/password.' }],
    ['a wrong key', { 'x-key': 'secret' }, INVALID],
  ])(
    'and where none does it is 401 with all challenges: %s',
    async (_name, headers: Record<string, string>, body) => {
      const refused = await started.client.get('/rest/v1/ga/gamixed/me/', { headers });
      expect(shown(refused)).toEqual([401, body]);
      expect(refused.headers['www-authenticate']).toBe('Basic realm="api", Key realm="api"');
    },
  );

  test('one that returns false responds as denied permissions do', async () => {
    expect(shown(await started.client.get('/rest/v1/ga/gadoor/me/'))).toEqual([403, DENIED]);
    expect(
      (await started.client.get('/rest/v1/ga/gadoor/me/', { headers: { 'x-door': 'blue' } })).json,
    ).toEqual({
      actor: { name: 'door' },
    });
  });

  test('they run for HTTP only: calls without it check the permissions alone', async () => {
    const notes = started.app.get(RestifyResources).of(GaNote);
    expect(await notes.as({ name: 'ada' }).list()).toMatchObject([{ owner: 'ada' }]);
    await expect(notes.as(null).list()).rejects.toThrow();
  });
});

@Restify({ app: 'gc', guards: [TokenGuard] })
@Entity()
class GcPlain {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'gc', authentication: [TokenGuard, basic(() => null)] })
@Entity()
class GcMixed {
  @PrimaryGeneratedColumn() id: number;
}

describe('credentials that guards refuse', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [GcPlain, GcMixed],
      providers: [GaTokenStrategy],
      restify: { permissions: [IsAuthenticated], authenticationThrottle: { perAddress: 3, ttl: 60_000 } },
    });
  });
  afterAll(() => started.close());

  test('count, over all models of the prefix; requests without any do not', async () => {
    const wrong = { headers: { authorization: 'Bearer x' } };
    for (let call = 0; call < 5; call++)
      expect((await started.client.get('/rest/v1/gc/gcplain/')).status).toBe(401);
    for (const model of ['gcplain', 'gcmixed', 'gcplain'])
      expect((await started.client.get(`/rest/v1/gc/${model}/`, wrong)).status).toBe(401);
    const refused = await started.client.get('/rest/v1/gc/gcplain/', as('ada'));
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect((await started.client.get('/rest/v1/gc/gcplain/')).status).toBe(401);
  });
});
