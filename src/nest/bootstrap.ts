import type { FilterBackend } from '../core/contracts/filter-backend.js';
import type { ModuleRef, ModulesContainer } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { loadExposures } from '../adapters/class-transformer/load-exposures.js';
import { loadEntityValidator } from '../adapters/class-validator/entity-validator.js';
import { TypeOrmAdapter } from '../adapters/typeorm/typeorm-adapter.js';
import { DeclarationError } from '../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import { controllerDeclarations } from '../decorators/action.decorator.js';
import { declarations } from '../decorators/metadata-storage.js';
import type { InjectableClass, ResourceDeclaration, RestifyOptions } from '../decorators/restify-options.js';
import type { EntityDescription, ModelDescription } from '../core/schema/entity-metadata.js';
import type { Pagination } from '../core/contracts/pagination.js';
import type { PermissionClass, PermissionExpression } from '../core/contracts/permission-expression.js';
import { ActorPermissionSource, PermissionSource } from '../core/contracts/permission-source.js';
import type { CompiledPermission } from '../core/contracts/compiled-permission.js';
import type { Resource } from '../core/schema/resource.js';
import type { PermissionRules } from '../features/permissions/access-control.js';
import { AllowAny, isBuiltIn } from '../features/permissions/built-in-permissions.js';
import { DenialWatch } from '../features/permissions/denial-watch.js';
import { loadCounter } from '../adapters/throttler/load-counter.js';
import { RenamedPagination } from '../features/pagination/renamed-pagination.js';
import { FieldFilter } from '../features/filtering/field-filter.js';
import { SearchFilter } from '../features/filtering/search-filter.js';
import { OrderingFilter } from '../features/filtering/ordering-filter.js';
import { RestPipeline } from '../pipeline/rest-pipeline.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import type { ResolvedOptions, RestifyDefaults } from '../restify.options.js';
import { createAuthenticator } from './create-authenticator.js';
import { controllerHooks } from './controller-hooks.js';
import type { AwaitedPrefix } from './unknown-entities.js';
import { entrances, guardsOfAuthentication } from './authentication-guards.js';
import { resolveProvider } from './resolve-provider.js';
import { missingMethods } from '../compiler/rules/missing-methods.js';
import type { ClassesOfOptions } from '../compiler/rules/missing-methods.js';
import { modelPipes } from './model-pipes.js';
import { compileActions, compileReplacements } from '../compiler/compile-actions.js';
import type { ConditionalRules } from '../compiler/compile-conditional.js';
import { compileResources } from '../compiler/compile-resources.js';
import type { Parts } from '../compiler/compile-resources.js';
import { compileFieldSelection } from '../compiler/compile-shape.js';
import type { CompilerInput, EntityDeclaration, ListedClass } from '../compiler/blueprint.js';
import { listedControllers, propertiesForMethods } from './action-binder.js';
import type { ListedController } from './action-binder.js';
import { buildApi } from '../http/build-routes.js';
import type { GeneratedControllers } from './controller-factory.js';
import type { RestServer } from '../http/rest-server.js';
import { RESTIFY_FEATURE, TYPEORM_OPTIONS } from './tokens.js';
import { noMethods } from '../compiler/rules/verify-actions.js';
import { problemsOfModel } from '../compiler/rules/verify-model.js';
import { verifyOptions } from '../compiler/rules/verify-options.js';
import { modelWarnings } from '../compiler/rules/model-warnings.js';

const STANDARD_BACKENDS: readonly InjectableClass<FilterBackend>[] = [
  FieldFilter,
  SearchFilter,
  OrderingFilter,
];

/** The label that `RestifyModule.forFeature` gives to entities. */
export interface FeatureLabel {
  readonly app: string;
  readonly entities: readonly object[];
}

export interface BootContext {
  readonly options: ResolvedOptions;
  readonly dataSource: DataSource;
  readonly server: RestServer;
  readonly controllers: GeneratedControllers;
  readonly awaited: AwaitedPrefix;
  readonly moduleRef: ModuleRef;
  readonly modules: ModulesContainer;
}

/**
 * Boot of one prefix, once its data source is connected and before Nest maps routes: describe, compile, verify, bind.
 * Rejects with a `DeclarationError`, and the application does not start.
 */
export async function bootstrapApi(context: BootContext): Promise<void> {
  const { options, dataSource, server, controllers } = context;
  server.prefixRegistry.claim(options.prefix, controllers);
  const validator = await loadEntityValidator();
  const adapter = new TypeOrmAdapter(dataSource, {
    acquireTimeout: options.acquireTimeout,
    statementTimeout: options.statementTimeout,
    fairShare: options.fairShare,
    ...validator,
  });
  const description = adapter.describe({ exposures: await loadExposures(), rules: validator?.rulesOf });
  context.awaited.knows(description);
  const blueprint = compilerInput(description, context);
  await refuse(
    verifyOptions({ prefix: options.prefix, given: options.given, drafts: blueprint.drafts }),
    dataSource,
  );
  const instances = new Map<unknown, unknown>();
  const parts = await injectedParts(blueprint, context, instances);
  const model = compileResources(blueprint, parts);
  await refuse(problemsOfModel(blueprint, model), dataSource);
  await adapter.learn();
  for (const resource of model.all) adapter.prepare(resource);
  for (const warning of [...modelWarnings(blueprint, model), ...adapter.warnings()]) server.log.warn(warning);
  const targets = new Map(blueprint.drafts.map((draft) => [draft.entity.id, draft.declaration.target]));
  const listed = listedControllers(context.modules);
  const listedOf = byEntity(listed);
  const joining = (resource: Resource): readonly ListedController[] =>
    listedOf.get(targets.get(resource.entity)) ?? [];
  const targetOf = (resource: Resource): object | undefined => targets.get(resource.entity);
  const api = buildApi(options.prefix, model.resources, {
    actionsOf: (resource) =>
      compileActions(
        joining(resource).map(({ declaration }) => declaration),
        {
          resolve: (permissions) => parts.permissions(permissions),
          scope: parts.hooks(targetOf(resource)).scope,
        },
      ),
    replacementsOf: (resource) =>
      new Map(joining(resource).flatMap((each) => [...compileReplacements(each)])),
  });
  controllers.bind(api, { targetOf, joining, server });
  const targetsOf = new Map(blueprint.drafts.map(({ entity }) => [entity.id, entity.targets]));
  const byTarget = new Map(
    model.resources.flatMap((resource) =>
      (targetsOf.get(resource.entity) ?? []).map((target) => [target, resource]),
    ),
  );
  const resourceOf = (entity: object): Resource | undefined => byTarget.get(entity);
  const findDeferredProblems = (): readonly DeclarationProblem[] => [
    ...[...new Set(api.routes.flatMap(({ resource }) => resource.schemes))].flatMap(
      ({ problem }) => problem?.() ?? [],
    ),
    ...listed.flatMap((each) => noMethods(each.declaration.name, propertiesForMethods(each))),
    ...missingMethods(
      [...optionsIn(blueprint).map(withPermissionClasses), { permissions: permissionsOfActions(blueprint) }],
      instances,
    ),
  ];
  const pipeline = new RestPipeline(adapter, permissionRules(context), createAuthenticator(context));
  server.add({
    api,
    resourceOf,
    findDeferredProblems,
    mapError: (error) => adapter.reported(error),
    pipeline,
    index: options.index,
    errorFormat: options.errorFormat,
    shutdownGrace: options.shutdownGrace,
    unknownEntities: options.unknownEntities,
    order: controllers.order,
  });
}

async function refuse(problems: readonly DeclarationProblem[], dataSource: DataSource): Promise<void> {
  if (problems.length === 0) return;
  // Nothing else would close it: an application that does not start has no shutdown.
  await dataSource.destroy();
  throw new DeclarationError(problems);
}

function byEntity(listed: readonly ListedController[]): ReadonlyMap<unknown, readonly ListedController[]> {
  const found = new Map<unknown, ListedController[]>();
  for (const each of listed)
    found.set(each.declaration.entity, [...(found.get(each.declaration.entity) ?? []), each]);
  return found;
}

/** What is wrong with a model, told without a connection and without instances of the application's own classes. */
export function validateOffline(
  description: ModelDescription,
  context: Pick<BootContext, 'options' | 'controllers' | 'awaited' | 'modules' | 'server'>,
): readonly DeclarationProblem[] {
  context.awaited.knows(description);
  const blueprint = compilerInput(description, context);
  const unfit = verifyOptions({
    prefix: context.options.prefix,
    given: context.options.given,
    drafts: blueprint.drafts,
  });
  if (unfit.length > 0) return unfit;
  const serializer = new ModelSerializer();
  const backends = [new FieldFilter(), new SearchFilter(), new OrderingFilter()];
  const parts: Parts = {
    backends: (options) => (options.filterBackends ? [] : backends),
    serializer: () => serializer,
    permission: () => ({ kind: 'all-of', permissions: [] }),
    entrance: () => ({ schemes: [], guards: [], lateGuards: [] }),
    refusalsThrottled: false,
    interceptors: () => [],
    piping: () => undefined,
    hooks: () => ({ hooks: {}, scope: undefined }),
    throttle: () => undefined,
    pagination: (options) => paginationOf(options, blueprint.defaults),
    renamedPagination,
    renderers: (options) => options.renderers ?? blueprint.defaults.renderers ?? [],
    shape: (options) => compileFieldSelection(options, blueprint.defaults),
    conditional: (options) => conditionalOf(options, blueprint.defaults),
    idempotency: (options) => options.idempotency ?? blueprint.defaults.idempotency,
    permissions: () => ({ kind: 'all-of', permissions: [] }),
  };
  return problemsOfModel(blueprint, compileResources(blueprint, parts));
}

function compilerInput(
  description: ModelDescription,
  {
    options,
    controllers,
    modules,
    server,
  }: Pick<BootContext, 'options' | 'controllers' | 'modules' | 'server'>,
): CompilerInput {
  const labels = featureLabels(modules);
  const drafts = description.entities.flatMap((entity) => declarationOfEntity(entity, labels) ?? []);
  return {
    prefix: options.prefix,
    takenPrefixes: server.prefixRegistry.conflictingPrefixes(controllers),
    description,
    drafts,
    controllers: joiningControllers(drafts, modules),
    defaults: options.defaults,
    errorFormat: options.errorFormat,
    refusalsHide: options.refusalsHide,
    allowAny: AllowAny,
    acquireTimeout: options.acquireTimeout,
    statementTimeout: options.statementTimeout,
    authenticationTimeout: options.authenticationTimeout,
    authenticationThrottle: options.authenticationThrottle,
    shutdownGrace: options.shutdownGrace,
    listed: listedClasses(description, labels, modules),
    laidOut: controllers.targets,
  };
}

function declarationOfEntity(
  entity: EntityDescription,
  labels: readonly FeatureLabel[],
): EntityDeclaration | undefined {
  const declaration = entity.targets
    .map((target) => declarations().get(target as object))
    .find((each) => each !== undefined);
  if (!declaration) return undefined;
  const app =
    declaration.options.app ??
    labels.find(({ entities }) => entity.targets.some((target) => entities.includes(target as object)))?.app;
  return { declaration, entity, app, model: declaration.options.name ?? declaration.name.toLowerCase() };
}

/** Controller classes of the process that join an entity which this prefix serves. */
function joiningControllers(
  drafts: readonly EntityDeclaration[],
  modules: ModulesContainer,
): CompilerInput['controllers'] {
  const all = listedControllers(modules);
  const served = new Set(drafts.map(({ declaration }) => declaration.target));
  return [...controllerDeclarations().values()]
    .filter(({ entity }) => served.has(entity))
    .map((declaration) => {
      const listed = all.filter((each) => each.declaration === declaration);
      return { declaration, listedIn: listed.length, wraps: listed.some(({ wraps }) => wraps) };
    });
}

/** Every `forFeature` of this application, and of no other. */
function featureLabels(modules: ModulesContainer): readonly FeatureLabel[] {
  return [...modules.values()].flatMap((module) => {
    const provider = module.providers.get(RESTIFY_FEATURE);
    return provider ? [provider.instance as FeatureLabel] : [];
  });
}

function listedClasses(
  description: ModelDescription,
  labels: readonly FeatureLabel[],
  modules: ModulesContainer,
): readonly ListedClass[] {
  const given = description.given.flatMap((target): readonly ListedClass[] => {
    const declaration =
      typeof target === 'function' || typeof target === 'object'
        ? declarations().get(target as object)
        : undefined;
    return declaration
      ? [
          {
            target: declaration.target,
            name: declaration.name,
            listedIn: 'the entities of the data source',
            declared: true,
          },
        ]
      : [];
  });
  // With several data sources a class may be another one's: each prefix judges its own.
  const several = [...modules.values()].filter((module) => module.providers.has(TYPEORM_OPTIONS)).length > 1;
  const labelled = (several ? [] : labels).flatMap(({ app, entities }) =>
    entities.map((target): ListedClass => {
      const declaration = declarationOf(target, description);
      const name = declaration?.name ?? (target as { name?: string }).name ?? 'a class';
      return {
        target,
        name,
        listedIn: `RestifyModule.forFeature('${app}')`,
        declared: declaration !== undefined,
      };
    }),
  );
  const declared = new Set(given.map(({ target }) => target));
  return [...given, ...labelled.filter((each) => !declared.has(each.target))];
}

/** Of a class also where its `EntitySchema` is declared, and the other way round. */
function declarationOf(target: object, { entities }: ModelDescription): ResourceDeclaration | undefined {
  const own = declarations().get(target);
  if (own) return own;
  const mapped = entities.find(({ targets }) => targets.includes(target));
  return mapped?.targets.flatMap((each) => declarations().get(each as object) ?? [])[0];
}

/** Those of the prefix, of its models, and of their junctions. */
function optionsIn({ drafts, defaults }: CompilerInput): readonly RestifyOptions[] {
  return [
    defaults,
    ...drafts.flatMap(({ declaration: { options } }) => [options, ...Object.values(options.through ?? {})]),
  ] as readonly RestifyOptions[];
}

function permissionsOfActions({ controllers }: CompilerInput): readonly PermissionClass[] {
  return controllers.flatMap(({ declaration }) =>
    declaration.actions.flatMap(({ options }) => (options.permissions ?? []).flatMap(permissionClasses)),
  );
}

function withPermissionClasses(options: RestifyOptions): ClassesOfOptions {
  return { ...options, permissions: (options.permissions ?? []).flatMap(permissionClasses) };
}

/** Instances of all classes that declarations name, which are put into `instances`: the application's own provider where it has one. */
async function injectedParts(
  blueprint: CompilerInput,
  { moduleRef, modules, options, server }: BootContext,
  instances: Map<unknown, unknown>,
): Promise<Parts> {
  const { defaults } = blueprint;
  const make = async (type: InjectableClass<unknown>): Promise<void> => {
    if (!instances.has(type)) instances.set(type, await resolveProvider(type, { moduleRef, modules }));
  };
  const standard: readonly InjectableClass<unknown>[] = [...STANDARD_BACKENDS, ModelSerializer, AllowAny];
  const given = optionsIn(blueprint);
  const throttled = given.some(({ throttle }) => throttle !== undefined);
  for (const type of [...standard, ...given.flatMap(classesOf), ...permissionsOfActions(blueprint)])
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
    const allFields = isBuiltIn(type);
    return {
      kind: 'one',
      permission: got(type),
      allFields,
      watch: allFields || options.refusalsHide === 'rows' ? undefined : watchOf(type),
    };
  };
  return {
    backends: (options) => (options.filterBackends ?? defaults.filterBackends ?? STANDARD_BACKENDS).map(got),
    serializer: (options) => got(options.serializer ?? ModelSerializer),
    permission: (options) =>
      resolved(
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
    pagination: (options) => paginationOf(options, defaults),
    renamedPagination,
    renderers: (options) => options.renderers ?? defaults.renderers ?? [],
    shape: (options) => compileFieldSelection(options, defaults),
    conditional: (options) => conditionalOf(options, defaults),
    idempotency: (options) => options.idempotency ?? defaults.idempotency,
    ...(throttled ? { counter: await loadCounter((token) => foundAnywhere(token, moduleRef)) } : {}),
    permissions: (permissions) => resolved({ kind: 'all-of', permissions }, one),
    refusalsThrottled: options.authenticationThrottle !== false,
    entrance: await entrances(given, defaults, got),
  };
}

function renamedPagination(pagination: Pagination, names: ReadonlyMap<string, string>): Pagination {
  return new RenamedPagination(pagination, names);
}

/** `false` turns that of the prefix off. */
function paginationOf({ pagination }: RestifyOptions, defaults: RestifyDefaults): Pagination | undefined {
  const given = pagination ?? defaults.pagination;
  return given === false ? undefined : given;
}

/** Each for itself: a model that says one of them keeps the other of its prefix. */
function conditionalOf(
  { conditional, cacheControl }: RestifyOptions,
  defaults: RestifyDefaults,
): ConditionalRules {
  return {
    conditional: conditional ?? defaults.conditional,
    cacheControl: cacheControl ?? defaults.cacheControl,
  };
}

function classesOf({
  filterBackends,
  guards,
  interceptors,
  pipes,
  serializer,
  permissions,
  authentication,
}: RestifyOptions): readonly InjectableClass<unknown>[] {
  return [
    ...guardsOfAuthentication({ authentication }),
    ...(filterBackends ?? []),
    ...(guards ?? []),
    ...(interceptors ?? []),
    ...(pipes ?? []),
    ...(serializer ? [serializer] : []),
    ...(permissions ?? []).flatMap(permissionClasses),
  ];
}

function permissionClasses(expression: PermissionExpression): readonly PermissionClass[] {
  if (typeof expression === 'function') return [expression];
  return expression.kind === 'not-permission'
    ? permissionClasses(expression.permission)
    : expression.permissions.flatMap(permissionClasses);
}

function resolved(
  expression: PermissionExpression,
  one: (type: PermissionClass) => CompiledPermission,
): CompiledPermission {
  if (typeof expression === 'function') return one(expression);
  if (expression.kind === 'not-permission')
    return { kind: 'not', permission: resolved(expression.permission, one) };
  return { kind: expression.kind, permissions: expression.permissions.map((each) => resolved(each, one)) };
}

function permissionRules({ options, moduleRef, server }: BootContext): PermissionRules {
  return {
    source: permissionSource(moduleRef),
    refusalsHide: options.refusalsHide,
    failed: (error, { resource, method }) => {
      server.log.logError(
        `A permission of ${resource.id} failed behind one that refuses ${method}, and every row counts as hidden`,
        error,
      );
    },
  };
}

/** The application's own, from any of its modules, else the default. */
function permissionSource(moduleRef: ModuleRef): PermissionSource {
  return (
    (foundAnywhere(PermissionSource, moduleRef) as PermissionSource | undefined) ??
    new ActorPermissionSource()
  );
}

function foundAnywhere(token: symbol, moduleRef: ModuleRef): unknown {
  try {
    return moduleRef.get<unknown>(token, { strict: false });
  } catch {
    return undefined;
  }
}
