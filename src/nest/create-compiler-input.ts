import type { ModulesContainer } from '@nestjs/core';
import { controllerDeclarations } from '../decorators/action.decorator.js';
import { declarations } from '../decorators/metadata-storage.js';
import type { ResourceDeclaration } from '../decorators/model-options.js';
import type { EntityDescription, ModelDescription } from '../core/schema/entity-metadata.js';
import { AllowAny } from '../features/permissions/built-in-permissions.js';
import type { CompilerInput, EntityDeclaration, ListedClass } from '../compiler/compiler-input.js';
import { listedControllers } from './listed-controllers.js';
import { RESTIFY_FEATURE, TYPEORM_OPTIONS } from './tokens.js';
import type { BootContext } from './boot-context.js';

/** The label that `RestifyModule.forFeature` gives to entities. */
export interface FeatureLabel {
  readonly app: string;
  readonly entities: readonly object[];
}

export function compilerInput(
  description: ModelDescription,
  {
    options,
    controllers,
    modules,
    server,
  }: Pick<BootContext, 'options' | 'controllers' | 'modules' | 'server'>,
): CompilerInput {
  // Of all `forFeature` calls of this application.
  const labels = [...modules.values()].flatMap((module) => {
    const provider = module.providers.get(RESTIFY_FEATURE);
    return provider ? [provider.instance as FeatureLabel] : [];
  });
  const declarations = description.entities.flatMap((entity) => declarationOfEntity(entity, labels) ?? []);
  return {
    prefix: options.prefix,
    takenPrefixes: server.prefixRegistry.conflictingPrefixes(controllers),
    description,
    declarations,
    controllers: collectControllers(declarations, modules),
    defaults: options.defaults,
    given: options.given,
    allowAny: AllowAny,
    listed: collectListedClasses(description, labels, modules),
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

/** The controller classes of the process for entities of this prefix. */
function collectControllers(
  declarations: readonly EntityDeclaration[],
  modules: ModulesContainer,
): CompilerInput['controllers'] {
  const all = listedControllers(modules);
  const served = new Set(declarations.map(({ declaration }) => declaration.target));
  return [...controllerDeclarations()]
    .filter(({ entity }) => served.has(entity))
    .map((declaration) => {
      const listed = all.filter((each) => each.declaration === declaration);
      return { declaration, listedIn: listed.length, wraps: listed.some(({ wraps }) => wraps) };
    });
}

function collectListedClasses(
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
  // With several data sources, a class may belong to another one: each prefix verifies its own.
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

/** Finds the declaration of a class also if its `EntitySchema` is declared, and vice versa. */
function declarationOf(target: object, { entities }: ModelDescription): ResourceDeclaration | undefined {
  const own = declarations().get(target);
  if (own) return own;
  const mapped = entities.find(({ targets }) => targets.includes(target));
  return mapped?.targets.flatMap((each) => declarations().get(each as object) ?? [])[0];
}
