import type { Type } from '@nestjs/common';
import type { ModuleRef, ModulesContainer } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { loadEntityValidator } from '../adapters/class-validator/entity-validator.js';
import { TypeOrmAdapter } from '../adapters/typeorm/typeorm-adapter.js';
import { DeclarationError } from '../errors/declaration-error.js';
import type { DeclarationProblem } from '../errors/declaration-error.js';
import { declarations } from '../declare/registry.js';
import type { InjectableClass, RestifyOptions } from '../declare/restify-declaration.js';
import type { EntityDescription, ModelDescription } from '../model/entity-description.js';
import type { PermissionClass, PermissionExpression } from '../model/permission-expression.js';
import { ActorPermissionSource, PermissionSource } from '../model/permission-source.js';
import type { ResolvedPermission } from '../model/resolved-permission.js';
import { AllowAny } from '../request/permissions/built-in.js';
import { loadSchemes } from '../adapters/passport/load-schemes.js';
import { FieldFilter } from '../request/filtering/field-filter.js';
import { SearchFilter } from '../request/filtering/search-filter.js';
import { OrderingFilter } from '../request/ordering/ordering-filter.js';
import { RestPipeline } from '../request/rest-pipeline.js';
import { ModelSerializer } from '../request/serializers/model-serializer.js';
import type { ResolvedOptions } from '../restify.options.js';
import { compileResources } from './compiling/compile-resources.js';
import type { Parts } from './compiling/compile-resources.js';
import type { Blueprint, Draft, ListedClass } from './compiling/draft.js';
import { buildApi } from './routing/build-routes.js';
import type { GeneratedControllers } from './routing/generated-controllers.js';
import type { RestServer } from './routing/rest-server.js';
import { RESTIFY_FEATURE } from './tokens.js';
import { problemsOfModel } from './verifying/verify-model.js';

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
  readonly moduleRef: ModuleRef;
  readonly modules: ModulesContainer;
}

/**
 * Boot of one prefix, once its data source is connected and before Nest maps routes: describe, compile, verify, bind.
 * Rejects with a `DeclarationError`, and the application does not start.
 */
export async function bootPrefix(context: BootContext): Promise<void> {
  const { options, dataSource, server, controllers } = context;
  const adapter = new TypeOrmAdapter(dataSource, await loadEntityValidator());
  const blueprint = blueprintOf(adapter.describe(), context);
  const model = compileResources(blueprint, await injectedParts(blueprint, context));
  const problems = problemsOfModel(blueprint, model);
  if (problems.length > 0) {
    // Nothing else would close it: an application that does not start has no shutdown.
    await dataSource.destroy();
    throw new DeclarationError(problems);
  }
  for (const resource of model.all) adapter.prepare(resource);
  const api = buildApi(options.prefix, model.resources);
  const targets = new Map(blueprint.drafts.map((draft) => [draft.entity.id, draft.declaration.target]));
  controllers.bind(api, ({ resource }) => targets.get(resource.entity), server);
  server.add({ api, pipeline: new RestPipeline(adapter, permissionSource(context.moduleRef)), index: options.index });
}

/** What is wrong with a model, told without a connection and without instances of the application's own classes. */
export function judgeUnconnected(description: ModelDescription, context: Pick<BootContext, 'options' | 'controllers' | 'modules'>): readonly DeclarationProblem[] {
  const blueprint = blueprintOf(description, context);
  const serializer = new ModelSerializer();
  const backends = [new FieldFilter(), new SearchFilter(), new OrderingFilter()];
  const parts: Parts = { backends: (options) => (options.filterBackends ? [] : backends), serializer: () => serializer, permission: () => ({ kind: 'all-of', permissions: [] }), schemes: () => [] };
  return problemsOfModel(blueprint, compileResources(blueprint, parts));
}

function blueprintOf(description: ModelDescription, { options, controllers, modules }: Pick<BootContext, 'options' | 'controllers' | 'modules'>): Blueprint {
  const labels = featureLabels(modules);
  const drafts = description.entities.flatMap((entity) => draftOf(entity, labels) ?? []);
  return { description, drafts, defaults: options.defaults, listed: listedClasses(description, labels), laidOut: controllers.targets };
}

function draftOf(entity: EntityDescription, labels: readonly FeatureLabel[]): Draft | undefined {
  const declaration = typeof entity.target === 'function' || typeof entity.target === 'object' ? declarations().get(entity.target as object) : undefined;
  if (!declaration) return undefined;
  const app = declaration.options.app ?? labels.find(({ entities }) => entities.includes(declaration.target))?.app;
  return { declaration, entity, app, model: declaration.options.name ?? declaration.name.toLowerCase() };
}

/** Every `forFeature` of this application, and of no other. */
function featureLabels(modules: ModulesContainer): readonly FeatureLabel[] {
  return [...modules.values()].flatMap((module) => {
    const provider = module.providers.get(RESTIFY_FEATURE);
    return provider ? [provider.instance as FeatureLabel] : [];
  });
}

function listedClasses(description: ModelDescription, labels: readonly FeatureLabel[]): readonly ListedClass[] {
  const given = description.given.flatMap((target): readonly ListedClass[] => {
    const declaration = typeof target === 'function' || typeof target === 'object' ? declarations().get(target as object) : undefined;
    return declaration ? [{ target: declaration.target, name: declaration.name, listedIn: 'the entities of the data source', declared: true }] : [];
  });
  const labelled = labels.flatMap(({ app, entities }) =>
    entities.map((target): ListedClass => {
      const declaration = declarations().get(target);
      const name = declaration?.name ?? (target as { name?: string }).name ?? 'a class';
      return { target, name, listedIn: `RestifyModule.forFeature('${app}')`, declared: declaration !== undefined };
    }),
  );
  const declared = new Set(given.map(({ target }) => target));
  return [...given, ...labelled.filter((each) => !declared.has(each.target))];
}

/** Instances of all classes that declarations name: the application's own provider where it has one. */
async function injectedParts({ drafts, defaults }: Blueprint, { moduleRef }: BootContext): Promise<Parts> {
  const instances = new Map<unknown, unknown>();
  const make = async (type: InjectableClass<unknown>): Promise<void> => {
    if (!instances.has(type)) instances.set(type, await instanceOf(type, moduleRef));
  };
  const standard: readonly InjectableClass<unknown>[] = [FieldFilter, SearchFilter, OrderingFilter, ModelSerializer, AllowAny];
  const all = drafts.flatMap(({ declaration: { options } }) => [options, ...Object.values(options.through ?? {})] as readonly RestifyOptions[]);
  const named = all.flatMap(({ filterBackends, serializer, permissions }) => [...(filterBackends ?? []), ...(serializer ? [serializer] : []), ...(permissions ?? []).flatMap(permissionClasses)]);
  const schemes = await loadSchemes([...(defaults.authentication ?? []), ...all.flatMap(({ authentication }) => authentication ?? [])]);
  for (const type of [...standard, ...(defaults.filterBackends ?? []), ...(defaults.permissions ?? []).flatMap(permissionClasses), ...named]) await make(type);
  const got = <Instance>(type: InjectableClass<Instance>): Instance => instances.get(type) as Instance;
  return {
    backends: (options) => (options.filterBackends ?? defaults.filterBackends ?? [FieldFilter, SearchFilter, OrderingFilter]).map(got),
    serializer: (options) => got(options.serializer ?? ModelSerializer),
    permission: (options) => resolved({ kind: 'all-of', permissions: options.permissions ?? defaults.permissions ?? [AllowAny] }, got),
    schemes: (options) => (options.authentication ?? defaults.authentication ?? []).map((each) => schemes.get(each)).filter((each) => each !== undefined),
  };
}

function permissionClasses(expression: PermissionExpression): readonly PermissionClass[] {
  if (typeof expression === 'function') return [expression];
  return expression.kind === 'not-permission' ? permissionClasses(expression.permission) : expression.permissions.flatMap(permissionClasses);
}

function resolved(expression: PermissionExpression, got: <Instance>(type: InjectableClass<Instance>) => Instance): ResolvedPermission {
  if (typeof expression === 'function') return { kind: 'one', permission: got(expression) };
  if (expression.kind === 'not-permission') return { kind: 'not', permission: resolved(expression.permission, got) };
  return { kind: expression.kind, permissions: expression.permissions.map((each) => resolved(each, got)) };
}

/** The application's own, from any of its modules, else the default. */
function permissionSource(moduleRef: ModuleRef): PermissionSource {
  try {
    return moduleRef.get<PermissionSource>(PermissionSource, { strict: false });
  } catch {
    return new ActorPermissionSource();
  }
}

async function instanceOf(type: InjectableClass<unknown>, moduleRef: ModuleRef): Promise<unknown> {
  try {
    return moduleRef.get(type as unknown as Type, { strict: false });
  } catch {
    return moduleRef.create(type);
  }
}
