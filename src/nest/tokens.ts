/** Injection tokens, the same for every copy of the package in a process. */
export const REST_SERVER = Symbol.for('nestjs-restify.RestServer');
export const RESTIFY_OPTIONS = Symbol.for('nestjs-restify.options');
export const RESTIFY_FEATURE = Symbol.for('nestjs-restify.feature');
/**
 * A token of @nestjs/typeorm, which is not imported here: an application may give its data source in another way. A module
 * that has it provides one data source, under that one's token; further tokens differ between @nestjs/typeorm 11 and 12.
 */
export const TYPEORM_OPTIONS = 'TypeOrmModuleOptions';

/** Rejects where the data source could not even connect. */
export const RESTIFY_EARLY = Symbol.for('nestjs-restify.early');
/** Resolves when a prefix is compiled and its routes are bound. */
export const RESTIFY_BOUND = Symbol.for('nestjs-restify.bound');
