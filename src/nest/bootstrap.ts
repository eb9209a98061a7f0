import { METHODS } from 'node:http';
import * as nestDecorators from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { loadExposures } from '../adapters/class-transformer/load-exposures.js';
import { loadEntityValidator } from '../adapters/class-validator/entity-validator.js';
import { TypeOrmAdapter } from '../adapters/typeorm/typeorm-adapter.js';
import { DeclarationError } from '../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import type { ErrorListener } from '../core/contracts/errors.js';
import type { ModelDescription } from '../core/schema/entity-metadata.js';
import type { Resource } from '../core/schema/resource.js';
import { ApplicationOperations } from '../pipeline/application-operations.js';
import { RestPipeline } from '../pipeline/rest-pipeline.js';
import { pipelineServices } from '../pipeline/pipeline-services.js';
import { createAuthenticator } from './create-authenticator.js';
import { missingMethods } from '../compiler/rules/missing-methods.js';
import { compileActions, compileReplacements } from '../compiler/compile-actions.js';
import { compileResources } from '../compiler/compile-resources.js';
import type { CompiledModel } from '../compiler/compile-resources.js';
import type { ResourceParts, CompilerInput } from '../compiler/compiler-input.js';
import { listedControllers, propertiesForMethods, routingProblems } from './listed-controllers.js';
import type { ListedController } from './listed-controllers.js';
import { laneTable } from '../execution/lane-table.js';
import { BrowsablePage, loadPageAssets } from '../http/browsable/browsable-page.js';
import { buildApi } from '../http/build-routes.js';
import { noMethods } from '../compiler/rules/verify-actions.js';
import { problemsOfModel, problemsOfPartialModel } from '../compiler/rules/verify-model.js';
import { unique } from '../compiler/rules/problems.js';
import { omitFlawedOptions, verifyOptions } from '../compiler/rules/verify-options.js';
import { needsActor } from '../features/permissions/built-in-permissions.js';
import { unauthenticatedModels, modelWarnings } from '../compiler/rules/model-warnings.js';
import type { BootContext } from './boot-context.js';
import {
  optionsIn,
  withPermissionClasses,
  permissionsOfActions,
  resolveParts,
  offlineParts,
  permissionRules,
} from './compiler-parts.js';
import { compilerInput } from './create-compiler-input.js';
import { describeLanes } from './describe-lanes.js';
import { findUnknownMetadata, unknownMetadata, unknownQuery } from '../internals/nest.js';
import { resolveProvider } from './resolve-provider.js';
import { selectDefaultVersion } from './application-config.js';
import type { BodyReader } from '../core/schema/value-rules.js';
import type { RoutesOf } from '../pipeline/description/describe-queries.js';
import type { ReportError } from '../execution/connection/connection-manager.js';
import type { Api, Route } from '../core/schema/route.js';

/**
 * Boots one prefix after its data source has connected and before Nest maps routes: describe, compile, verify, bind.
 * Rejects with a `DeclarationError`, and the application does not start.
 */
export async function bootstrapApi(context: BootContext): Promise<void> {
  const { options, dataSource, server, controllers } = context;
  server.prefixRegistry.claim(options.prefix, controllers);
  const unknown = findUnknownMetadata(nestDecorators);
  rejectProblems(unknown.length > 0 ? [unknownMetadata(unknown)] : [], dataSource);
  // Resolved below, when the options are known to be right.
  const errors: { listener?: ErrorListener | undefined } = {};
  const reportError: ReportError = (error, { subject, requester }) => {
    const { method = '', request } = requester?.call ?? {};
    server.reportError(error, { subject, listener: errors.listener, method, actor: null, request });
  };
  const { adapter, description, readBody } = await describeEntities(context, reportError);
  context.awaited.setKnownEntities(description);
  const input = compilerInput(description, context);
  rejectProblems(problemsOfOptions(input), dataSource);
  const instances = new Map<unknown, unknown>();
  const parts = await resolveParts(input, context, { instances, reportError }).catch((error: unknown) => {
    if (!(error instanceof DeclarationError)) throw error;
    rejectProblems([...error.problems, ...offlineProblems(input)], dataSource);
    throw error;
  });
  const model = compileResources(input, parts);
  rejectProblems([...problemsOfModel(input, model), ...problemsOfQuery(model)], dataSource);
  rejectProblems(await adapter.problems(model.all), dataSource);
  for (const resource of model.all) adapter.prepare(resource);
  const warnings = [...modelWarnings(input, model), ...(await adapter.warnings(model.all))];
  for (const warning of warnings) server.log.warn(warning);
  if (model.resources.length > 0)
    server.log.debug(
      () =>
        `Lanes of ${options.prefix}/, without parameters of a request:\n${laneTable(describeLanes(model.resources, adapter))}`,
    );
  if (options.onError) {
    errors.listener = (await resolveProvider(options.onError, context)) as ErrorListener;
    instances.set(options.onError, errors.listener);
  }
  const listed = listedControllers(context.modules);
  const api = bindRoutes(model, { context, input, parts, listed, readBody });
  const routed = listed.filter(({ listed: own, wrapper }) => wrapper.metatype !== own);
  const services = pipelineServices({
    adapter,
    permissions: permissionRules(context, errors.listener),
    authenticator: createAuthenticator(context),
    routesOf: routesByResource(api),
    readsPreferences: options.browsable !== undefined,
  });
  server.add({
    api,
    resourceOf: resourcesByTarget(input, model),
    findUnauthenticated: () => unauthenticatedModels(input, model, needsActor),
    findDeferredProblems: () => [
      ...schemeProblems(api),
      ...routed.flatMap(routingProblems),
      ...listed.flatMap((each) => [...noMethods(each.declaration.name, propertiesForMethods(each))]),
      ...missingMethods(
        [
          ...optionsIn(input).map(withPermissionClasses),
          {
            permissions: permissionsOfActions(input),
            onError: options.onError,
            afterCommit: options.afterCommit,
          },
        ],
        instances,
      ),
    ],
    mapError: (error) => adapter.reported(error),
    pipeline: new RestPipeline(services),
    operations: new ApplicationOperations(services),
    findMissingIndexes: (rows) => adapter.findMissingIndexes(rows),
    missingIndexRows: adapter.hasStatistics ? options.missingIndexRows : undefined,
    index: options.index,
    page:
      options.browsable &&
      new BrowsablePage(await loadPageAssets(), options.browsable, selectDefaultVersion(context.moduleRef)),
    errorFormat: options.errorFormat,
    errorListener: errors.listener,
    shutdownGrace: options.shutdownGrace,
    unknownEntities: options.unknownEntities,
    order: controllers.order,
  });
}

interface DescribedEntities {
  readonly adapter: TypeOrmAdapter;
  readonly description: ModelDescription;
  /** Undefined without class-validator. */
  readonly readBody: BodyReader | undefined;
}

async function describeEntities(
  { options: { acquireTimeout, statementTimeout, fairShare, triggerMessages }, dataSource }: BootContext,
  reportError: ReportError,
): Promise<DescribedEntities> {
  const validator = await loadEntityValidator();
  const adapter = new TypeOrmAdapter(dataSource, {
    acquireTimeout,
    statementTimeout,
    fairShare,
    triggerMessages,
    reportError,
    ...validator,
  });
  await adapter.loadTableFacts();
  const description = adapter.describe({ exposures: await loadExposures(), rules: validator?.rulesOf });
  return { adapter, description, readBody: validator?.readBody };
}

interface RouteSources {
  readonly context: BootContext;
  readonly input: CompilerInput;
  readonly parts: ResourceParts;
  readonly listed: readonly ListedController[];
  readonly readBody: BodyReader | undefined;
}

/** Builds the routes of a model with the actions of the application's controllers, and binds them to controllers. */
function bindRoutes(
  { resources }: CompiledModel,
  { context: { options, controllers, server }, input, parts, listed, readBody }: RouteSources,
): Api {
  const targets = new Map(input.declarations.map((draft) => [draft.entity.id, draft.declaration.target]));
  const targetOf = (resource: Resource): object | undefined => targets.get(resource.entity);
  const listedOf = groupByEntity(listed);
  const joining = (resource: Resource): readonly ListedController[] => listedOf.get(targetOf(resource)) ?? [];
  const api = buildApi(options.prefix, resources, {
    actionsOf: (resource) =>
      compileActions(
        joining(resource).map(({ declaration }) => declaration),
        {
          resolve: (permissions) => parts.permissions(permissions),
          scope: parts.hooks(targetOf(resource)).scope,
          readBody,
        },
      ),
    replacementsOf: (resource) =>
      new Map(joining(resource).flatMap((each) => [...compileReplacements(each)])),
  });
  controllers.bind(api, { targetOf, joining, server });
  return api;
}

/** Indexes the routes of nested lists and of actions by the resource below whose URLs they are. */
function routesByResource({ routes }: Api): RoutesOf {
  const byResource = new Map<Resource, Route[]>();
  for (const route of routes) {
    const owner = route.parent ?? (route.segment === undefined ? undefined : route.resource);
    if (owner) byResource.set(owner, [...(byResource.get(owner) ?? []), route]);
  }
  return (resource) => byResource.get(resource) ?? [];
}

/** Finds a registered resource by its class or schema. */
function resourcesByTarget(
  { declarations }: CompilerInput,
  { resources }: CompiledModel,
): (target: object) => Resource | undefined {
  const targetsOf = new Map(declarations.map(({ entity }) => [entity.id, entity.targets]));
  const byTarget = new Map(
    resources.flatMap((resource) =>
      (targetsOf.get(resource.entity) ?? []).map((target) => [target, resource]),
    ),
  );
  return (target) => byTarget.get(target);
}

/** Problems of models whose lists are read by QUERY, on this Node and this Nest. */
function problemsOfQuery({ all }: CompiledModel): readonly DeclarationProblem[] {
  const unknown = unknownQuery(METHODS, nestDecorators.RequestMethod);
  if (!unknown) return [];
  return unique(
    all.filter(({ queryMethod }) => queryMethod).map(({ className }) => ({ where: className, ...unknown })),
  );
}

/** Problems of authentication schemes, which are known when all modules are initialized. */
function schemeProblems({ routes }: Api): readonly DeclarationProblem[] {
  const schemes = new Set(routes.flatMap(({ resource }) => resource.schemes));
  return [...schemes].flatMap(({ problem }) => problem?.() ?? []);
}

/**
 * Closes the data source, because an application that does not start has no shutdown. That is not awaited: another prefix on it,
 * which boots at the same time, would fail by the closed connection before this error is thrown; it may close it, too.
 */
function rejectProblems(problems: readonly DeclarationProblem[], dataSource: DataSource): void {
  if (problems.length === 0) return;
  dataSource.destroy().catch(() => undefined);
  throw new DeclarationError(problems);
}

function groupByEntity(
  listed: readonly ListedController[],
): ReadonlyMap<unknown, readonly ListedController[]> {
  const found = new Map<unknown, ListedController[]>();
  for (const each of listed)
    found.set(each.declaration.entity, [...(found.get(each.declaration.entity) ?? []), each]);
  return found;
}

/** Verifies a model without a connection and without instances of the application's own classes. */
export function validateOffline(
  description: ModelDescription,
  context: Pick<BootContext, 'options' | 'controllers' | 'awaited' | 'modules' | 'server'>,
): readonly DeclarationProblem[] {
  context.awaited.setKnownEntities(description);
  const input = compilerInput(description, context);
  const optionProblems = problemsOfOptions(input);
  return optionProblems.length > 0
    ? optionProblems
    : problemsOfModel(input, compileResources(input, offlineParts()));
}

/** Options of a wrong type, and beside them the other problems that do not depend on these options. */
function problemsOfOptions(input: CompilerInput): readonly DeclarationProblem[] {
  const flaws = unique(verifyOptions(input));
  if (flaws.length === 0) return flaws;
  const sound = omitFlawedOptions(input, flaws);
  return [...flaws, ...offlineProblems(sound.input).filter((problem) => sound.isCertain(problem))];
}

function offlineProblems(input: CompilerInput): readonly DeclarationProblem[] {
  return problemsOfPartialModel(input, compileResources(input, offlineParts()));
}
