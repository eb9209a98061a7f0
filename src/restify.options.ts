import type { InjectableClass, RestifyOptions } from './decorators/restify-options.js';
import type { Authentication, AuthenticationThrottle } from './core/contracts/authentication.js';
import type { ConditionalOptions } from './core/contracts/conditional.js';
import type { IdempotencyOptions } from './core/contracts/idempotency.js';
import type { Pagination } from './core/contracts/pagination.js';
import type { ParameterNames } from './core/schema/parameter-names.js';
import type { ErrorFormat } from './core/contracts/error-format.js';
import type { Renderer } from './core/contracts/renderer.js';
import type { Hiding } from './core/contracts/permission.js';
import type { PermissionExpression } from './core/contracts/permission-expression.js';
import type { GuardLike } from './core/contracts/guard.js';
import type { InterceptorLike } from './core/contracts/interceptor.js';
import type { PipeLike } from './core/contracts/pipe.js';
import type { Throttle } from './core/contracts/throttle.js';
import {
  ACQUIRE_TIMEOUT,
  AUTHENTICATION_TIMEOUT,
  QUERY_LIMITS,
  SHUTDOWN_GRACE,
  STATEMENT_TIMEOUT,
} from './core/schema/limits.js';
import type { QueryLimits } from './core/schema/limits.js';
import type { FilterBackend } from './core/contracts/filter-backend.js';
import type { FieldSelectionOptions } from './core/contracts/field-selection.js';

/** The options that a prefix and a model have in common; those of the model have precedence. */
export type SharedOption = keyof RestifyModuleOptions & keyof RestifyOptions;

/** The options of every model below a prefix that has none of its own. */
export interface RestifyDefaults extends Pick<RestifyModuleOptions, SharedOption> {
  readonly returnDeleted: boolean;
  readonly strict: boolean;
  readonly queryLimits: QueryLimits;
}

/** What to do about declared entities that no data source knows. */
export type UnknownEntities = 'warn' | 'error' | 'ignore';

/** The second argument of `RestifyModule.forRoot`. */
export interface RestifyModuleOptions {
  /** The name of the TypeORM data source; left out: the default one. */
  readonly dataSource?: string;
  /** Milliseconds that a request waits for a connection to the database, before it is answered with 503. Default: 10,000. */
  readonly acquireTimeout?: number;
  /** Milliseconds that a statement may read on PostgreSQL, MariaDB and MySQL, before it is cancelled and answered with 503; `false`: any time. Default: 30,000. */
  readonly statementTimeout?: number | false;
  /** Milliseconds that half a request may stand still while the application ends, before its connection is closed. Default: 5,000. */
  readonly shutdownGrace?: number;
  /** Whether one caller, in a pool of three connections or more, leaves the last one to others. Default: true. */
  readonly fairShare?: boolean;
  /** What becomes of entities with `@Restify` that no data source knows, and that are served nowhere: named in the log, an error, or nothing. Default: `warn`. */
  readonly unknownEntities?: UnknownEntities;
  /** Where the index stands, below the global prefix; `false` turns it off. Default: `/`. */
  readonly index?: false | string;
  /** The filter backends of models that name none. Default: `FieldFilter`, `SearchFilter`, `OrderingFilter`. */
  readonly filterBackends?: readonly InjectableClass<FilterBackend>[];
  /** How the lists of models that do not say are cut into pages. Default: they are whole. */
  readonly pagination?: Pagination | false;
  /** Forms of rows beside JSON, such as `new CsvRenderer()`, of models that name none. Default: none. */
  readonly renderers?: readonly Renderer[];
  /** How errors are told: `drf` (contract 6.1), or `problem`, RFC 9457's `application/problem+json`. Default: `drf`. */
  readonly errorFormat?: ErrorFormat;
  /** Whether clients choose the fields of answers, in models that do not say; their parameters and bounds. Default: false. */
  readonly shape?: boolean | FieldSelectionOptions;
  /** Whether objects of models that do not say have an `ETag`, and requests for them may be conditional. Default: false. */
  readonly conditional?: boolean | ConditionalOptions;
  /** The `Cache-Control` of what is read, in models that do not say. Default: `private, no-cache` where requests may be conditional, else none. */
  readonly cacheControl?: string | false;
  /** Whether a POST with an `Idempotency-Key` is done once, however often it comes, in models that do not say. Default: false. */
  readonly idempotency?: boolean | IdempotencyOptions;
  /** DELETE of an object answers 200 with the object that is gone, in models that do not say, and not 204. Default: false. */
  readonly returnDeleted?: boolean;
  /** Unknown body fields and query parameters are errors in models that do not say. Default: false. */
  readonly strict?: boolean;
  /** What one query may ask for, in models that do not say. Defaults: docs/limits.md. */
  readonly queryLimits?: Partial<QueryLimits>;
  /** Other names for query parameters, such as `{ search: 'q' }`; a model may name more, or others. Default: those of the features. */
  readonly parameters?: ParameterNames;
  /** The permissions of models that name none. Default: `AllowAny`. */
  readonly permissions?: readonly PermissionExpression[];
  /**
   * What a refusal hides that does not say, where rows are named as a parent in a URL or as a key in a body: `rows` hides all
   * of them from who may not read the model. Default: `nothing`.
   */
  readonly refusalsHide?: Hiding;
  /** How callers say who they are, for models that do not say. Default: their guards, else the actor that the application puts on the request. */
  readonly authentication?: readonly Authentication[];
  /** Milliseconds that the check of a request's credentials may take, before it is answered with 503. Default: 10,000. */
  readonly authenticationTimeout?: number;
  /** How many credentials may be refused, over all models of the prefix, before no more are looked at; `false`: any number. Default: 30 of one address and 10 of one user name from it, in a minute. */
  readonly authenticationThrottle?: false | AuthenticationThrottle;
  /** Guards of Nest for models that name none. Without `authentication` they stand in its place, before the permissions. */
  readonly guards?: readonly InjectableClass<GuardLike>[];
  /** Interceptors of Nest for models that name none. */
  readonly interceptors?: readonly InjectableClass<InterceptorLike>[];
  /** Pipes of Nest for models that name none. */
  readonly pipes?: readonly InjectableClass<PipeLike>[];
  /** For models that name none; each model counts for itself. */
  readonly throttle?: Throttle;
}

/** The options of one prefix, with every default filled in. */
export interface ResolvedOptions {
  /** Without slashes around it: `rest/v1`. */
  readonly prefix: string;
  /** As they were given, for whoever judges them. */
  readonly given: { readonly prefix: unknown; readonly options: RestifyModuleOptions };
  readonly dataSource: string | undefined;
  readonly acquireTimeout: number;
  readonly authenticationTimeout: number;
  readonly authenticationThrottle: false | AuthenticationThrottle;
  /** Undefined for any time. */
  readonly statementTimeout: number | undefined;
  readonly shutdownGrace: number;
  readonly fairShare: boolean;
  readonly unknownEntities: UnknownEntities;
  /** Without a slash before it; undefined where there is no index. */
  readonly index: string | undefined;
  readonly errorFormat: ErrorFormat;
  readonly refusalsHide: Hiding;
  readonly defaults: RestifyDefaults;
}

export function resolveOptions(prefix: string, options: RestifyModuleOptions): ResolvedOptions {
  const {
    dataSource,
    acquireTimeout,
    statementTimeout,
    fairShare,
    unknownEntities,
    authenticationTimeout,
    authenticationThrottle,
    shutdownGrace,
    index,
    filterBackends,
    pagination,
    renderers,
    errorFormat,
    refusalsHide,
    shape,
    conditional,
    cacheControl,
    idempotency,
    returnDeleted,
    strict,
    queryLimits,
    parameters,
    permissions,
    authentication,
    guards,
    interceptors,
    pipes,
    throttle,
  } = options;
  return {
    prefix: withoutSlashes(prefix),
    given: { prefix, options },
    dataSource,
    acquireTimeout: acquireTimeout ?? ACQUIRE_TIMEOUT,
    authenticationTimeout: authenticationTimeout ?? AUTHENTICATION_TIMEOUT,
    authenticationThrottle: authenticationThrottle ?? {},
    statementTimeout: statementTimeout === false ? undefined : (statementTimeout ?? STATEMENT_TIMEOUT),
    shutdownGrace: shutdownGrace ?? SHUTDOWN_GRACE,
    fairShare: fairShare ?? true,
    unknownEntities: unknownEntities ?? 'warn',
    index: index === false ? undefined : withoutSlashes(index ?? ''),
    errorFormat: errorFormat ?? 'drf',
    refusalsHide: refusalsHide ?? 'nothing',
    defaults: {
      returnDeleted: returnDeleted ?? false,
      strict: strict ?? false,
      queryLimits: { ...QUERY_LIMITS, ...queryLimits },
      ...(parameters === undefined ? {} : { parameters }),
      ...(renderers ? { renderers } : {}),
      ...(shape === undefined ? {} : { shape }),
      ...(conditional === undefined ? {} : { conditional }),
      ...(cacheControl === undefined ? {} : { cacheControl }),
      ...(idempotency === undefined ? {} : { idempotency }),
      ...(filterBackends ? { filterBackends } : {}),
      ...(pagination === undefined ? {} : { pagination }),
      ...(permissions ? { permissions } : {}),
      ...(authentication ? { authentication } : {}),
      ...(guards ? { guards } : {}),
      ...(interceptors ? { interceptors } : {}),
      ...(pipes ? { pipes } : {}),
      ...(throttle ? { throttle } : {}),
    },
  };
}

/** A path as prefixes are kept: `/rest/v1/` is `rest/v1`. */
export function withoutSlashes(path: string): string {
  // What is no text is refused when it is judged.
  const given: unknown = path;
  return String(given).replace(/^\/+|\/+$/g, '');
}
