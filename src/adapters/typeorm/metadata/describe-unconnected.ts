import { DataSource, getMetadataArgsStorage } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import type { RelationMetadataArgs } from 'typeorm/metadata-args/RelationMetadataArgs.js';
import type { ModelDescription } from '../../../core/schema/entity-metadata.js';
import { describeModel } from './describe-model.js';
import { lineOf } from './inheritance.js';

export type { DataSourceOptions } from 'typeorm';

/** A relation that leads out of what the data source is given. TypeORM cannot connect with it. */
export interface UnknownTarget {
  /** `Post.author`. */
  readonly where: string;
  readonly target: string;
  /** The class that is missing, where it is one. */
  readonly missing: object | undefined;
  /** The class lacks `@Entity()`. */
  readonly unmapped: boolean;
}

export interface OfflineMetadata {
  readonly unknownTargets: readonly UnknownTarget[];
  /** A join table has the name of an entity's table. */
  readonly doubled: boolean;
}

interface SchemaLike {
  readonly options: { readonly name: string; readonly target?: unknown; readonly tableName?: string };
}

/**
 * What can be told before the data source connects, and keeps it from connecting: TypeORM would try again and again, and
 * then say it in its own words. Reads what the decorators of these entities have recorded.
 */
export function readOfflineMetadata(entities: readonly unknown[]): OfflineMetadata {
  const classes = entities.filter((each): each is EntityClass => typeof each === 'function');
  const schemas = entities.filter(
    (each): each is SchemaLike => typeof each === 'object' && each !== null && 'options' in each,
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
    doubled: classes.some((owner) =>
      joinTablesOf(owner).some(({ name, synchronize }) => synchronize !== false && tables.has(name)),
    ),
  };
}

/** Metadata of these entities and of `more`, from a data source that never connects; undefined where TypeORM cannot make it. */
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

type EntityClass = abstract new () => unknown;

/** What decorators recorded, by the class: its own, behind those of the classes that it extends. */
function byTarget<Recorded extends { readonly target: unknown }>(
  all: readonly Recorded[],
): (owner: EntityClass) => readonly Recorded[] {
  const found = new Map<unknown, Recorded[]>();
  for (const each of all) {
    const others = found.get(each.target);
    if (others) others.push(each);
    else found.set(each.target, [each]);
  }
  return (owner) => [...lineOf(owner)].reverse().flatMap((target) => found.get(target) ?? []);
}

function mappedTargets(): ReadonlySet<unknown> {
  return new Set(getMetadataArgsStorage().tables.map(({ target }) => target));
}

function unknownTargets(
  owner: EntityClass,
  relations: readonly RelationMetadataArgs[],
  known: ReadonlySet<unknown>,
): readonly UnknownTarget[] {
  return relations.flatMap(({ type, propertyName }): readonly UnknownTarget[] => {
    const target: unknown = typeof type === 'function' ? (type as () => unknown)() : type;
    if (known.has(target)) return [];
    const name =
      typeof target === 'function'
        ? target.name
        : String((target as SchemaLike | undefined)?.options.name ?? target);
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

/** As they are given: a name that TypeORM makes is no entity's by chance. */
function tableNames(
  classes: readonly EntityClass[],
  schemas: readonly SchemaLike[],
): ReadonlySet<string | undefined> {
  const given = new Set<unknown>(classes);
  const tables = getMetadataArgsStorage().tables.filter((table) => given.has(table.target));
  const names = [...tables.map(({ name }) => name), ...schemas.map(({ options }) => options.tableName)];
  return new Set(names.filter((name) => name !== undefined));
}
