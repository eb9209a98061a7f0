// @tags http
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Injectable, UnauthorizedException } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { basic, guard, IsAuthenticated, Restify } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

interface GuardedRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: object;
}

let checks = 0;

function passwordOf({ headers }: GuardedRequest): readonly [name: string, password: string] | undefined {
  const [scheme, encoded = ''] = headers.authorization?.split(' ') ?? [];
  if (scheme !== 'Basic') return undefined;
  const [name = '', password = ''] = Buffer.from(encoded, 'base64').toString().split(':');
  return [name, password];
}

function verify(name: string, password: string): object | null {
  checks += 1;
  return password === 'right' ? { name } : null;
}

abstract class RequestGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    const user = this.find(request);
    if (user) request.user = user;
    return true;
  }
  protected abstract find(request: GuardedRequest): object | null;
}

@Injectable()
class CookieGuard extends RequestGuard {
  protected find({ headers }: GuardedRequest): object | null {
    const name = /session=(\w+)/.exec(headers.cookie ?? '')?.[1];
    return name === undefined ? null : { name };
  }
}

@Injectable()
class KeyGuard extends RequestGuard {
  protected find({ headers }: GuardedRequest): object | null {
    return headers['x-api-key'] === 'right' ? { name: 'machine' } : null;
  }
}

/** A guard that verifies passwords, and does not say where it reads them. */
@Injectable()
class PasswordGuard extends RequestGuard {
  protected find(request: GuardedRequest): object | null {
    const [name, password] = passwordOf(request) ?? [];
    if (name === undefined) return null;
    const user = verify(name, password ?? '');
    if (!user) throw new UnauthorizedException();
    return user;
  }
}

const NAMED = basic(verify);

@Restify({ app: 'gp', permissions: [IsAuthenticated], authentication: [NAMED] })
@Entity('gp_named')
class Named {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'gp', permissions: [IsAuthenticated], authentication: [CookieGuard] })
@Entity('gp_session')
class BySession {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'gp', permissions: [IsAuthenticated], authentication: [NAMED, CookieGuard] })
@Entity('gp_both')
class Both {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'gp', permissions: [IsAuthenticated], authentication: [PasswordGuard, CookieGuard] })
@Entity('gp_guards')
class Guards {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({
  app: 'gp',
  permissions: [IsAuthenticated],
  authentication: [guard(KeyGuard, { header: 'X-Api-Key' }), CookieGuard, NAMED],
})
@Entity('gp_last')
class Last {
  @PrimaryGeneratedColumn()
  id: number;
}

const DESCRIPTION = { accept: 'application/vnd.restify.description+json' };

describe('passwords of another user are not guessed beyond the limit', () => {
  let started: StartedApp;
  beforeEach(async () => {
    checks = 0;
    started = await startApp({
      entities: [Named, BySession, Both, Guards, Last],
      providers: [CookieGuard, KeyGuard, PasswordGuard],
      // Of the description of the index, which the document does not list.
      undescribed: [429],
    });
  });
  afterEach(() => started.close());

  const guess = async (
    path: string,
    headers: Readonly<Record<string, string>>,
    password = 'wrong',
  ): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`root:${password}`).toString('base64')}`;
    return (await started.client.get(path, { headers: { ...headers, authorization } })).status;
  };

  test.each<[title: string, path: string, headers: Readonly<Record<string, string>>]>([
    ['without anything else', '/rest/v1/gp/both/', {}],
    ['beside the own session', '/rest/v1/gp/both/', { cookie: 'session=mallory' }],
    [
      'beside the own session, where guards verify passwords',
      '/rest/v1/gp/guards/',
      { cookie: 'session=mallory' },
    ],
    ['at the index, beside the session of another model', '/', { ...DESCRIPTION, cookie: 'session=mallory' }],
    ['beside a wrong key', '/rest/v1/gp/last/', { 'x-api-key': 'wrong' }],
  ])('%s', async (_title, path, headers) => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 15; attempt += 1) statuses.push(await guess(path, headers));
    expect(statuses.slice(0, 10)).not.toContain(429);
    expect(statuses.slice(10)).toEqual([429, 429, 429, 429, 429]);
    expect(checks).toBe(10);
    expect(await guess(path, headers, 'right')).toBe(429);
  });

  test.each<[title: string, headers: Readonly<Record<string, string>>]>([
    ['session', { cookie: 'session=mallory' }],
    ['key', { 'x-api-key': 'right' }],
  ])(
    'a success by the own %s does not reset the count of the user name beside it',
    async (_title, headers) => {
      const path = '/rest/v1/gp/last/';
      for (let attempt = 0; attempt < 15; attempt += 1) {
        await guess(path, {});
        expect(await guess(path, headers)).toBe(attempt < 9 ? 200 : 429);
      }
      expect(checks).toBe(10);
    },
  );

  test('wrong credentials of a scheme in use are 401 beside a session, and right ones are those that count', async () => {
    const cookie = { cookie: 'session=mallory' };
    expect(await guess('/rest/v1/gp/both/', cookie)).toBe(401);
    expect(await guess('/rest/v1/gp/both/', cookie, 'right')).toBe(200);
    expect((await started.client.get('/rest/v1/gp/both/', { headers: cookie })).status).toBe(200);
  });
});
