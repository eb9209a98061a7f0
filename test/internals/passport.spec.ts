// @tags nest
import { afterEach, describe, expect, test } from '@jest/globals';
import { AuthGuard } from '@nestjs/passport';
import { AllowAny, IsAuthenticated, restify, strategy } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import passport from 'passport';
import { guardsWithoutStrategy } from '../../src/adapters/passport/load-passport.js';
import { entityOf } from '../boot/refused-start.js';
import { usePassportStrategy } from '../support/restore.js';
import { startApp } from '../support/start-app.js';

const Note = entityOf('StrategyNote');
restify(Note, 'strategies');

usePassportStrategy('strategies-known', {
  authenticate(this: { success(user: object): void }) {
    this.success({ id: 1 });
  },
});

afterEach(() => {
  Reflect.deleteProperty(passport, '_strategy');
});

/** The warnings of an application, and its response. `hides`: whether Passport does not tell its strategies at start. */
async function serve(
  options: RestifyModuleOptions,
  hides: boolean,
): Promise<{ readonly warnings: readonly string[]; readonly response: readonly unknown[] }> {
  const warnings: string[] = [];
  if (hides) Object.defineProperty(passport, '_strategy', { value: undefined, configurable: true });
  const started = await startApp({
    entities: [Note],
    restify: options,
    undescribed: 'all',
    nest: {
      logger: { log: () => undefined, error: () => undefined, warn: (text: string) => warnings.push(text) },
    },
  });
  // The warnings are written once the server listens, behind the searches before.
  await new Promise((resolve) => setImmediate(resolve));
  await guardsWithoutStrategy([]);
  await new Promise((resolve) => setImmediate(resolve));
  // Passport itself needs it for each request.
  Reflect.deleteProperty(passport, '_strategy');
  const { status, text } = await started.client.get('/rest/v1/strategies/strategynote/', {
    headers: { authorization: 'Bearer a' },
  });
  await started.close();
  return { warnings: warnings.filter((each) => each.includes('assport')), response: [status, text] };
}

const UNTOLD =
  /^passport 0\.\d\.\d keeps its strategies in another way than this package knows, so that the start does not find names without a strategy/;

describe('the strategies of Passport', () => {
  test.each([
    ['of a scheme', { permissions: [IsAuthenticated], authentication: [strategy('strategies-known')] }],
    ['of a guard', { permissions: [AllowAny], guards: [AuthGuard('strategies-known')] }],
  ])('%s under another name are one warning, and change no response', async (_, options) => {
    const [usual, other] = [await serve(options, false), await serve(options, true)];
    expect(usual).toEqual({ warnings: [], response: [200, '[]'] });
    expect(other).toEqual({ warnings: [expect.stringMatching(UNTOLD)], response: [200, '[]'] });
  });

  test('that no option names are not reported', async () => {
    expect((await serve({ permissions: [AllowAny] }, true)).warnings).toEqual([]);
  });
});
