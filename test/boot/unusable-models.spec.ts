// @tags nest
import { afterEach, describe, expect, test } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import type { CanActivate, MiddlewareConsumer, NestModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import { allow, AllowAny, anyOf, basic, IsAdmin, IsAuthenticated, not, restify } from 'nestjs-restify';
import type { Grant, Permission, RestifyModuleOptions } from 'nestjs-restify';
import passport from 'passport';
import { guardsWithoutStrategy } from '../../src/adapters/passport/load-passport.js';
import { usePassportStrategy } from '../support/restore.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';
import { entityOf } from './refused-start.js';

const Closed = entityOf('UnusableClosed');
restify(Closed, 'unusable');

let started: StartedApp | undefined;
afterEach(async () => {
  await started?.app.close();
  started = undefined;
});

/** The warnings of an application that listens. */
async function warningsOf(settings: Partial<AppSettings>): Promise<readonly string[]> {
  const warned: string[] = [];
  const silent = (): void => undefined;
  started = await startApp({
    entities: [Closed],
    compare: false,
    undescribed: 'all',
    ...settings,
    nest: { logger: { log: silent, error: silent, warn: (text: string) => warned.push(text) } },
  });
  // What does not warn now does not warn later: a search for strategies, which loads Passport, runs behind those before it.
  await new Promise((resolve) => setImmediate(resolve));
  await guardsWithoutStrategy([]);
  await new Promise((resolve) => setImmediate(resolve));
  return warned;
}

class Open implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

class Custom implements Permission {
  decide(): Grant {
    return allow();
  }
}

const NOTHING = expect.stringMatching(
  /^RestifyModule\.forRoot\('rest\/v1'\): no caller may use unusable\.unusableclosed, because .+ nothing authenticates: /,
);

describe('permissions that need a user, where nothing authenticates', () => {
  test.each([
    ['IsAuthenticated', [IsAuthenticated]],
    ['an expression', [anyOf(IsAuthenticated, IsAdmin), AllowAny]],
  ])('are a warning: %s', async (_, permissions) => {
    expect(await warningsOf({ restify: { permissions } })).toEqual([NOTHING]);
  });

  test.each<[string, RestifyModuleOptions]>([
    ['the authentication of the prefix', { authentication: [basic(() => null)] }],
    ['the option that says so', { authentication: [] }],
    ['a guard', { guards: [Open] }],
  ])('are none with %s', async (_, options) => {
    expect(await warningsOf({ restify: { permissions: [IsAuthenticated], ...options } })).toEqual([]);
  });

  test.each([
    ['anybody', [anyOf(IsAuthenticated, AllowAny)]],
    ['anonymous callers alone', [not(IsAuthenticated)]],
    ['a class of the application', [Custom]],
  ])('are none where they may allow %s', async (_, permissions) => {
    expect(await warningsOf({ restify: { permissions } })).toEqual([]);
  });

  const restify = { permissions: [IsAuthenticated] };

  test('are none with a global guard', async () => {
    expect(await warningsOf({ restify, providers: [{ provide: APP_GUARD, useClass: Open }] })).toEqual([]);
    await started?.app.close();
    expect(await warningsOf({ restify, configure: (app) => app.useGlobalGuards(new Open()) })).toEqual([]);
  });

  test("are none with middleware of Nest's consumers or of the HTTP library", async () => {
    const pass = (_request: unknown, _response: unknown, next: () => void): void => {
      next();
    };
    @Module({})
    class Consuming implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(pass).forRoutes('other');
      }
    }
    expect(await warningsOf({ restify, imports: [Consuming] })).toEqual([]);
    await started?.app.close();
    expect(await warningsOf({ restify, configure: (app) => app.use(pass) })).toEqual([]);
  });
});

describe("AuthGuard('jwt')", () => {
  class Known extends AuthGuard('unusable-known') {}
  class Unknown extends AuthGuard(['unusable-known', 'unusable-unknown']) {
    override canActivate(): never {
      throw new Error('It is not called at start.');
    }
  }
  let calls = 0;
  class Strategy {
    name = 'unusable-known';
    authenticate(): void {
      calls += 1;
    }
  }

  usePassportStrategy('unusable-known', new Strategy());

  test('without its strategy is a warning that names both', async () => {
    const authenticate: unknown = Reflect.get(passport, 'authenticate');
    const own = Object.hasOwn(passport, 'authenticate');
    const guards = [Known, Unknown, AuthGuard('unusable-other'), Open];
    const warned = await warningsOf({ restify: { permissions: [AllowAny], guards } });
    const repair = (name: string): string =>
      `fails at each request: Passport knows no strategy '${name}'. List its class, which extends PassportStrategy(…, '${name}'), in the providers of a module, or correct the name.`;
    expect(warned).toEqual([
      `Unknown, which extends AuthGuard('unusable-unknown'), ${repair('unusable-unknown')}`,
      `AuthGuard('unusable-other') ${repair('unusable-other')}`,
    ]);
    expect(calls).toBe(0);
    expect([
      Reflect.get(passport, 'authenticate') === authenticate,
      Object.hasOwn(passport, 'authenticate'),
    ]).toEqual([true, own]);
  });

  test('is searched for by one application after the other, and Passport stays as it was', async () => {
    const authenticate: unknown = Reflect.get(passport, 'authenticate');
    const searches = ['first', 'second', 'third'].map((name) =>
      guardsWithoutStrategy([new (AuthGuard(`unusable-${name}`))(), new (AuthGuard('unusable-known'))()]),
    );
    expect((await Promise.all(searches)).map((found) => found.map(({ strategy }) => strategy))).toEqual([
      ['unusable-first'],
      ['unusable-second'],
      ['unusable-third'],
    ]);
    expect(Reflect.get(passport, 'authenticate')).toBe(authenticate);
  });

  test('with a strategy of a provider is not reported', async () => {
    @Injectable()
    class Provided extends PassportStrategy(Strategy, 'unusable-provided') {
      validate(): object {
        return {};
      }
    }
    const guards = [AuthGuard('unusable-provided')];
    const warned = await warningsOf({ restify: { permissions: [AllowAny], guards }, providers: [Provided] });
    passport.unuse('unusable-provided');
    expect(warned).toEqual([]);
  });
});
