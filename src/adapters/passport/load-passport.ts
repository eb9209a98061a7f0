import { strategy } from '../../core/contracts/authentication.js';
import type {
  Authentication,
  AuthenticationScheme,
  GuardAuthentication,
  NamedAuthentication,
} from '../../core/contracts/authentication.js';
import type { GuardLike, GuardClass } from '../../core/contracts/enhancers.js';
import { isMissingPackage } from '../../core/errors/missing-package.js';
import { basicScheme } from '../../features/authentication/basic-scheme.js';
import { passportScheme } from '../../features/authentication/passport-scheme.js';
import { describeUnknownStrategies, probeStrategies } from '../../internals/passport.js';
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
    schemes.set(each, named.kind === 'basic' ? basicScheme(named) : await strategyScheme(named));
  }
  return schemes;
}

async function strategyScheme(named: NamedAuthentication): Promise<AuthenticationScheme> {
  const passport = await loadPassport();
  return passportScheme(named, passport, probeStrategies(passport));
}

/** @throws Error if it is not installed */
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

/** The methods of `AuthGuard` of @nestjs/passport that its subclasses may replace. */
const METHODS = [
  'canActivate',
  'getRequest',
  'getResponse',
  'handleRequest',
  'getAuthenticateOptions',
] as const;

/** The documented part of Passport by which a guard names its strategies. */
interface StrategyRegistry {
  authenticate: (...given: readonly unknown[]) => PassportHandler;
}

type PassportHandler = (request: unknown, response: unknown, next: (error?: unknown) => void) => void;

type AuthGuardClass = { readonly name: string; readonly prototype: GuardLike };

/** A guard whose strategy is not registered with Passport: each request would fail. */
export interface GuardWithoutStrategy {
  readonly guard: string;
  readonly strategy: string;
}

/** The search of the last application: searches of several ones run one after the other, because each replaces a function of Passport. */
let lastSearch: Promise<unknown> = Promise.resolve();

/**
 * Finds guards of @nestjs/passport without their strategies. Finds none without Passport, or if a guard does not name its strategy
 * to the Passport that is loaded here.
 */
export function guardsWithoutStrategy(guards: Iterable<object>): Promise<readonly GuardWithoutStrategy[]> {
  return searchNext(() => searchGuards(guards));
}

/**
 * Warnings of guards of @nestjs/passport without their strategies, or of a Passport that does not tell which it has.
 * `namesStrategies`: whether the application names a strategy in `authentication`.
 */
export function strategyWarnings(
  guards: readonly object[],
  namesStrategies: boolean,
): Promise<readonly string[]> {
  return searchNext(async () => {
    if (!namesStrategies && authGuardsAmong(guards).length === 0) return [];
    const passport = await loadPassport().catch(() => undefined);
    if (passport && !probeStrategies(passport)) return [describeUnknownStrategies()];
    return (await searchGuards(guards)).map(
      ({ guard, strategy: name }) =>
        `${guard === 'AuthGuard' ? `AuthGuard('${name}')` : `${guard}, which extends AuthGuard('${name}'),`} fails at each request: Passport knows no strategy '${name}'.` +
        ` List its class, which extends PassportStrategy(…, '${name}'), in the providers of a module, or correct the name.`,
    );
  });
}

function searchNext<Found>(search: () => Promise<Found>): Promise<Found> {
  const next = lastSearch.then(search);
  lastSearch = next.catch(() => undefined);
  return next;
}

async function searchGuards(guards: Iterable<object>): Promise<readonly GuardWithoutStrategy[]> {
  const classes = authGuardsAmong(guards);
  if (classes.length === 0) return [];
  const passport = (await loadPassport().catch(() => undefined)) as StrategyRegistry | undefined;
  const isRegistered = passport && probeStrategies(passport);
  if (!isRegistered) return [];
  const found: GuardWithoutStrategy[] = [];
  for (const { name, base } of classes) {
    for (const strategy of await strategiesOf(base, passport))
      if (!isRegistered(strategy)) found.push({ guard: name, strategy });
  }
  return found;
}

function authGuardsAmong(guards: Iterable<object>): readonly FoundGuard[] {
  return [...new Set([...guards].map(classOf))].flatMap((type) => authGuardOf(type) ?? []);
}

interface FoundGuard {
  readonly name: string;
  /** What `AuthGuard('jwt')` has returned. */
  readonly base: AuthGuardClass;
}

/** Undefined for a provider whose methods are replaced. */
function classOf(guard: object): AuthGuardClass | undefined {
  return guard.constructor;
}

/** By its methods, because the package may be loaded twice. */
function authGuardOf(type: AuthGuardClass | undefined): FoundGuard | undefined {
  let base: AuthGuardClass | undefined;
  for (let each = type; each?.prototype; each = Reflect.getPrototypeOf(each) as AuthGuardClass) base = each;
  const isAuthGuard = base && METHODS.every((method) => Object.hasOwn(base.prototype, method));
  return type && base && isAuthGuard ? { name: type === base ? 'AuthGuard' : type.name, base } : undefined;
}

/**
 * The strategies that a guard passes to `passport.authenticate`, which runs none of them: this request is recognized, and is
 * an object that other copies of Passport cannot prepare for a strategy.
 */
async function strategiesOf(base: AuthGuardClass, passport: StrategyRegistry): Promise<readonly string[]> {
  const refuse = (): never => {
    throw new Error('Only the name of the strategy is asked for.');
  };
  const request = new Proxy({}, { set: refuse, defineProperty: refuse });
  const own = Object.getOwnPropertyDescriptor(passport, 'authenticate');
  const { authenticate } = passport;
  let named: unknown;
  passport.authenticate = (...given) => {
    const handle = authenticate.apply(passport, given as unknown[]);
    return (...call) => {
      if (call[0] !== request) {
        handle(...call);
        return;
      }
      [named] = given;
      call[2](new Error('Only the name of the strategy is asked for.'));
    };
  };
  const guard = {
    options: {},
    getAuthenticateOptions: () => undefined,
    getRequest: () => request,
    getResponse: () => ({}),
    handleRequest: refuse,
  };
  try {
    await base.prototype.canActivate.call(guard, {} as never);
  } catch {
    // As expected.
  } finally {
    if (own) Object.defineProperty(passport, 'authenticate', own);
    else Reflect.deleteProperty(passport, 'authenticate');
  }
  return [named].flat().filter((name): name is string => typeof name === 'string');
}
