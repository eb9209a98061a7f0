import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { conjunction, equals } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { loadEntities } from '../unreadable-json.js';
import { hasIdentity, identityOf, setColumns, setRelation, whereIdentity } from './entity-values.js';
import { selectForUpdate } from './row-locks.js';
import type { WriterTools } from './row-writer.js';

/** A row that is loaded as an entity. */
export interface StoredEntity {
  readonly entity: ObjectLiteral;
  readonly identity: readonly Json[];
  readonly runner: QueryRunner;
}

/** A relation of a loaded entity, and its value. */
export interface LoadedRelation {
  readonly relation: RelationMetadata;
  readonly value: unknown;
}

/** Loads the entities of rows that are written, by their keys. */
export class LoadedEntities {
  readonly metadata: EntityMetadata;
  private readonly hasTransformedKey: boolean;
  private readonly forward: string[];
  /**
   * The keys of forward relations in embedded objects. TypeORM 0.3 does not load them if the embedded object has no other
   * value, and so is not created.
   */
  private readonly embeddedKeys: readonly Column[];

  constructor(
    readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {
    this.metadata = tools.tables.of(resource).metadata;
    this.hasTransformedKey = this.metadata.primaryColumns.some(
      ({ transformer }) => transformer !== undefined,
    );
    this.forward = this.metadata.relations
      .filter((relation) => relation.isWithJoinColumn && !relation.isLazy && !relation.embeddedMetadata)
      .map((relation) => relation.propertyPath);
    this.embeddedKeys = embeddedKeysOf(resource, this.metadata);
  }

  /** Loads an entity with the keys of its forward relations, as validators and listeners expect them. */
  async load(identity: readonly Json[], runner: QueryRunner): Promise<ObjectLiteral | null> {
    const relations = this.forward;
    const entity = await loadEntities(runner, () =>
      runner.manager.findOne<ObjectLiteral>(this.metadata.target, {
        where: whereIdentity(identity, this.resource, this.metadata),
        loadEagerRelations: false,
        withDeleted: this.resource.deleted !== undefined,
        ...(relations.length > 0 ? { loadRelationIds: { relations, disableMixedMap: true } } : {}),
      }),
    );
    // Without a transformer, TypeORM finds the row, and the driver may have rounded its key.
    if (!entity || (this.hasTransformedKey && !this.hasKey(entity, identity))) return null;
    this.clearUnselected(entity);
    this.setEmptyToNull(entity);
    if (this.embeddedKeys.length > 0) await this.loadEmbeddedKeys(entity, identity, runner);
    return entity;
  }

  /** Assigns what an UPDATE has computed: the version, the date of the change, and generated columns. */
  async readComputed(entity: ObjectLiteral, identity: readonly Json[], runner: QueryRunner): Promise<void> {
    const columns = this.metadata.columns.filter(
      (column) =>
        column.isSelect && (column.isVersion || column.isUpdateDate || column.asExpression !== undefined),
    );
    const stored = columns.length > 0 ? await this.load(identity, runner) : null;
    if (!stored) return;
    for (const column of columns) column.setEntityValue(entity, column.getEntityValue(stored));
  }

  /** Assigns the keys in embedded objects, which are created. */
  private async loadEmbeddedKeys(
    entity: ObjectLiteral,
    identity: readonly Json[],
    runner: QueryRunner,
  ): Promise<void> {
    const { resource, tools, embeddedKeys: columns } = this;
    const where = this.conditionOf(identity);
    const values = await selectForUpdate(resource, { columns, where }, { runner, tools });
    if (!values) return;
    const keys = columns.map((column, index) => ({ column, value: values[index] ?? null }));
    setColumns(entity, this.metadata, keys);
  }

  /**
   * Sets relations without a row to null. TypeORM loads their keys as an object without values, and would insert it as a
   * new row.
   */
  private setEmptyToNull(entity: ObjectLiteral): void {
    for (const relation of this.metadata.relations) {
      if (!this.forward.includes(relation.propertyPath)) continue;
      const related = relation.getEntityValue(entity) as ObjectLiteral | null | undefined;
      const empty =
        typeof related === 'object' &&
        related !== null &&
        relation.joinColumns.every(
          (column) => (column.referencedColumn?.getEntityValue(related) ?? null) === null,
        );
      if (empty) setRelation(entity, relation, null);
    }
  }

  /**
   * The values of a loaded entity that `save` would take for changes: forward relations that are null, and what the class or
   * `@AfterLoad` has assigned to the other relations, for which TypeORM would delete pairs and change or delete other rows.
   */
  unchangedRelations(entity: ObjectLiteral): readonly LoadedRelation[] {
    return this.metadata.relations
      .map((relation) => ({ relation, value: relation.getEntityValue(entity) as unknown }))
      .filter(({ relation, value }) => (relation.isWithJoinColumn ? value === null : value !== undefined));
  }

  /** Takes out what the class assigns to columns that are not loaded (`select: false`), which a save would write. */
  private clearUnselected(entity: ObjectLiteral): void {
    for (const column of this.metadata.columns)
      if (!column.isSelect && !column.isVirtual && column.getEntityValue(entity) !== undefined)
        column.setEntityValue(entity, undefined);
  }

  /**
   * Assigns the key by which an entity was found. False if TypeORM has loaded another one, because the driver loses
   * digits of a number or date: with its own key TypeORM would update or delete another row.
   */
  restoreKey(entity: ObjectLiteral, identity: readonly Json[]): boolean {
    if (this.hasKey(entity, identity)) return true;
    setColumns(
      entity,
      this.metadata,
      this.resource.identity.map((column, index) => ({ column, value: identity[index] ?? null })),
    );
    return false;
  }

  hasKey(entity: ObjectLiteral, identity: readonly Json[]): boolean {
    return hasIdentity(entity, identity, this);
  }

  /** The key of a changed entity: the row's own key, unless it has another one. */
  changedKey(entity: ObjectLiteral, identity: readonly Json[]): readonly Json[] {
    return this.hasKey(entity, identity) ? identity : identityOf(entity, this.resource, this.metadata);
  }

  conditionOf(identity: readonly Json[]): Condition {
    return conjunction(
      this.resource.identity.map((column, index) => equals(column, identity[index] ?? null)),
    );
  }
}

/** The entity as it was loaded, for listeners: hooks may change the other one. */
export function copyEntity(entity: ObjectLiteral): ObjectLiteral {
  return Object.create(
    Object.getPrototypeOf(entity) as object,
    Object.getOwnPropertyDescriptors(entity),
  ) as ObjectLiteral;
}

function embeddedKeysOf(resource: ResourceSchema, { relations }: EntityMetadata): readonly Column[] {
  return relations
    .filter((relation) => relation.isWithJoinColumn && !relation.isLazy && relation.embeddedMetadata)
    .flatMap(({ joinColumns }) =>
      joinColumns.flatMap(({ databaseName }) => resource.columns.get(databaseName) ?? []),
    );
}

/** The relations of a loaded object, as the `relations` option of TypeORM's `find`. */
interface Tree {
  [relation: string]: Tree;
}

interface WantedRelation {
  readonly relation: RelationMetadata;
  readonly nested: Tree;
}

/**
 * The related objects that a model's listeners and subscribers read, loaded in the transaction of the write once the
 * entity's keys are known. Otherwise a relation contains an object with the key only.
 */
export class ListenerRelations {
  private constructor(private readonly wanted: readonly WantedRelation[]) {}

  /** Undefined if the listeners need none. */
  static of(
    { listenerRelations }: ResourceSchema,
    { relations }: EntityMetadata,
  ): ListenerRelations | undefined {
    const wanted = new Map<RelationMetadata, Tree>();
    for (const path of listenerRelations) {
      const relation = relations.find(
        ({ propertyPath }) => path === propertyPath || path.startsWith(`${propertyPath}.`),
      );
      if (!relation || relation.isLazy) continue;
      const nested = wanted.get(relation) ?? {};
      wanted.set(relation, nested);
      addPath(nested, path.slice(relation.propertyPath.length + 1));
    }
    return wanted.size === 0
      ? undefined
      : new ListenerRelations([...wanted].map(([relation, nested]) => ({ relation, nested })));
  }

  async load(entity: ObjectLiteral, runner: QueryRunner): Promise<void> {
    for (const each of this.wanted) await loadRelated(entity, each, runner);
  }
}

function addPath(tree: Tree, path: string): void {
  if (path === '') return;
  const [first = '', ...rest] = path.split('.');
  addPath((tree[first] ??= {}), rest.join('.'));
}

async function loadRelated(
  entity: ObjectLiteral,
  { relation, nested }: WantedRelation,
  runner: QueryRunner,
): Promise<void> {
  const where: ObjectLiteral = {};
  const keys = relation.joinColumns.map((column) => ({
    column: column.referencedColumn,
    value: column.getEntityValue(entity) as unknown,
  }));
  for (const { column, value } of keys) {
    if (!column || value === null || value === undefined) return;
    column.setEntityValue(where, value);
  }
  const found = await loadEntities(runner, () =>
    runner.manager.findOne<ObjectLiteral>(relation.inverseEntityMetadata.target, {
      where,
      relations: toRelationsOption(nested),
      loadEagerRelations: false,
    }),
  );
  if (!found) return;
  // Keeps the key that is written, whatever the driver loads for it.
  for (const { column, value } of keys) column?.setEntityValue(found, value);
  // TypeORM's own setter would merge into the current object.
  const holder = (relation.embeddedMetadata?.embeddedMetadataTree ?? []).reduce<ObjectLiteral>(
    (outer, { propertyName }) => outer[propertyName] as ObjectLiteral,
    entity,
  );
  holder[relation.propertyName] = found;
}

/** Converts `{ owner: {} }` to `{ owner: true }`. */
function toRelationsOption(tree: Tree): ObjectLiteral {
  return Object.fromEntries(
    Object.entries(tree).map(([name, inner]) => [
      name,
      Object.keys(inner).length === 0 ? true : toRelationsOption(inner),
    ]),
  );
}
