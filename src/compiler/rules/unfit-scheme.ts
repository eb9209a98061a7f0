import type { Authentication } from '../../core/contracts/authentication.js';
import type { GuardClass } from '../../core/contracts/enhancers.js';
import type { Flaw } from './problems.js';

/** The token syntax of schemes and header names (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The reason why an item of `authentication` is not a valid scheme; undefined for a valid one. */
export function unfitScheme(given: unknown): Flaw | undefined {
  if (typeof given === 'string') return unfitName(given);
  if (typeof given === 'function') return unfitGuard(given);
  const { kind, verify, name, challenge, credentials, guard } = (given ?? {}) as Readonly<
    Record<string, unknown>
  >;
  switch (kind) {
    case 'basic':
      if (typeof verify !== 'function')
        return {
          what: 'basic() has no function that checks a password',
          repair: 'Write basic((username, password) => …), which gives the actor or null.',
        };
      return unfitChallenge(challenge);
    case 'strategy':
      return unfitName(name) ?? unfitCredentials(credentials);
    case 'guard':
      return unfitGuard(guard) ?? unfitCredentials(credentials);
    default:
      return unfitInstance(given);
  }
}

/** The valid schemes; the others are reported after compilation. */
export function validSchemes(given: unknown): readonly Authentication[] {
  return Array.isArray(given)
    ? given.filter((each): each is Authentication => unfitScheme(each) === undefined)
    : [];
}

/** Whether an item of `authentication` is a guard. */
export function isGuard(given: unknown): boolean {
  return isGuardClass(given) || (given as { readonly kind?: unknown } | null)?.kind === 'guard';
}

/** Whether a value is a class with the method `canActivate`. */
function isGuardClass(given: unknown): boolean {
  const { canActivate } = ((given as { prototype?: unknown } | null)?.prototype ?? {}) as {
    canActivate?: unknown;
  };
  return typeof given === 'function' && typeof canActivate === 'function';
}

function unfitGuard(given: unknown): Flaw | undefined {
  if (isGuardClass(given)) return undefined;
  return {
    what: `${describeGiven(given)} is not the class of a guard`,
    repair:
      "Name a class with a method canActivate, such as AuthGuard('jwt') or guard(AuthGuard('jwt'), 'Bearer'); of a Passport strategy give the name.",
  };
}

function describeGiven(given: unknown): string {
  if (typeof given !== 'function') return String(given);
  return given.name === '' ? 'a function' : given.name;
}

function unfitInstance(given: unknown): Flaw {
  const isInstance =
    typeof (given as { canActivate?: unknown } | null | undefined)?.canActivate === 'function';
  return isInstance
    ? { what: 'this is an instance of a guard', repair: 'Name its class: Nest makes the instance.' }
    : {
        what: 'this is not a scheme',
        repair: "Write basic(verify), the name of a Passport strategy: 'jwt', or the class of a guard.",
      };
}

function unfitName(name: unknown): Flaw | undefined {
  return typeof name === 'string' && name !== ''
    ? undefined
    : {
        what: 'a strategy has no name',
        repair: "Write the name under which it is registered with Passport: 'jwt'.",
      };
}

function unfitCredentials(credentials: unknown): Flaw | undefined {
  const { scheme, header, challenge } = (credentials ?? {}) as Readonly<Record<string, unknown>>;
  const place = header ?? scheme;
  if (typeof place !== 'string' || !TOKEN.test(place))
    return {
      what: `"${String(place)}" is not a valid location of credentials`,
      repair:
        "Name a scheme, strategy('jwt', 'Bearer'), or a header: strategy('key', { header: 'X-API-Key' }).",
    };
  return unfitChallenge(challenge);
}

function unfitChallenge(challenge: unknown): Flaw | undefined {
  if (challenge === undefined || (typeof challenge === 'string' && TOKEN.test(challenge))) return undefined;
  return {
    what: `"${String(challenge)}" is not a valid name of a challenge`,
    repair: "Write one word: challenge: 'XBasic'.",
  };
}

/** Recognizes `AuthGuard` by its documented methods for subclasses, because the package may be loaded twice. */
export function isPassportGuard(type: GuardClass): boolean {
  const { handleRequest, getAuthenticateOptions } = type.prototype as Readonly<Record<string, unknown>>;
  return typeof handleRequest === 'function' && typeof getAuthenticateOptions === 'function';
}
