import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { PassportStrategy } from '@nestjs/passport';
import { AllowAny, basic, IsAuthenticated, Restify, RestifyController, Action, CurrentActor, secretsEqual, strategy } from 'nestjs-restify';
import type { IncomingMessage } from 'node:http';
import { Strategy } from 'passport';
import { BasicStrategy } from 'passport-http';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** What a strategy of a package looks like: it succeeds, fails, or reports an error. */
class TokenStrategy extends Strategy {
  protected verify: (token: string) => object | false = () => false;

  override authenticate(request: IncomingMessage): void {
    const [scheme, token] = (request.headers.authorization ?? '').split(' ');
    if (scheme?.toLowerCase() !== 'bearer' || token === undefined) {
      this.fail(401);
      return;
    }
    if (token === 'storm') {
      this.error(new Error('the token service at secret-host is away'));
      return;
    }
    const actor = this.verify(token);
    if (actor) this.success(actor);
    else this.fail(401);
  }
}

class KeyStrategy extends Strategy {
  override authenticate(request: IncomingMessage): void {
    if (request.headers['x-api-key'] === 'sesame') this.success({ by: 'key' });
    else this.fail(401);
  }
}

@Injectable()
class UserTokens extends PassportStrategy(TokenStrategy, 'auth-users') {
  constructor() {
    super();
    this.verify = (token) => token.startsWith('user') && { by: 'users', token };
  }

  validate(): void {
    // The strategy tells for itself.
  }
}

@Injectable()
class MachineTokens extends PassportStrategy(TokenStrategy, 'auth-machines') {
  constructor() {
    super();
    this.verify = (token) => token.startsWith('machine') && { by: 'machines', token };
  }

  validate(): void {
    // The strategy tells for itself.
  }
}

@Injectable()
class Keys extends PassportStrategy(KeyStrategy, 'auth-keys') {
  validate(): void {
    // The strategy tells for itself.
  }
}

@Injectable()
class Passwords extends PassportStrategy(BasicStrategy, 'auth-passwords') {
  validate(username: string, password: string): object | null {
    return secretsEqual(password, 'right') ? { by: 'password', username } : null;
  }
}

@Restify({ app: 'auth', permissions: [IsAuthenticated] })
@Entity('auth_closed')
class Closed {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'auth', permissions: [AllowAny] })
@Entity('auth_open')
class Open {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'auth', permissions: [IsAuthenticated], authentication: [strategy('auth-keys', { header: 'X-API-Key' })] })
@Entity('auth_keyed')
class Keyed {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'auth', permissions: [IsAuthenticated], authentication: [strategy('auth-passwords', 'Basic')] })
@Entity('auth_named')
class Named {
  @PrimaryGeneratedColumn()
  id: number;
}

function tellingActor(entity: object): new () => object {
  @RestifyController(entity)
  class Telling {
    @Action({ detail: false })
    me(@CurrentActor() actor: object | null): object {
      return { actor };
    }
  }
  return Telling;
}

const ENTITIES = [Closed, Open, Keyed, Named];
const CONTROLLERS = ENTITIES.map(tellingActor);
const PROVIDERS = [UserTokens, MachineTokens, Keys, Passwords];

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('several schemes', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      providers: PROVIDERS,
      controllers: CONTROLLERS,
      restify: { authentication: ['auth-users', 'auth-machines', basic((name, password) => secretsEqual(password, 'right') && { by: 'basic', name })] },
    });
  });
  afterAll(() => started.close());

  const me = (model: string, headers: Record<string, string>) => started.client.get(`/rest/v1/auth/${model}/me/`, { headers });

  test.each([
    ['the first strategy', 'Bearer user-1', { by: 'users', token: 'user-1' }],
    ['the second one of the same scheme', 'Bearer machine-1', { by: 'machines', token: 'machine-1' }],
    ['another scheme', `Basic ${encoded('ada:right')}`, { by: 'basic', name: 'ada' }],
    ['a scheme in another case', `bAsIc ${encoded('ada:right')}`, { by: 'basic', name: 'ada' }],
  ])('tell who asks: %s', async (_name, authorization, actor) => {
    const answer = await me('closed', { authorization });
    expect([answer.status, answer.json]).toEqual([200, { actor }]);
  });

  test.each([
    ['a token that no strategy knows', 'Bearer nobody'],
    ['a wrong password', `Basic ${encoded('ada:wrong')}`],
    ['no colon', `Basic ${encoded('ada')}`],
    ['no base64', 'Basic ***'],
    ['nothing behind the scheme', 'Basic'],
    ['nothing behind the other scheme', 'Bearer'],
  ])('refuse wrong credentials, on an open endpoint too: %s', async (_name, authorization) => {
    for (const model of ['closed', 'open']) {
      const answer = await me(model, { authorization });
      expect([answer.status, answer.json]).toEqual([401, { detail: 'Invalid username/password.' }]);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="api", Basic realm="api"');
    }
  });

  test('leave a scheme that is not in use, and no credentials, to the permission', async () => {
    const others: readonly Record<string, string>[] = [{}, { authorization: 'Digest username="ada"' }];
    for (const headers of others) {
      expect((await me('open', headers)).json).toEqual({ actor: null });
      const closed = await me('closed', headers);
      expect([closed.status, closed.json]).toEqual([401, { detail: 'Authentication credentials were not provided.' }]);
    }
  });

  test('are 503 where a strategy fails, and tell nothing of the cause', async () => {
    const answer = await me('open', { authorization: 'Bearer storm' });
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain('secret-host');
  });

  test('of a model stand in place of the prefix’s own: a key in a header has no challenge', async () => {
    expect((await me('keyed', { 'x-api-key': 'sesame' })).json).toEqual({ actor: { by: 'key' } });
    const wrong = await me('keyed', { 'x-api-key': 'wrong' });
    expect([wrong.status, wrong.headers['www-authenticate']]).toEqual([401, undefined]);
    expect((await me('keyed', {})).status).toBe(403);
    expect((await me('keyed', { authorization: 'Bearer user-1' })).status).toBe(403);
  });

  test('may be a PassportStrategy of @nestjs/passport over passport-http', async () => {
    expect((await me('named', { authorization: `Basic ${encoded('kay:right')}` })).json).toEqual({ actor: { by: 'password', username: 'kay' } });
    const wrong = await me('named', { authorization: `Basic ${encoded('kay:wrong')}` });
    expect([wrong.status, wrong.headers['www-authenticate']]).toEqual([401, 'Basic realm="api"']);
  });
});

describe('what the application does itself', () => {
  test('an actor that a guard of its own has put on the request is used as it is', async () => {
    @Injectable()
    class OwnGuard implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        context.switchToHttp().getRequest<{ user?: object }>().user = { by: 'guard' };
        return true;
      }
    }
    const started = await startApp({ entities: ENTITIES, providers: [...PROVIDERS, { provide: APP_GUARD, useClass: OwnGuard }], controllers: CONTROLLERS, restify: { authentication: [basic(() => null)] } });
    const answer = await started.client.get('/rest/v1/auth/closed/me/', { headers: { authorization: `Basic ${encoded('ada:wrong')}` } });
    expect([answer.status, answer.json]).toEqual([200, { actor: { by: 'guard' } }]);
    await started.close();
  });

  test.each([
    ['of the prefix', { authentication: ['auth-users', 'auth-usres'] }],
    ['once, though both name it', { authentication: ['auth-usres', strategy('auth-usres')] }],
  ])('a strategy that Passport does not know refuses to start: %s', async (_name, restify) => {
    await expect(startApp({ entities: ENTITIES, controllers: CONTROLLERS, providers: PROVIDERS, restify })).rejects.toMatchObject({
      problems: [{ where: "authentication: 'auth-usres'", what: 'Passport knows no strategy of this name', repair: "List its class, which extends PassportStrategy(…, 'auth-usres'), in the providers of a module, or correct the name." }],
    });
  });
});
