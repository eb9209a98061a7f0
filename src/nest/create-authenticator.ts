import type { ModuleRef, ModulesContainer } from '@nestjs/core';
import { findCounter } from '../adapters/throttler/load-counter.js';
import type { RefusalLimits } from '../core/contracts/authentication.js';
import { REFUSAL_LIMITS } from '../core/schema/limits.js';
import { Authenticator } from '../features/authentication/authenticate.stage.js';
import { RefusedCredentials } from '../features/authentication/refused-credentials.js';
import type { ShareRefusal } from '../features/authentication/refused-credentials.js';
import type { ResolvedOptions } from '../restify.options.js';

interface AuthenticatorContext {
  readonly options: Pick<
    ResolvedOptions,
    'prefix' | 'authenticationTimeout' | 'authenticationThrottle' | 'trustedOrigins'
  >;
  readonly moduleRef: ModuleRef;
  readonly modules: ModulesContainer;
  readonly server: { readonly log: { warn(text: string): void } };
}

/** Creates the authenticator of one prefix, which counts failed authentications. */
export function createAuthenticator(context: AuthenticatorContext): Authenticator {
  const { authenticationTimeout: timeout, authenticationThrottle, trustedOrigins } = context.options;
  if (authenticationThrottle === false)
    return new Authenticator({ timeout, trustedOrigins, refused: undefined });
  const { perAddress, perUser, ttl } = authenticationThrottle;
  const limits = {
    perAddress: perAddress ?? REFUSAL_LIMITS.perAddress,
    perUser: perUser ?? REFUSAL_LIMITS.perUser,
    ttl: ttl ?? REFUSAL_LIMITS.ttl,
  };
  return new Authenticator({
    timeout,
    trustedOrigins,
    refused: new RefusedCredentials(limits, sharedRefusals(context, limits)),
  });
}

/** Uses the storage of @nestjs/throttler if the application has one, so that an address is blocked in all of its processes. */
function sharedRefusals(
  { options, moduleRef, modules, server }: AuthenticatorContext,
  { perAddress, ttl }: RefusalLimits,
): ShareRefusal | undefined {
  const tokens = [...modules.values()].flatMap((module) => [...module.providers.keys()]);
  const counter = findCounter(tokens, (token) => moduleRef.get<unknown>(token, { strict: false }));
  if (!counter) return undefined;
  let away = false;
  return async (address) => {
    try {
      // The storage blocks after the limit is exceeded; here, the last failure within the limit blocks.
      const seconds = await counter.count(`restify:${options.prefix}:refused:${address}`, {
        limit: perAddress - 1,
        ttl,
      });
      away = false;
      return seconds * 1000;
    } catch (error) {
      if (!away)
        server.log.warn(
          `Refused credentials are counted in this process alone, because the storage of @nestjs/throttler fails: ${String(error)}`,
        );
      away = true;
      return 0;
    }
  };
}
