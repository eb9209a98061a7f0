/** Injection tokens, which are equal for all copies of the package in a process. */
export const REST_SERVER = Symbol.for('nestjs-restify.RestServer');
export const RESTIFY_OPTIONS = Symbol.for('nestjs-restify.options');
export const RESTIFY_FEATURE = Symbol.for('nestjs-restify.feature');
/**
 * A token of @nestjs/typeorm, which is not imported because an application may provide its data source in another way. A
 * module with this token provides one data source; its other tokens differ between @nestjs/typeorm 11 and 12.
 */
export const TYPEORM_OPTIONS = 'TypeOrmModuleOptions';

/** Rejects if the data source cannot connect. */
export const RESTIFY_EARLY = Symbol.for('nestjs-restify.early');
/** Resolves when a prefix has been compiled and its routes have been bound. */
export const RESTIFY_BOUND = Symbol.for('nestjs-restify.bound');

/** Marks the enhancers that `@RestifyController` adds to a class, in every copy of the package. */
export const OWN_ENHANCER = Symbol.for('nestjs-restify.enhancer');

export function isOwnEnhancer(enhancer: unknown): boolean {
  return typeof enhancer === 'function' && OWN_ENHANCER in enhancer;
}
