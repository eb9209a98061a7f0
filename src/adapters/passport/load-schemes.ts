import type { Authentication, AuthenticationScheme } from '../../core/contracts/authentication.js';
import type { PassportHttpLike } from '../../features/authentication/basic-strategy.js';
import { passportScheme } from '../../features/authentication/passport-scheme.js';
import type { PassportAuthentication, PassportLike } from '../../features/authentication/passport-scheme.js';

/** Loads the declared authentication schemes. Passport is loaded only if there is one. */
export async function loadSchemes(
  declared: readonly PassportAuthentication[],
): Promise<ReadonlyMap<Authentication, AuthenticationScheme>> {
  if (declared.length === 0) return new Map();
  const passport = await importOptional<PassportLike>(() => import('passport'));
  if (!passport)
    throw new Error(
      'An authentication scheme is named, and passport is not installed: npm install passport passport-http.',
    );
  const passportHttp = await importOptional<PassportHttpLike>(() => import('passport-http'));
  return new Map(
    [...new Set(declared)].map((each) => [each, passportScheme(each, { passport, passportHttp })]),
  );
}

/** The exports of a CommonJS or ES module; undefined if it is not installed. */
async function importOptional<Library>(load: () => Promise<unknown>): Promise<Library | undefined> {
  try {
    const module = (await load()) as { default?: Library } & Library;
    return module.default ?? module;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
