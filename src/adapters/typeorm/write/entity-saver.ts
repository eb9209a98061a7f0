import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ColumnValue, FieldValues } from '../../../core/query/plan.js';
import type { Field } from '../../../core/schema/field.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { Scope } from '../../../sql/query-scope.js';
import { hasUnreadableJson, withUnreadableJson } from '../unreadable-json.js';
import { classOf } from '../metadata/inheritance.js';
import { failedConversion } from '../metadata/transformers.js';
import { isSameValue } from './decide-columns.js';
import {
  changedValues,
  columnIds,
  hasIdentity,
  setColumns,
  setRelation,
  whereIdentity,
  writtenIds,
} from './entity-values.js';
import type { ReferencedValues } from '../../../execution/read/key-lookups.js';
import { JsonArrays } from './precise-values.js';
import type { DroppedRows } from './dropped-rows.js';
import type { LoadedJson, StoredJsonValues } from './precise-values.js';
import type { ListenerRelations, LoadedEntities, LoadedRelation } from './loaded-entities.js';
import type { WriterTools } from './row-writer.js';
import { listensTo } from '../metadata/listeners.js';
import { sharesColumns, withCarriers, withSharedColumns, writeOnce } from './shared-columns.js';
import type { SharedUpdate } from './shared-columns.js';
import { computedColumns } from './direct-writer-rules.js';
import type { ComputedColumn } from './change-detection.js';
import type { TreeKeeper } from './trees/tree-keeper.js';

/** The update of one row. */
export interface Change {
  readonly identity: readonly Json[];
  /** Whether TypeORM has loaded this key exactly. */
  readonly isKeyExact: boolean;
  readonly values: FieldValues;
  /** The stored JSON of the columns that the body changes. */
  readonly storedJson: StoredJsonValues;
  /** The JSON of the same columns as TypeORM has loaded it. */
  readonly loadedJson: LoadedJson;
  /** The version before the update; undefined if the entity has none, or it is not loaded. */
  readonly version: unknown;
  readonly referenced: ReferencedValues;
  /** The relations to be left out of the save unless they have changed. */
  readonly unchanged: readonly LoadedRelation[];
  /** The columns of the relations that share some, if the body or a hook sets one of these relations. */
  readonly decided: readonly ColumnValue[];
  /** The values of the columns of such relations before the update. */
  readonly storedKeys: ReadonlyMap<string, Json>;
  /** The values of the columns before the update, if it is to be checked that the row is written. */
  readonly stored: readonly unknown[];
  /** Whether a hook has received the entity, and may have changed more than the body. */
  readonly hooked: boolean;
}

/** Inserts and updates entities by TypeORM's own statements. */
export class EntitySaver {
  readonly metadata: EntityMetadata;
  /** Whether a column belongs to several relations. */
  private readonly sharesColumns: boolean;
  /** False if TypeORM cannot `save` the entity, which is then updated by a single statement. */
  private readonly saves: boolean;
  /** The same for a change of one of these columns. */
  private readonly besideKey: ReadonlySet<string>;
  private readonly arrays: JsonArrays | undefined;
  private readonly computed: readonly ComputedColumn[];

  constructor(
    readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
    private readonly parts: {
      readonly tree: TreeKeeper | undefined;
      readonly related: ListenerRelations | undefined;
      readonly dropped: DroppedRows | undefined;
      readonly entities: LoadedEntities;
    },
  ) {
    const { metadata, dataSource } = tools.tables.of(resource);
    this.metadata = metadata;
    this.computed = computedColumns(resource, metadata, { dataSource, dialect: tools.dialect }) ?? [];
    this.sharesColumns = sharesColumns(this.metadata);
    this.saves = canSaveEmbedded(this.metadata);
    this.besideKey = columnsBesideKey(this.metadata);
    this.arrays = JsonArrays.of(resource, this.metadata);
  }

  /** Inserts the entity. Returns the values that TypeORM has not written. */
  insert(entity: ObjectLiteral, runner: QueryRunner): Promise<readonly ColumnValue[]> {
    return this.writeEntity(entity, () => this.insertOnce(entity, runner));
  }

  /**
   * Saves the entity. Returns the values that TypeORM has not written. An update of a junction row's related side
   * changes its primary key, which `save` would take for another row (contract 2.11).
   */
  update(entity: ObjectLiteral, change: Change, runner: QueryRunner): Promise<readonly ColumnValue[]> {
    const write = async (): Promise<readonly ColumnValue[]> => {
      if (!this.comparesJson(entity, change)) return this.updateByKey(entity, change, runner);
      try {
        return await this.saveEntity(entity, change, runner);
      } catch (error) {
        // TypeORM converts all stored values to compare them, before it calls a listener.
        if (failedConversion(error)?.by !== 'to' || this.hasUpdateListeners()) throw error;
        return this.updateByKey(entity, change, runner);
      }
    };
    return this.parts.dropped ? this.parts.dropped.update(entity, { change, runner }, write) : write();
  }

  private hasUpdateListeners(): boolean {
    const { metadata, dataSource } = this.tools.tables.of(this.resource);
    return (
      metadata.beforeUpdateListeners.length + metadata.afterUpdateListeners.length > 0 ||
      dataSource.subscribers.some(
        (each) => (each.beforeUpdate ?? each.afterUpdate) !== undefined && listensTo(each, metadata),
      )
    );
  }

  /** Whether `update` leaves stored JSON that a body repeats as it is. A statement by the key writes it. */
  comparesJson(entity: ObjectLiteral, change: Change): boolean {
    return (
      hasIdentity(entity, change.identity, this) &&
      change.isKeyExact &&
      this.saves &&
      !this.changesBesideKey(change)
    );
  }

  private changesBesideKey({ decided, storedKeys }: Change): boolean {
    return decided.some(
      ({ column: { id }, value }) => this.besideKey.has(id) && !isSameValue(value, storedKeys.get(id)),
    );
  }

  /**
   * Writes values that TypeORM does not write exactly, by a statement of the adapter. JSON of an update, and pairs (`isTouched`), change
   * the version, too, unless TypeORM has noticed a change and increased it.
   */
  async writeColumns(
    values: readonly ColumnValue[],
    {
      identity,
      change,
      isTouched = false,
    }: { readonly identity: readonly Json[]; readonly change?: Change; readonly isTouched?: boolean },
    runner: QueryRunner,
  ): Promise<void> {
    if (values.length === 0 && !(isTouched && this.computed.length > 0)) return;
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const changes = values.map(
      ({ column, value }) => `${scope.table.name(column)} = ${scope.bind(value, column.type)}`,
    );
    if (change && (isTouched || values.some(({ column }) => column.type.kind === 'json')))
      for (const { columnId, name, sql } of this.computed)
        changes.push(
          columnId === this.metadata.versionColumn?.databaseName
            ? `${name} = CASE WHEN ${name} = ${scope.bindRaw(change.version ?? null)} THEN ${sql} ELSE ${name} END`
            : `${name} = ${sql}`,
        );
    const named = this.resource.identity.map(
      (column, index) => `${scope.table.name(column)} = ${scope.bind(identity[index] ?? null, column.type)}`,
    );
    await runner.query(`UPDATE ${scope.table.path} SET ${changes.join(', ')} WHERE ${named.join(' AND ')}`, [
      ...scope.parameters,
    ]);
  }

  /** Never with `save`, which would overwrite a row with the same key. */
  private async insertOnce(entity: ObjectLiteral, runner: QueryRunner): Promise<void> {
    const { columns, target } = this.metadata;
    // TypeORM would write a value into a generated column, which SQLite rejects.
    const made = this.tools.dialect.oneConnection && columns.some((column) => column.asExpression);
    const given = made
      ? columns
          .filter((column) => column.isInsert && !column.asExpression)
          .map((column) => column.propertyPath)
      : undefined;
    const execute = (): Promise<unknown> =>
      runner.manager.createQueryBuilder().insert().into(target, given).values(entity).execute();
    const insert = (): Promise<unknown> =>
      this.sharesColumns ? withCarriers(entity, this.metadata, execute) : execute();
    await (this.parts.dropped ? this.parts.dropped.insert(entity, runner, insert) : insert());
  }

  private async saveEntity(
    entity: ObjectLiteral,
    change: Change,
    runner: QueryRunner,
  ): Promise<readonly ColumnValue[]> {
    await this.parts.related?.load(entity, runner);
    const saveNow = (): Promise<unknown> =>
      runner.manager.save(classOf(entity, this.metadata), entity, { reload: false });
    const shared = this.sharedUpdate(entity, change);
    const saveOnce = (): Promise<void> =>
      saveWithout(entity, change.unchanged, () =>
        shared ? withSharedColumns(runner.manager, shared, saveNow) : saveNow(),
      );
    const save = (): Promise<void> =>
      hasUnreadableJson(entity) ? withUnreadableJson(runner, saveOnce) : saveOnce();
    // Changes by a hook are not known by name.
    const only = this.arrays && !change.hooked ? this.columnsOf(change.values) : undefined;
    return this.writeEntity(entity, () => this.saveInTree(entity, { change, runner, save }), only);
  }

  private async updateByKey(
    entity: ObjectLiteral,
    change: Change,
    runner: QueryRunner,
  ): Promise<readonly ColumnValue[]> {
    const { entities } = this.parts;
    // Changes by a hook are not known by name.
    const stored = change.hooked ? await entities.load(change.identity, runner) : null;
    if (stored) entities.restoreKey(stored, change.identity);
    const written = this.writtenBy(change.values);
    const changed = changedValues(entity, { stored, written }, this.metadata);
    setColumns(changed, this.metadata, change.decided);
    if (Object.keys(changed).length === 0) return [];
    const where = [whereIdentity(change.identity, this.resource, this.metadata)];
    const shared = this.sharedUpdate(changed, change);
    const save = async (): Promise<void> => {
      const update = runner.manager.createQueryBuilder().update(this.metadata.target);
      const builder = shared ? writeOnce(update, shared) : update;
      await builder.set(changed).whereInIds(where).execute();
    };
    return this.writeEntity(changed, () => this.saveInTree(entity, { change, runner, save }));
  }

  /** Runs TypeORM's statement for an entity. Returns the values that it has not written (limited to `only` if given). */
  private async writeEntity(
    entity: ObjectLiteral,
    write: () => Promise<void>,
    only?: ReadonlySet<string>,
  ): Promise<readonly ColumnValue[]> {
    if (this.arrays) return this.arrays.withPlaceholders(entity, write, only);
    await write();
    return [];
  }

  private sharedUpdate(entity: ObjectLiteral, { decided }: Change): SharedUpdate | undefined {
    return this.sharesColumns && decided.length > 0
      ? { metadata: this.metadata, entity, decided }
      : undefined;
  }

  private async saveInTree(
    entity: ObjectLiteral,
    { change, runner, save }: { change: Change; runner: QueryRunner; save: () => Promise<void> },
  ): Promise<void> {
    const { tree } = this.parts;
    await (tree
      ? tree.save(entity, change.identity[0] ?? null, { mayMove: tree.mayMove(change), runner, save })
      : save());
  }

  private columnsOf(values: FieldValues): ReadonlySet<string> {
    return new Set(this.fieldsOf(values).flatMap(columnIds));
  }

  /** The columns of the body's values, including those of relations. */
  private writtenBy(values: FieldValues): ReadonlySet<string> {
    return new Set(this.fieldsOf(values).flatMap((field) => writtenIds(field, values.get(field.name))));
  }

  private fieldsOf(values: FieldValues): readonly Field[] {
    return [...values.keys()].flatMap((name) => this.resource.fieldsByName.get(name) ?? []);
  }
}

/** False for an embedded object with forward relations and no column of its own, which TypeORM 0.3 cannot `save`. */
function canSaveEmbedded({ embeddeds }: Pick<EntityMetadata, 'embeddeds'>): boolean {
  return embeddeds.every(
    (embedded) =>
      canSaveEmbedded(embedded) &&
      (embedded.columns.some((column) => !column.isVirtual) ||
        !embedded.relations.some((relation) => relation.isWithJoinColumn)),
  );
}

/**
 * The columns of relations that have a column of the key, where this is part of a composite foreign key: TypeORM takes an entity with
 * another one of these related keys for another row.
 */
function columnsBesideKey({ primaryColumns, relations }: EntityMetadata): ReadonlySet<string> {
  const shared = primaryColumns.filter(({ relationMetadata }) =>
    relationMetadata ? relationMetadata.joinColumns.length > 1 : false,
  );
  const found = relations.filter(({ joinColumns }) =>
    joinColumns.some(({ databaseName }) => shared.some((column) => column.databaseName === databaseName)),
  );
  return new Set(found.flatMap(({ joinColumns }) => joinColumns.map(({ databaseName }) => databaseName)));
}

/** Saves without these relations, unless they have changed. They are restored afterwards. */
async function saveWithout(
  entity: ObjectLiteral,
  relations: readonly LoadedRelation[],
  save: () => Promise<unknown>,
): Promise<void> {
  const hidden = relations.filter(({ relation, value }) => relation.getEntityValue(entity) === value);
  for (const { relation } of hidden) setRelation(entity, relation, undefined);
  try {
    await save();
  } finally {
    for (const { relation, value } of hidden)
      if (relation.getEntityValue(entity) === undefined) setRelation(entity, relation, value);
  }
}
