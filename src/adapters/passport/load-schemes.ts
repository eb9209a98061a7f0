import { strategy } from '../../core/contracts/authentication.js';
import type {
  Authentication,
  AuthenticationScheme,
  GuardAuthentication,
} from '../../core/contracts/authentication.js';
import { isMissingPackage } from '../../core/errors/missing-package.js';
import type { GuardClass } from '../../core/contracts/guard.js';
import { basicScheme } from '../../features/authentication/basic-scheme.js';
import { passportScheme } from '../../features/authentication/passport-scheme.js';
import type { PassportLike } from '../../features/authentication/passport-scheme.js';

/** The schemes that are no guards. */
export type CredentialAuthentication = Exclude<Authentication, GuardAuthentication | GuardClass>;

/** Compiles the declared authentication schemes. Passport is loaded only if a strategy is named. */
export async function loadSchemes(
  declared: readonly CredentialAuthentication[],
): Promise<ReadonlyMap<Authentication, AuthenticationScheme>> {
  const schemes = new Map<Authentication, AuthenticationScheme>();
  for (const each of declared) {
    const named = typeof each === 'string' ? strategy(each) : each;
    schemes.set(
      each,
      named.kind === 'basic' ? basicScheme(named) : passportScheme(named, await loadPassport()),
    );
  }
  return schemes;
}

async function loadPassport(): Promise<PassportLike> {
  try {
    const module = (await import('passport')) as { default?: PassportLike } & PassportLike;
    return module.default ?? module;
  } catch (error) {
    if (!isMissingPackage(error)) throw error;
    throw new Error('A Passport strategy is named, and passport is not installed: npm install passport.', {
      cause: error,
    });
  }
}
