import type { FilterBackend } from '../core/contracts/filter-backend.js';
import type { InjectableClass, RestifyOptions } from '../decorators/model-options.js';
import type { Pagination } from '../core/contracts/pagination.js';
import type { Serializer } from '../core/contracts/serializer.js';
import type { PermissionClass, PermissionExpression } from '../core/contracts/permission-expression.js';
import type { CompiledPermission } from '../core/contracts/compiled-permission.js';
import { AllowAny, isBuiltIn } from '../features/permissions/built-in-permissions.js';
import { DenialWatch } from '../features/permissions/denial-watch.js';
import { loadCounter } from '../adapters/throttler/load-counter.js';
import { RenamedPagination } from '../features/pagination/renamed-pagination.js';
import { FieldFilter } from '../features/filtering/field-filter.js';
import { SearchFilter } from '../features/filtering/search-filter.js';
import { OrderingFilter } from '../features/filtering/ordering-filter.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import type { RestifyDefaults } from '../restify.options.js';
import { controllerHooks } from './controller-hooks.js';
import { resolveAuthentication } from './authentication-guards.js';
import { resolveProvider } from './resolve-provider.js';
import { modelPipes } from './model-pipes.js';
import type { ConditionalRules } from '../compiler/compile-conditional.js';
import type { ResourceParts } from '../compiler/resource-parts.js';
import type { ResourceSerializer } from '../core/schema/resource.js';
import { compileFieldSelection } from '../compiler/compile-shape.js';
import type { CompilerInput } from '../compiler/compiler-input.js';
import { listedControllers } from './action-binder.js';
import type { BootContext } from './boot-context.js';
import { optionsIn, classesOf, permissionsOfActions } from './classes-of-options.js';
import { findProvider } from './permission-rules.js';

const STANDARD_BACKENDS: readonly InjectableClass<FilterBackend>[] = [
  FieldFilter,
  SearchFilter,
  OrderingFilter,
];

/** Resolves the instances of all classes in declarations, the application's own providers if there are any, and adds them to `instances`. */
export async function resolveParts(
  input: CompilerInput,
  { moduleRef, modules, options, server }: BootContext,
  instances: Map<unknown, unknown>,
): Promise<ResourceParts> {
  const { defaults } = input;
  const make = async (type: InjectableClass<unknown>): Promise<void> => {
    if (!instances.has(type)) instances.set(type, await resolveProvider(type, { moduleRef, modules }));
  };
  const standard: readonly InjectableClass<unknown>[] = [...STANDARD_BACKENDS, ModelSerializer, AllowAny];
  const given = optionsIn(input);
  const throttled = given.some(({ throttle }) => throttle !== undefined);
  for (const type of [...standard, ...given.flatMap(classesOf), ...permissionsOfActions(input)])
    await make(type);
  const listed = listedControllers(modules);
  const got = <Instance>(type: InjectableClass<Instance>): Instance => instances.get(type) as Instance;
  const watches = new Map<PermissionClass, DenialWatch>();
  const watchOf = (type: PermissionClass): DenialWatch => {
    const watch =
      watches.get(type) ??
      new DenialWatch(type.name, (text) => {
        server.log.warn(text);
      });
    watches.set(type, watch);
    return watch;
  };
  const one = (type: PermissionClass): CompiledPermission => {
    const permission = got(type);
    // Not `type`: a provider of the application may replace it.
    if (permission.constructor === AllowAny) return { kind: 'anyone' };
    const allFields = isBuiltIn(permission.constructor);
    return {
      kind: 'one',
      permission,
      allFields,
      watch: allFields || options.refusalsHide === 'rows' ? undefined : watchOf(type),
    };
  };
  return {
    backends: (options) => (options.filterBackends ?? defaults.filterBackends ?? STANDARD_BACKENDS).map(got),
    serializer: (options) => compiledSerializer(got(options.serializer ?? ModelSerializer)),
    permission: (options) =>
      compilePermission(
        { kind: 'all-of', permissions: options.permissions ?? defaults.permissions ?? [AllowAny] },
        one,
      ),
    interceptors: (options) => (options.interceptors ?? defaults.interceptors ?? []).map(got),
    piping: (options, target) => modelPipes((options.pipes ?? defaults.pipes ?? []).map(got), target),
    hooks: (target) =>
      controllerHooks(
        listed.find(({ declaration }) => declaration.entity === target),
        moduleRef,
      ),
    throttle: (options) => options.throttle ?? defaults.throttle,
    ...partsOfOptions(defaults),
    ...(throttled ? { counter: await loadCounter((token) => findProvider(token, moduleRef)) } : {}),
    permissions: (permissions) => compilePermission({ kind: 'all-of', permissions }, one),
    refusalsThrottled: options.authenticationThrottle !== false,
    authentication: await resolveAuthentication(given, defaults, got),
  };
}

/** The parts that options alone determine, without instances of the application's classes. */
function partsOfOptions(
  defaults: RestifyDefaults,
): Pick<
  ResourceParts,
  'pagination' | 'renamedPagination' | 'renderers' | 'shape' | 'conditional' | 'idempotency'
> {
  return {
    pagination: (options) => paginationOf(options, defaults),
    renamedPagination,
    renderers: (options) => options.renderers ?? defaults.renderers ?? [],
    shape: (options) => compileFieldSelection(options, defaults),
    conditional: (options) => conditionalOf(options, defaults),
    idempotency: (options) => options.idempotency ?? defaults.idempotency,
  };
}

function compiledSerializer(serializer: Serializer): ResourceSerializer {
  return { serializer, hasDefaultSerializer: serializer.constructor === ModelSerializer };
}

function renamedPagination(pagination: Pagination, names: ReadonlyMap<string, string>): Pagination {
  return new RenamedPagination(pagination, names);
}

/** `false` disables the pagination of the prefix. */
function paginationOf({ pagination }: RestifyOptions, defaults: RestifyDefaults): Pagination | undefined {
  const given = pagination ?? defaults.pagination;
  return given === false ? undefined : given;
}

/** Each option of a model replaces the one of its prefix separately. */
function conditionalOf(
  { conditional, cacheControl }: RestifyOptions,
  defaults: RestifyDefaults,
): ConditionalRules {
  return {
    conditional: conditional ?? defaults.conditional,
    cacheControl: cacheControl ?? defaults.cacheControl,
  };
}

function compilePermission(
  expression: PermissionExpression,
  one: (type: PermissionClass) => CompiledPermission,
): CompiledPermission {
  if (typeof expression === 'function') return one(expression);
  if (expression.kind === 'not-permission')
    return { kind: 'not', permission: compilePermission(expression.permission, one) };
  const permissions = expression.permissions.map((each) => compilePermission(each, one));
  const [only, ...others] = permissions;
  return only && others.length === 0 ? only : { kind: expression.kind, permissions };
}

/** Parts without instances of the application's own classes, for a verification before the application's providers exist. */
export function offlineParts(defaults: RestifyDefaults): ResourceParts {
  const serializer = new ModelSerializer();
  const backends = [new FieldFilter(), new SearchFilter(), new OrderingFilter()];
  return {
    backends: (options) => (options.filterBackends ? [] : backends),
    serializer: () => compiledSerializer(serializer),
    permission: () => ({ kind: 'all-of', permissions: [] }),
    authentication: () => ({ schemes: [], guards: [], lateGuards: [] }),
    refusalsThrottled: false,
    interceptors: () => [],
    piping: () => undefined,
    hooks: () => ({ hooks: {}, scope: undefined }),
    throttle: () => undefined,
    ...partsOfOptions(defaults),
    permissions: () => ({ kind: 'all-of', permissions: [] }),
  };
}
