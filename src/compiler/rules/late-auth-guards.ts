import type { RestifyOptions } from '../../decorators/model-options.js';
import type { GuardClass } from '../../core/contracts/guard.js';
import type { CompilerInput } from '../compiler-input.js';
import { isGuard } from './unfit-scheme.js';
import { optionLocations } from './option-locations.js';

/** Warns about `AuthGuard` of @nestjs/passport in `guards` in addition to `authentication`: it runs after the permissions, which see its callers as anonymous. */
export function lateAuthGuards(input: CompilerInput): readonly string[] {
  const { prefix, defaults } = input;
  const late = optionLocations(input).filter(({ options }) => {
    const { authentication = defaults.authentication, guards = defaults.guards } = options as RestifyOptions;
    const named = authentication ?? [];
    return named.length > 0 && !named.some(isGuard) && guards?.some(isPassportGuard) === true;
  });
  if (late.length === 0) return [];
  const [first] = late;
  // Reported once for forRoot, and not for each model.
  const places = first?.where.startsWith('RestifyModule') === true ? [first] : late;
  return [
    `RestifyModule.forRoot('${prefix}'): AuthGuard of @nestjs/passport stands in guards of ${places.map(({ where }) => where).join(', ')}, where authentication is named.` +
      ' It runs behind the permissions, to which a caller whom AuthGuard alone knows is anonymous. Move it to authentication.',
  ];
}

/** Recognizes it by its documented methods for subclasses, because the package may be loaded twice. */
export function isPassportGuard(type: GuardClass): boolean {
  const { handleRequest, getAuthenticateOptions } = type.prototype as Readonly<Record<string, unknown>>;
  return typeof handleRequest === 'function' && typeof getAuthenticateOptions === 'function';
}
