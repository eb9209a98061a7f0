import { DataSource, getMetadataArgsStorage } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import type { ModelDescription } from '../../../core/schema/entity-metadata.js';
import { describeModel } from './describe-model.js';
import { classChain } from './inheritance.js';

export type { DataSourceOptions } from 'typeorm';

/** A relation to no registered entity, with which TypeORM cannot connect. */
export interface UnknownTarget {
  /** `Post.author`. */
  readonly where: string;
  /**
   * `class`: an entity that is not registered. `unmapped`: a class without `@Entity()`. `name`: a text. `uncalled`: a class
   * in place of the function that returns it.
   */
  readonly kind: 'class' | 'unmapped' | 'name' | 'undefined' | 'uncalled';
  readonly target: string;
  /** The names by which such a relation can name its target. */
  readonly names: readonly string[];
  /** The target, if it is a class. */
  readonly missing?: object;
}

export interface OfflineMetadata {
  readonly unknownTargets: readonly UnknownTarget[];
  /** Whether a join table has the name of an entity's table. */
  readonly hasDuplicateTable: boolean;
}

interface RecordedSchema {
  readonly options: {
    readonly name: string;
    readonly target?: unknown;
    readonly tableName?: string;
    readonly relations?: Readonly<Record<string, { readonly target: unknown }>>;
  };
}

/** What relations can lead to. */
interface KnownTargets {
  readonly targets: ReadonlySet<unknown>;
  readonly names: ReadonlySet<string>;
}

/** A relation as a decorator or a schema declares it. */
interface RecordedRelation {
  readonly propertyName: string;
  readonly type: unknown;
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
  const classTables = tableNames(classes);
  const schemaTables = schemas.flatMap(({ options }) => options.tableName ?? []);
  const tables = new Set([...classTables, ...schemaTables]);
  // TypeORM builds the metadata of classes and that of schemas separately: the names of the one mean nothing to the other.
  const known: KnownTargets = {
    targets: new Set([...mapped, ...schemas, ...schemas.flatMap(({ options }) => options.target ?? [])]),
    names: new Set([...mapped.map(({ name }) => name), ...classTables]),
  };
  const knownToSchemas: KnownTargets = {
    ...known,
    names: new Set([
      ...schemas.flatMap(({ options }) => [options.name, nameOf(options.target) ?? options.name]),
      ...schemaTables,
    ]),
  };
  const { relations, joinTables } = getMetadataArgsStorage();
  const [relationsOf, joinTablesOf] = [byTarget(relations), byTarget(joinTables)];
  return {
    unknownTargets: [
      ...classes.flatMap((owner) => unknownTargets(owner.name, relationsOf(owner), known)),
      ...schemas.flatMap(({ options: { name, relations: declared = {} } }) =>
        unknownTargets(
          name,
          Object.entries(declared).map(([propertyName, { target }]) => ({ propertyName, type: target })),
          knownToSchemas,
        ),
      ),
    ],
    hasDuplicateTable: classes.some((owner) =>
      joinTablesOf(owner).some(({ name, synchronize }) => synchronize !== false && tables.has(name ?? '')),
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
  owner: string,
  relations: readonly RecordedRelation[],
  known: KnownTargets,
): readonly UnknownTarget[] {
  return relations.flatMap(({ type, propertyName }): readonly UnknownTarget[] => {
    const target = targetOf(type);
    if (known.targets.has(target)) return [];
    const name = nameOf(target);
    if (name !== undefined && typeof target !== 'function' && known.names.has(name)) return [];
    // Made for wrong relations only: each of thousands would have a list of all names.
    const relation = { where: `${owner}.${propertyName}`, names: [...known.names] };
    if (target === UNCALLED) return [{ ...relation, kind: 'uncalled', target: (type as RecordedClass).name }];
    if (name === undefined) return [{ ...relation, kind: 'undefined', target: String(target) }];
    if (typeof target !== 'function') return [{ ...relation, kind: 'name', target: name }];
    const kind = mappedTargets().has(target) ? 'class' : 'unmapped';
    return [{ ...relation, kind, target: name, missing: target }];
  });
}

const UNCALLED = Symbol('a class in place of a function that returns it');

function targetOf(type: unknown): unknown {
  if (typeof type !== 'function') return type;
  try {
    return (type as () => unknown)();
  } catch {
    return UNCALLED;
  }
}

/** The name of a class, a schema or an object with a name, or the text with which a relation names its target. */
function nameOf(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  const { name, options } = (target ?? {}) as { readonly name?: unknown } & Partial<RecordedSchema>;
  if (options) return options.name;
  return typeof name === 'string' ? name : undefined;
}

/** The declared table names. A name that TypeORM generates is not a duplicate. */
function tableNames(classes: readonly RecordedClass[]): readonly string[] {
  const given = new Set<unknown>(classes);
  return getMetadataArgsStorage().tables.flatMap(({ target, name }) =>
    given.has(target) ? (name ?? []) : [],
  );
}
