/** Injection tokens, the same for every copy of the package in a process. */
export const REST_SERVER = Symbol.for('nestjs-restify.RestServer');
export const RESTIFY_OPTIONS = Symbol.for('nestjs-restify.options');
export const RESTIFY_FEATURE = Symbol.for('nestjs-restify.feature');
/** Resolves when a prefix is compiled and its routes are bound. */
export const RESTIFY_BOUND = Symbol.for('nestjs-restify.bound');
