import type { InjectionToken } from '@nestjs/common';
import type { ModuleRef, ModulesContainer } from '@nestjs/core';
import type { Module } from '@nestjs/core/injector/module.js';
import {
  describeUnconnected,
  readOfflineMetadata,
} from '../adapters/typeorm/metadata/describe-unconnected.js';
import type {
  DataSourceOptions,
  OfflineMetadata,
} from '../adapters/typeorm/metadata/describe-unconnected.js';
import { PREFIX_OPTIONS } from '../compiler/rules/option-schema.js';
import { failingJunctions } from '../compiler/rules/verify-junctions.js';
import { DeclarationError, didYouMean } from '../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import type { ModelDescription } from '../core/schema/entity-metadata.js';
import type { RestifyModuleOptions } from '../restify.options.js';
import { TYPEORM_OPTIONS } from './tokens.js';

/**
 * A plain copy of the options of a prefix. An instance of a class may have them as getters or inherit them: without these
 * the prefix would have the defaults, such as `AllowAny`. Own properties with unknown names are kept for the verification.
 */
export function readOptions<Options extends RestifyModuleOptions>(given: Options): Options {
  if (typeof given !== 'object' || (given as unknown) === null) return given;
  const names = Object.keys(PREFIX_OPTIONS) as (keyof RestifyModuleOptions)[];
  const known = names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]] as const);
  return { ...given, ...Object.fromEntries(known) };
}

interface EarlyContext {
  readonly modules: ModulesContainer;
  readonly moduleRef: ModuleRef;
  /** The injection token of the data source. */
  readonly dataSource: InjectionToken;
  /** Finds all other problems of a model that can be found without a connection. */
  judge(description: ModelDescription): readonly DeclarationProblem[];
}

/**
 * Rejects declarations with which the data source cannot connect, before TypeORM retries for half a minute, together with all
 * other problems. Does nothing if the entities are not known yet: then TypeORM reports the error.
 */
export async function failFast(context: EarlyContext): Promise<void> {
  const options = await typeOrmOptions(context);
  const entities = options === undefined ? undefined : entitiesOf(options, context);
  if (!options || !entities) return;
  const { unknownTargets, hasDuplicateTable } = readOfflineMetadata(entities);
  if (unknownTargets.length === 0 && !(hasDuplicateTable && options.synchronize === true)) return;
  const missing = new Set(unknownTargets.flatMap((each) => each.missing ?? []));
  const description = await describeUnconnected(options, entities, [...missing]);
  const own = [
    ...unknownTargets.map((unknown) => ({ where: unknown.where, ...describeTarget(unknown) })),
    ...(description ? failingJunctions(description) : []),
  ];
  if (own.length === 0) return;
  const others = description ? context.judge(description) : [];
  throw new DeclarationError([
    ...own,
    ...others.filter((each) => !own.some(({ where }) => where === each.where)),
  ]);
}

function describeTarget({
  kind,
  target,
  names,
}: OfflineMetadata['unknownTargets'][number]): Pick<DeclarationProblem, 'what' | 'repair'> {
  switch (kind) {
    case 'class':
      return {
        what: `it leads to ${target}, which the data source does not know`,
        repair: `Add ${target} to the data source's entities, or to TypeOrmModule.forFeature([${target}]) with autoLoadEntities.`,
      };
    case 'unmapped':
      return { what: `it leads to ${target}, which is not an entity`, repair: `Put @Entity() on ${target}.` };
    case 'name':
      return {
        what: `it leads to "${target}", which is the name of no entity of the data source, nor of its table`,
        repair: `${didYouMean(target, names)} The clearest is a function that returns the class: () => Author.`,
      };
    case 'uncalled':
      return {
        what: `its target is ${target || 'a function that fails'}, in place of a function that returns the class`,
        repair: `Write () => ${target || 'Author'}.`,
      };
    case 'undefined':
      return {
        what: `its target is ${target}`,
        repair: 'Look for files that import each other in a circle, and type the property as Relation<…>.',
      };
  }
}

async function typeOrmOptions({
  modules,
  dataSource,
}: EarlyContext): Promise<(DataSourceOptions & { readonly autoLoadEntities?: boolean }) | undefined> {
  for (const module of modules.values()) {
    if (!module.providers.has(TYPEORM_OPTIONS) || !module.providers.has(dataSource)) continue;
    return (await settled(module)) as DataSourceOptions;
  }
  return undefined;
}

/** The options of `forRootAsync` are available when their factory has resolved; TypeORM reports a factory that fails. */
async function settled(module: Module): Promise<unknown> {
  for (let attempts = 0; attempts < 50; attempts++) {
    const instance: unknown = await Promise.resolve(module.providers.get(TYPEORM_OPTIONS)?.instance).catch(
      () => undefined,
    );
    if (instance !== undefined && instance !== null && Object.keys(instance).length > 0) return instance;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return undefined;
}

function entitiesOf(
  options: { readonly entities?: unknown; readonly autoLoadEntities?: boolean },
  { modules, moduleRef }: EarlyContext,
): readonly unknown[] | undefined {
  const given = options.entities ?? [];
  const own: readonly unknown[] = Array.isArray(given) ? given : Object.values(given);
  // File patterns are resolved when the data source connects.
  if (own.some((each) => typeof each === 'string')) return undefined;
  return options.autoLoadEntities === true ? withFeatures(own, { modules, moduleRef }) : own;
}

/** Adds the entities of `TypeOrmModule.forFeature`, which are in the metadata of its providers. */
function withFeatures(
  own: readonly unknown[],
  { modules, moduleRef }: Pick<EarlyContext, 'modules' | 'moduleRef'>,
): readonly unknown[] | undefined {
  const container = (
    moduleRef as unknown as {
      container?: { getDynamicMetadataByToken?(token: string, key: string): unknown };
    }
  ).container;
  if (typeof container?.getDynamicMetadataByToken !== 'function') return undefined;
  const all = new Set(own);
  for (const token of modules.keys()) {
    const providers = container.getDynamicMetadataByToken(token, 'providers');
    if (!Array.isArray(providers)) continue;
    for (const provider of providers as readonly {
      readonly targetEntitySchema?: { readonly target?: unknown };
    }[]) {
      if (provider.targetEntitySchema?.target !== undefined) all.add(provider.targetEntitySchema.target);
    }
  }
  return [...all];
}
