import { DataSource, getMetadataArgsStorage } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import type { RelationMetadataArgs } from 'typeorm/metadata-args/RelationMetadataArgs.js';
import type { ModelDescription } from '../../../core/schema/entity-metadata.js';
import { describeModel } from './describe-model.js';
import { classChain } from './inheritance.js';

export type { DataSourceOptions } from 'typeorm';

/** A relation to an entity that is not registered, with which TypeORM cannot connect. */
export interface UnknownTarget {
  /** `Post.author`. */
  readonly where: string;
  readonly target: string;
  /** The target, if it is a class. */
  readonly missing: object | undefined;
  /** Whether the class has no `@Entity()`. */
  readonly unmapped: boolean;
}

export interface OfflineMetadata {
  readonly unknownTargets: readonly UnknownTarget[];
  /** Whether a join table has the name of an entity's table. */
  readonly hasDuplicateTable: boolean;
}

interface RecordedSchema {
  readonly options: { readonly name: string; readonly target?: unknown; readonly tableName?: string };
}

/**
 * Finds errors of the entities that prevent the data source from connecting, before TypeORM retries the connection several
 * times. Reads the metadata that the decorators of these entities have recorded.
 */
export function readOfflineMetadata(entities: readonly unknown[]): OfflineMetadata {
  const classes = entities.filter((each): each is RecordedClass => typeof each === 'function');
  const schemas = entities.filter(
    (each): each is RecordedSchema => typeof each === 'object' && each !== null && 'options' in each,
  );
  const all = mappedTargets();
  const mapped = classes.filter((each) => all.has(each));
  const known = new Set<unknown>([
    ...mapped,
    ...mapped.map(({ name }) => name),
    ...schemas,
    ...schemas.flatMap(({ options }) => [options.name, options.target]),
  ]);
  const { relations, joinTables } = getMetadataArgsStorage();
  const [relationsOf, joinTablesOf] = [byTarget(relations), byTarget(joinTables)];
  const tables = tableNames(classes, schemas);
  return {
    unknownTargets: classes.flatMap((owner) => unknownTargets(owner, relationsOf(owner), known)),
    hasDuplicateTable: classes.some((owner) =>
      joinTablesOf(owner).some(({ name, synchronize }) => synchronize !== false && tables.has(name)),
    ),
  };
}

/** Describes these entities and `more` by a data source that never connects; undefined if TypeORM cannot build their metadata. */
export async function describeUnconnected(
  options: DataSourceOptions,
  entities: readonly unknown[],
  more: readonly object[],
): Promise<ModelDescription | undefined> {
  try {
    const dataSource = new DataSource({ ...options, entities: [...entities, ...more] } as DataSourceOptions);
    await (dataSource as unknown as { buildMetadatas(): Promise<void> }).buildMetadatas();
    const description = describeModel(dataSource);
    return { ...description, given: description.given.filter((each) => entities.includes(each)) };
  } catch {
    return undefined;
  }
}

type RecordedClass = abstract new () => unknown;

/** Groups recorded metadata by class: that of base classes comes first. */
function byTarget<Recorded extends { readonly target: unknown }>(
  all: readonly Recorded[],
): (owner: RecordedClass) => readonly Recorded[] {
  const recorded = new Map<unknown, Recorded[]>();
  for (const each of all) {
    const others = recorded.get(each.target);
    if (others) others.push(each);
    else recorded.set(each.target, [each]);
  }
  return (owner) => [...classChain(owner)].reverse().flatMap((target) => recorded.get(target) ?? []);
}

function mappedTargets(): ReadonlySet<unknown> {
  return new Set(getMetadataArgsStorage().tables.map(({ target }) => target));
}

function unknownTargets(
  owner: RecordedClass,
  relations: readonly RelationMetadataArgs[],
  known: ReadonlySet<unknown>,
): readonly UnknownTarget[] {
  return relations.flatMap(({ type, propertyName }): readonly UnknownTarget[] => {
    const target: unknown = typeof type === 'function' ? (type as () => unknown)() : type;
    if (known.has(target)) return [];
    const name =
      typeof target === 'function'
        ? target.name
        : String((target as RecordedSchema | undefined)?.options.name ?? target);
    return [
      {
        where: `${owner.name}.${propertyName}`,
        target: name,
        missing: typeof target === 'function' ? target : undefined,
        unmapped: typeof target === 'function' && !mappedTargets().has(target),
      },
    ];
  });
}

/** The declared table names. A name that TypeORM generates is not a duplicate. */
function tableNames(
  classes: readonly RecordedClass[],
  schemas: readonly RecordedSchema[],
): ReadonlySet<string | undefined> {
  const given = new Set<unknown>(classes);
  const tables = getMetadataArgsStorage().tables.filter((table) => given.has(table.target));
  const names = [...tables.map(({ name }) => name), ...schemas.map(({ options }) => options.tableName)];
  return new Set(names.filter((name) => name !== undefined));
}
