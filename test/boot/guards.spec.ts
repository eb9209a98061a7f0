// @tags nest
import { describe, expect, test } from '@jest/globals';
import { Injectable, Scope } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { AllowAny, basic, guard, IsAuthenticated } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import { usePassportStrategy } from '../support/restore.js';
import { startApp } from '../support/start-app.js';
import { declareUnchecked, entityOf, problemsOf } from './refused-start.js';

class Door {
  canActivate(): boolean {
    return true;
  }
}

class NoGuard {
  canDeactivate(): boolean {
    return true;
  }
}

@Injectable({ scope: Scope.REQUEST })
class Scoped extends Door {}

@Injectable({ scope: Scope.TRANSIENT })
class Transient extends Door {}

class Elsewhere {
  readonly name = 'elsewhere';
}

@Injectable()
class Needing extends Door {
  constructor(readonly needed: Elsewhere) {
    super();
  }
}

const Gate = entityOf('GuardedGate');
const WHERE = "RestifyModule.forRoot('rest/v1').authentication";
const CLASS =
  "Name a class with a method canActivate, such as AuthGuard('jwt') or guard(AuthGuard('jwt'), 'Bearer'); of a Passport strategy give the name.";
const ONE_INSTANCE =
  'it is created for each request, while this option keeps one instance. Give it the default scope; its methods get the actor, and those of permissions and guards the request, too.';

describe('guards that cannot identify the caller prevent the start', () => {
  test('what is not the class of a guard, and what has no place of credentials', async () => {
    declareUnchecked(Gate, { app: 'bg' });
    const authentication = [
      NoGuard,
      new Door(),
      guard(undefined as never, 'Bearer'),
      guard(Door, 'not a token'),
      () => true,
      guard(Door, { header: 'X-Door' }),
      Door,
    ] as never[];
    expect(await problemsOf({ entities: [Gate], restify: { authentication } })).toEqual([
      `${WHERE}[0]: NoGuard is not the class of a guard. ${CLASS}`,
      `${WHERE}[1]: this is an instance of a guard. Name its class: Nest makes the instance.`,
      `${WHERE}[2]: undefined is not the class of a guard. ${CLASS}`,
      `${WHERE}[3]: "not a token" is not a valid location of credentials. Name a scheme, strategy('jwt', 'Bearer'), or a header: strategy('key', { header: 'X-API-Key' }).`,
      `${WHERE}[4]: a function is not the class of a guard. ${CLASS}`,
    ]);
  });

  test.each([
    ['one of the request, in a module', { type: Scoped, providers: [Scoped] }, `Scoped: ${ONE_INSTANCE}`],
    [
      'one of each user, in a module',
      { type: Transient, providers: [Transient] },
      `Transient: ${ONE_INSTANCE.replace('each request', 'each class that injects it')}`,
    ],
    ['one of the request, in none', { type: Scoped, providers: [] }, `Scoped: ${ONE_INSTANCE}`],
    [
      'one whose dependencies nobody has',
      { type: Needing, providers: [] },
      'Needing: no module lists it, and it has dependencies. Add Needing to the providers of the module that has them.',
    ],
  ])('%s', async (_name, { type, providers }, problem) => {
    for (const options of [{ authentication: [type] }, { guards: [type] }]) {
      declareUnchecked(Gate, { app: 'bg', ...options });
      expect(await problemsOf({ entities: [Gate], providers })).toEqual([problem]);
    }
  });
});

describe('AuthGuard in guards of what has another authentication', () => {
  async function warningsOf(options: object, restify: RestifyModuleOptions = {}): Promise<readonly string[]> {
    const warnings: string[] = [];
    const logger = {
      log: () => undefined,
      warn: (text: string) => warnings.push(text),
      error: () => undefined,
    };
    declareUnchecked(Gate, { app: 'bg', ...options });
    const started = await startApp({ entities: [Gate], restify, nest: { logger } });
    await started.close();
    return warnings;
  }

  const SCHEME = basic(() => null);
  const Jwt = AuthGuard('bg-jwt');
  // Without it, there is a warning of the missing strategy, too.
  usePassportStrategy('bg-jwt', { authenticate: () => undefined });
  class OwnJwt extends Jwt {}
  const warning = (where: string): string =>
    `RestifyModule.forRoot('rest/v1'): AuthGuard of @nestjs/passport stands in guards of ${where}, where authentication is named. It runs behind the permissions, to which a caller whom AuthGuard alone knows is anonymous. Move it to authentication.`;

  test('is named in a warning', async () => {
    const authentication = [SCHEME];
    const permissions = [IsAuthenticated];
    expect(await warningsOf({ permissions, guards: [Jwt] }, { authentication })).toEqual([
      warning('GuardedGate'),
    ]);
    expect(await warningsOf({ permissions, guards: [Door, OwnJwt], authentication })).toEqual([
      warning('GuardedGate'),
    ]);
    expect(await warningsOf({ permissions }, { guards: [Jwt], authentication })).toEqual([
      warning("RestifyModule.forRoot('rest/v1')"),
    ]);
  });

  test('is not reported where the guard identifies the caller, and models that guards protect are not open', async () => {
    expect(await warningsOf({ guards: [Jwt] })).toEqual([]);
    expect(await warningsOf({ authentication: [Jwt] })).toEqual([]);
    expect(await warningsOf({}, { authentication: [guard(Jwt, 'Bearer'), SCHEME] })).toEqual([]);
    expect(
      await warningsOf({ permissions: [AllowAny], guards: [Door] }, { authentication: [SCHEME] }),
    ).toEqual([]);
    expect(await warningsOf({ guards: [Jwt], authentication: [] }, { authentication: [SCHEME] })).toEqual([]);
  });
});
