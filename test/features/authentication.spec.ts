// @tags http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Injectable, UnauthorizedException } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { PassportStrategy } from '@nestjs/passport';
import {
  AllowAny,
  basic,
  IsAuthenticated,
  Restify,
  RestifyController,
  Action,
  CurrentActor,
  timingSafeEqual,
  strategy,
} from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
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
    return timingSafeEqual(password, 'right') ? { by: 'password', username } : null;
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

@Restify({
  app: 'auth',
  permissions: [IsAuthenticated],
  authentication: [strategy('auth-keys', { header: 'X-API-Key' })],
})
@Entity('auth_keyed')
class Keyed {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({
  app: 'auth',
  permissions: [IsAuthenticated],
  authentication: [strategy('auth-passwords', 'Basic')],
})
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
      restify: {
        authentication: [
          'auth-users',
          'auth-machines',
          basic((name, password) => timingSafeEqual(password, 'right') && { by: 'basic', name }),
        ],
      },
    });
  });
  afterAll(() => started.close());

  const me = (model: string, headers: Record<string, string>) =>
    started.client.get(`/rest/v1/auth/${model}/me/`, { headers });

  test.each([
    ['the first strategy', 'Bearer user-1', { by: 'users', token: 'user-1' }],
    ['the second one of the same scheme', 'Bearer machine-1', { by: 'machines', token: 'machine-1' }],
    ['another scheme', `Basic ${encoded('ada:right')}`, { by: 'basic', name: 'ada' }],
    ['a scheme in another case', `bAsIc ${encoded('ada:right')}`, { by: 'basic', name: 'ada' }],
  ])('identify the caller: %s', async (_name, authorization, actor) => {
    const answer = await me('closed', { authorization });
    expect([answer.status, answer.json]).toEqual([200, { actor }]);
  });

  test.each([
    ['a token that no strategy knows', 'Bearer nobody', 'Invalid token.'],
    ['a wrong password', `Basic ${encoded('ada:wrong')}`, 'Invalid username/password.'],
    ['no colon', `Basic ${encoded('ada')}`, 'Invalid username/password.'],
    ['no base64', 'Basic ***', 'Invalid username/password.'],
    ['nothing behind the scheme', 'Basic', 'Invalid username/password.'],
    ['nothing behind the other scheme', 'Bearer', 'Invalid token.'],
  ])('refuse wrong credentials, on an open endpoint too: %s', async (_name, authorization, detail) => {
    for (const model of ['closed', 'open']) {
      const answer = await me(model, { authorization });
      expect([answer.status, answer.json]).toEqual([401, { detail }]);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="api", Basic realm="api"');
    }
  });

  test('leave a scheme that is not in use, and no credentials, to the permission', async () => {
    const others: readonly Record<string, string>[] = [{}, { authorization: 'Digest username="ada"' }];
    for (const headers of others) {
      expect((await me('open', headers)).json).toEqual({ actor: null });
      const closed = await me('closed', headers);
      expect([closed.status, closed.json]).toEqual([
        401,
        { detail: 'Authentication credentials were not provided.' },
      ]);
    }
  });

  test('are 503 without the cause if a strategy fails', async () => {
    const answer = await me('open', { authorization: 'Bearer storm' });
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain('secret-host');
  });

  test('of a model stand in place of the prefix’s own: a key in a header has no challenge', async () => {
    expect((await me('keyed', { 'x-api-key': 'sesame' })).json).toEqual({ actor: { by: 'key' } });
    const wrong = await me('keyed', { 'x-api-key': 'wrong' });
    expect([wrong.status, wrong.json, wrong.headers['www-authenticate']]).toEqual([
      401,
      { detail: 'Invalid token.' },
      undefined,
    ]);
    expect((await me('keyed', {})).status).toBe(403);
    expect((await me('keyed', { authorization: 'Bearer user-1' })).status).toBe(403);
  });

  test('may be a PassportStrategy of @nestjs/passport over passport-http', async () => {
    expect((await me('named', { authorization: `Basic ${encoded('kay:right')}` })).json).toEqual({
      actor: { by: 'password', username: 'kay' },
    });
    const wrong = await me('named', { authorization: `Basic ${encoded('kay:wrong')}` });
    expect([wrong.status, wrong.headers['www-authenticate']]).toEqual([401, 'Basic realm="api"']);
  });
});

describe('a strategy whose validate throws UnauthorizedException', () => {
  @Injectable()
  class Throwing extends PassportStrategy(BasicStrategy, 'auth-throwing') {
    validate(username: string): object {
      if (username !== 'ada') throw new UnauthorizedException();
      return { username };
    }
  }

  test('refuses credentials, as verify may', async () => {
    const verify = (name: string): object => {
      if (name !== 'ada') throw new UnauthorizedException('who is this?');
      return { name };
    };
    for (const scheme of [strategy('auth-throwing', 'Basic'), basic(verify)]) {
      const started = await startApp({
        entities: ENTITIES,
        controllers: CONTROLLERS,
        providers: [...PROVIDERS, Throwing],
        restify: { authentication: [scheme], authenticationThrottle: { perUser: 1 } },
      });
      const ask = (name: string) =>
        started.client.get('/rest/v1/auth/closed/', {
          headers: { authorization: `Basic ${encoded(`${name}:x`)}` },
        });
      expect((await ask('ada')).status).toBe(200);
      const wrong = await ask('bob');
      expect([wrong.status, wrong.json]).toEqual([401, { detail: 'Invalid username/password.' }]);
      expect((await ask('bob')).status).toBe(429);
      await started.close();
    }
  });
});

describe('a strategy that redirects', () => {
  @Injectable()
  class Redirecting extends PassportStrategy(
    class extends Strategy {
      override authenticate(): void {
        setImmediate(() => {
          this.redirect('https://login.example/');
        });
      }
    },
    'auth-redirecting',
  ) {
    validate(): void {
      // It never comes to that.
    }
  }

  test('is a scheme that fails, and the process continues', async () => {
    const started = await startApp({
      entities: ENTITIES,
      controllers: CONTROLLERS,
      providers: [...PROVIDERS, Redirecting],
      restify: { authentication: ['auth-redirecting'] },
    });
    for (let call = 0; call < 2; call++)
      expect((await started.client.get('/rest/v1/auth/open/')).status).toBe(503);
    await started.close();
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
    const started = await startApp({
      entities: ENTITIES,
      providers: [...PROVIDERS, { provide: APP_GUARD, useClass: OwnGuard }],
      controllers: CONTROLLERS,
      restify: { authentication: [basic(() => null)] },
    });
    const answer = await started.client.get('/rest/v1/auth/closed/me/', {
      headers: { authorization: `Basic ${encoded('ada:wrong')}` },
    });
    expect([answer.status, answer.json]).toEqual([200, { actor: { by: 'guard' } }]);
    await started.close();
  });

  test('what is not a scheme, and no time, refuses to start', async () => {
    const given: unknown = {
      authentication: [
        basic(undefined as never),
        '',
        strategy('auth-users', 'Two Words'),
        basic(() => null, { challenge: 'X Basic' }),
        undefined,
        PassportStrategy,
      ],
      authenticationTimeout: '10',
    };
    await expect(
      startApp({
        entities: ENTITIES,
        controllers: CONTROLLERS,
        providers: PROVIDERS,
        restify: given as RestifyModuleOptions,
      }),
    ).rejects.toMatchObject({
      problems: [
        {
          where: "RestifyModule.forRoot('rest/v1').authentication[0]",
          what: 'basic() has no function that checks a password',
        },
        { where: "RestifyModule.forRoot('rest/v1').authentication[1]", what: 'a strategy has no name' },
        {
          where: "RestifyModule.forRoot('rest/v1').authentication[2]",
          what: '"Two Words" is not a valid location of credentials',
        },
        {
          where: "RestifyModule.forRoot('rest/v1').authentication[3]",
          what: '"X Basic" is not a valid name of a challenge',
        },
        { where: "RestifyModule.forRoot('rest/v1').authentication[4]", what: 'this is not a scheme' },
        {
          where: "RestifyModule.forRoot('rest/v1').authentication[5]",
          what: 'PassportStrategy is not the class of a guard',
        },
        {
          where: "RestifyModule.forRoot('rest/v1').authenticationTimeout",
          what: '10 is not a valid waiting time',
        },
      ],
    });
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    'authenticationTimeout of %d refuses to start',
    async (authenticationTimeout) => {
      await expect(
        startApp({
          entities: ENTITIES,
          controllers: CONTROLLERS,
          providers: PROVIDERS,
          restify: { authenticationTimeout },
        }),
      ).rejects.toMatchObject({
        problems: [
          {
            what: `${authenticationTimeout} is not a valid waiting time`,
            repair: 'Give milliseconds, above 0 and below 2147483648; without the option they are 10000.',
          },
        ],
      });
    },
  );

  test.each([
    ['of the prefix', { authentication: ['auth-users', 'auth-usres'] }],
    ['once, though both name it', { authentication: ['auth-usres', strategy('auth-usres')] }],
  ])('a strategy that is not registered with Passport is an error at start: %s', async (_name, restify) => {
    await expect(
      startApp({ entities: ENTITIES, controllers: CONTROLLERS, providers: PROVIDERS, restify }),
    ).rejects.toMatchObject({
      problems: [
        {
          where: "authentication: 'auth-usres'",
          what: 'Passport knows no strategy of this name',
          repair:
            "List its class, which extends PassportStrategy(…, 'auth-usres'), in the providers of a module, or correct the name.",
        },
      ],
    });
  });
});
