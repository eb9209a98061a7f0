import type { InjectableClass, RestifyOptions } from './decorators/model-options.js';
import type { Authentication, AuthenticationThrottle } from './core/contracts/authentication.js';
import type { ConditionalOptions } from './core/contracts/conditional.js';
import type { IdempotencyOptions } from './core/contracts/idempotency.js';
import type { Pagination } from './core/contracts/pagination.js';
import type { ParameterNames } from './core/schema/resource-schema.js';
import type { ErrorListener, ErrorFormat } from './core/contracts/errors.js';
import type { AfterCommit, HookClass } from './core/contracts/hooks.js';
import type { Renderer } from './core/contracts/renderer.js';
import type { Hiding, PermissionExpression } from './core/contracts/permission.js';
import type { GuardLike, InterceptorLike, PipeLike } from './core/contracts/enhancers.js';
import type { Throttle } from './core/contracts/throttle.js';
import {
  ACQUIRE_TIMEOUT,
  AUTHENTICATION_TIMEOUT,
  MISSING_INDEX_ROWS,
  QUERY_LIMITS,
  SHUTDOWN_GRACE,
  STATEMENT_TIMEOUT,
} from './core/schema/limits.js';
import type { BrowsableOptions } from './core/contracts/browsable.js';
import type { QueryLimits } from './core/schema/limits.js';
import type { FilterBackend } from './core/contracts/filters.js';
import type { FieldSelectionOptions } from './core/contracts/field-selection.js';

/** The options that a prefix and a model have in common; those of the model have precedence. */
export type SharedOption = keyof RestifyModuleOptions & keyof RestifyOptions;

/** The options of every model below a prefix that has none of its own. */
export interface RestifyDefaults extends Pick<RestifyModuleOptions, SharedOption> {
  readonly returnDeleted: boolean;
  readonly strict: boolean | 'writes';
  readonly queryLimits: QueryLimits;
}

/** What happens to entities with `@Restify` that are not registered in any data source. */
export type UnknownEntities = 'warn' | 'error' | 'ignore';

/** The second argument of `RestifyModule.forRoot`. */
export interface RestifyModuleOptions {
  /** The name of the TypeORM data source. Default: the default data source. */
  readonly dataSource?: string;
  /** How long a request waits for a database connection before a 503, in milliseconds. Default: 10,000. */
  readonly acquireTimeout?: number;
  /** How long a reading statement may run on PostgreSQL, MariaDB and MySQL before it is cancelled with a 503, in milliseconds; `false` for no limit. Default: 30,000. */
  readonly statementTimeout?: number | false;
  /** How long an incomplete request may be inactive during shutdown before its connection is closed, and how long calls of `afterCommit` may take then, in milliseconds. Default: 5,000. */
  readonly shutdownGrace?: number;
  /** Whether a single caller may not use the last connection of a pool of three or more. Default: true. */
  readonly fairShare?: boolean;
  /** Whether the errors that triggers of the database raise are meant for callers, who then receive their messages, in which values of rows may stand. Default: false. */
  readonly triggerMessages?: boolean;
  /** What happens to entities with `@Restify` that are not registered in any data source and therefore not served: a warning in the log, an error at start, or nothing. Default: `warn`. */
  readonly unknownEntities?: UnknownEntities;
  /** On PostgreSQL, MariaDB and MySQL, the rows from which a table without an index for a declared filter, order or foreign key is a warning in the log after the start; `false` for no warnings. Default: 100,000. */
  readonly missingIndexRows?: number | false;
  /** The path of the index of all prefixes, below the global prefix; `false` disables it and that of this prefix. Default: `/`. */
  readonly index?: false | string;
  /** Whether a browser that opens a URL of the API gets a page that shows it. Default: false. */
  readonly browsable?: boolean | BrowsableOptions;
  /** The default filter backends of models. Default: `FieldFilter`, `SearchFilter`, `OrderingFilter`. */
  readonly filterBackends?: readonly InjectableClass<FilterBackend>[];
  /** The default pagination of models. Default: none: lists are complete. */
  readonly pagination?: Pagination | false;
  /** The default renderers of models beside JSON, such as `new CsvRenderer()`. Default: none. */
  readonly renderers?: readonly Renderer[];
  /** The format of errors: `drf` (contract 6.1), or `problem` for `application/problem+json` of RFC 9457. Default: `drf`. */
  readonly errorFormat?: ErrorFormat;
  /** A class that gets each error that the log gets, for error trackers. Default: none. */
  readonly onError?: InjectableClass<ErrorListener>;
  /** Classes whose `beforeWrite` and `afterWrite` run in the writes of every model, before those of the model's own controller class. Default: none. */
  readonly hooks?: readonly InjectableClass<HookClass>[];
  /** A class whose `afterCommit` is called after the COMMIT of writes of every model, before that of the model's own controller class. Default: none. */
  readonly afterCommit?: InjectableClass<AfterCommit>;
  /** The default of models for whether clients select the fields of responses, with the parameter names and limits. Default: false. */
  readonly shape?: boolean | FieldSelectionOptions;
  /** The default of models for whether objects have an `ETag` and requests may be conditional. Default: false. */
  readonly conditional?: boolean | ConditionalOptions;
  /** The default `Cache-Control` of models for read responses. Default: `private, no-cache` if requests may be conditional, else none. */
  readonly cacheControl?: string | false;
  /** The default of models for whether a repeated POST with the same `Idempotency-Key` is executed once. Default: false. */
  readonly idempotency?: boolean | IdempotencyOptions;
  /** The default of models for whether DELETE responds 200 with the deleted object instead of 204. Default: false. */
  readonly returnDeleted?: boolean;
  /** The default of models for whether unknown body fields and query parameters are errors; with `writes`, so are fields that a grant does not let the caller write. Default: false. */
  readonly strict?: boolean | 'writes';
  /** The default limits of models for one query. Default: those of docs/reference/limits.md. */
  readonly queryLimits?: Partial<QueryLimits>;
  /** The default of models for whether expanded lists take the parameters of their own lists, and a limit. Default: false. */
  readonly expansionQueries?: boolean;
  /** The default of models for whether lists are also read by QUERY (RFC 10008), with the parameters as the body. Default: false. */
  readonly query?: boolean;
  /** Other names for query parameters, such as `{ search: 'q' }`, which models may extend and override. Default: none. */
  readonly parameters?: ParameterNames;
  /** The default permissions of models. Default: `AllowAny`. */
  readonly permissions?: readonly PermissionExpression[];
  /**
   * What a denial hides by default if rows are referred to as a parent in a URL or as a key in a body: `rows` hides the
   * existence of all rows from callers who may not read the model. Default: `nothing`.
   */
  readonly refusalsHide?: Hiding;
  /** The default authentication of models. Default: the guards of the model, else the user that the application sets on the request. */
  readonly authentication?: readonly Authentication[];
  /** How long the verification of credentials may take before a 503, in milliseconds. Default: 10,000. */
  readonly authenticationTimeout?: number;
  /** The limit of failed authentications over all models of the prefix, after which credentials are not verified; `false` for no limit. Default: `{ perAddress: 30, perUser: 10, ttl: 60000 }`, in milliseconds. */
  readonly authenticationThrottle?: false | AuthenticationThrottle;
  /** Origins such as `https://admin.example.com` whose pages may send unsafe requests with the cookies of a session, in addition to the application's own origin. Default: none. */
  readonly trustedOrigins?: readonly string[];
  /** The default Nest guards of models. Without `authentication` they authenticate, and run before the permissions. Default: none. */
  readonly guards?: readonly InjectableClass<GuardLike>[];
  /** The default Nest interceptors of models. Default: none. */
  readonly interceptors?: readonly InjectableClass<InterceptorLike>[];
  /** The default Nest pipes of models. Default: none. */
  readonly pipes?: readonly InjectableClass<PipeLike>[];
  /** The default rate limit of models. Requests are counted separately for each model. Default: none. */
  readonly throttle?: Throttle;
}

/** The options of one prefix, with all defaults applied. */
export interface ResolvedOptions {
  /** Without surrounding slashes: `rest/v1`. */
  readonly prefix: string;
  /** The original arguments, for verification. */
  readonly given: { readonly prefix: unknown; readonly options: RestifyModuleOptions };
  readonly dataSource: string | undefined;
  readonly acquireTimeout: number;
  readonly authenticationTimeout: number;
  readonly authenticationThrottle: false | AuthenticationThrottle;
  readonly trustedOrigins: ReadonlySet<string>;
  /** Undefined for no limit. */
  readonly statementTimeout: number | undefined;
  readonly shutdownGrace: number;
  readonly fairShare: boolean;
  readonly triggerMessages: boolean;
  readonly unknownEntities: UnknownEntities;
  /** Undefined for no warnings. */
  readonly missingIndexRows: number | undefined;
  /** Without a leading slash; undefined without an index. */
  readonly index: string | undefined;
  readonly errorFormat: ErrorFormat;
  readonly onError: InjectableClass<ErrorListener> | undefined;
  readonly hooks: readonly InjectableClass<HookClass>[];
  readonly afterCommit: InjectableClass<AfterCommit> | undefined;
  /** Undefined without the page. */
  readonly browsable: BrowsableOptions | undefined;
  readonly refusalsHide: Hiding;
  readonly defaults: RestifyDefaults;
}

const DEFAULT_OPTIONS = {
  acquireTimeout: ACQUIRE_TIMEOUT,
  authenticationTimeout: AUTHENTICATION_TIMEOUT,
  authenticationThrottle: {},
  trustedOrigins: [],
  shutdownGrace: SHUTDOWN_GRACE,
  fairShare: true,
  triggerMessages: false,
  unknownEntities: 'warn',
  missingIndexRows: MISSING_INDEX_ROWS,
  errorFormat: 'drf',
  hooks: [],
  browsable: false,
  refusalsHide: 'nothing',
} satisfies RestifyModuleOptions;

export function resolveOptions(prefix: string, options: RestifyModuleOptions): ResolvedOptions {
  const { dataSource, index, statementTimeout, ...others } = omitUndefined(options);
  const {
    acquireTimeout,
    authenticationTimeout,
    authenticationThrottle,
    trustedOrigins,
    shutdownGrace,
    fairShare,
    triggerMessages,
    unknownEntities,
    missingIndexRows,
    errorFormat,
    onError,
    hooks,
    afterCommit,
    browsable,
    refusalsHide,
    ...shared
  } = { ...DEFAULT_OPTIONS, ...others };
  return {
    prefix: withoutSlashes(prefix),
    given: { prefix, options },
    dataSource,
    acquireTimeout,
    authenticationTimeout,
    authenticationThrottle,
    // A value that is not a list is reported by the verification.
    trustedOrigins: new Set(Array.isArray(trustedOrigins) ? trustedOrigins : []),
    statementTimeout: statementTimeout === false ? undefined : (statementTimeout ?? STATEMENT_TIMEOUT),
    shutdownGrace,
    fairShare,
    triggerMessages,
    unknownEntities,
    missingIndexRows: missingIndexRows === false ? undefined : missingIndexRows,
    index: index === false ? undefined : withoutSlashes(index ?? ''),
    errorFormat,
    onError,
    hooks,
    afterCommit,
    browsable: browsable === true ? {} : browsable || undefined,
    refusalsHide,
    defaults: resolveDefaults(shared),
  };
}

function resolveDefaults(shared: Pick<RestifyModuleOptions, SharedOption>): RestifyDefaults {
  return {
    returnDeleted: false,
    strict: false,
    ...omitUndefined(shared),
    queryLimits: { ...QUERY_LIMITS, ...shared.queryLimits },
  };
}

function omitUndefined<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}

/** Removes slashes around a path: `/rest/v1/` becomes `rest/v1`. */
export function withoutSlashes(path: string): string {
  // A value that is not a string is reported by the verification.
  const given: unknown = path;
  return String(given).replace(/^\/+|\/+$/g, '');
}
