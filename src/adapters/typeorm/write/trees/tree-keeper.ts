import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import { InvalidInput } from '../../../../core/errors/http-exceptions.js';
import type { Json } from '../../../../core/errors/rest-exception.js';
import { isWritable } from '../../../../core/schema/field.js';
import type { FieldValues } from '../../../../core/query/plan.js';
import type { ResourceSchema } from '../../../../core/schema/resource-schema.js';
import { fromProperty } from '../property-values.js';
import type { WriterTools } from '../row-writer.js';
import { ClosureTable, MaterializedPath, NestedSet } from './tree-shapes.js';
import type { TreeShape } from './tree-shapes.js';
import { TreeTable } from './tree-table.js';

/**
 * Maintains the tree columns of an entity while its rows are written. TypeORM does so in `save` only, which would
 * overwrite a row instead of inserting one, and which moves some subtrees incorrectly.
 */
export class TreeKeeper {
  constructor(
    private readonly table: TreeTable,
    private readonly shape: TreeShape,
    private readonly invalidInput: (message: string) => InvalidInput,
  ) {}

  /** Undefined for an entity that is not a tree, or an adjacency list, which stores parent keys only. */
  static of(resource: ResourceSchema, metadata: EntityMetadata, tools: WriterTools): TreeKeeper | undefined {
    if (metadata.treeType === undefined || metadata.treeType === 'adjacency-list') return undefined;
    const table = new TreeTable(resource, metadata, tools);
    const invalidInput = (message: string): InvalidInput => parentError(resource, metadata, message);
    return new TreeKeeper(table, treeShapeOf(table, invalidInput), invalidInput);
  }

  /** Locks the tree. Call it first in a transaction that changes the tree. */
  async begin(runner: QueryRunner): Promise<void> {
    await this.table.lock(runner);
  }

  /** Whether an update may move the row: the body contains the parent, or a hook has received the entity. */
  mayMove({ values, hooked }: { values: FieldValues; hooked?: boolean }): boolean {
    return hooked === true || [...values.keys()].some((name) => this.namesParent(name));
  }

  async insert(entity: ObjectLiteral, key: Json, runner: QueryRunner): Promise<void> {
    await this.shape.insert(key, this.parentIn(entity), runner);
  }

  /** Saves an entity, and moves its row if its parent has changed. */
  async save(
    entity: ObjectLiteral,
    key: Json,
    { mayMove, runner, save }: { mayMove: boolean; runner: QueryRunner; save: () => Promise<void> },
  ): Promise<void> {
    const parent = this.parentIn(entity);
    if (!mayMove || parent === (await this.table.parentOf(key, runner))) {
      // TypeORM would treat a root that stays one as a row that becomes one.
      if (parent === null) this.table.metadata.treeParentRelation?.setEntityValue(entity, undefined);
      return save();
    }
    if (parent !== null && (await this.table.isAbove(key, parent, runner)))
      throw this.invalidInput('An object cannot stand below itself.');
    await this.shape.move(key, { parent, save }, runner);
  }

  /** Children become roots if they outlive their parent. */
  async beforeDelete(key: Json, runner: QueryRunner): Promise<void> {
    if (this.table.metadata.treeParentRelation?.onDelete === 'SET NULL')
      for (const child of await this.table.childrenOf(key, runner)) await this.shape.detach(child, runner);
    await this.shape.remove?.(key, runner);
  }

  /** Whether the field is the parent relation, or the plain column of its foreign key. */
  private namesParent(name: string): boolean {
    const { resource, metadata } = this.table;
    const field = resource.fieldsByName.get(name);
    const relation = metadata.treeParentRelation;
    if (field?.kind === 'column')
      return relation?.joinColumns.some(({ databaseName }) => databaseName === field.column.id) === true;
    return field?.kind === 'to-one' && field.relation.name === relation?.propertyPath;
  }

  private parentIn(entity: ObjectLiteral): Json {
    const column = this.table.metadata.treeParentRelation?.joinColumns[0];
    const [key] = this.table.resource.identity;
    return column && key ? (fromProperty(column.getEntityValue(entity), key.type) as Json) : null;
  }
}

function treeShapeOf(table: TreeTable, invalidInput: (message: string) => InvalidInput): TreeShape {
  switch (table.metadata.treeType) {
    case 'closure-table':
      return new ClosureTable(table);
    case 'materialized-path':
      return new MaterializedPath(table);
    case 'nested-set':
      return new NestedSet(table, invalidInput);
    default:
      throw new Error(`${table.metadata.name} is not a tree`);
  }
}

/** An error of the parent's field, if the client can see it. */
function parentError(
  resource: ResourceSchema,
  { treeParentRelation }: EntityMetadata,
  message: string,
): InvalidInput {
  const field = resource.fields.find(
    (each) =>
      each.kind === 'to-one' &&
      each.relation.name === treeParentRelation?.propertyPath &&
      (each.readable || isWritable(each)),
  );
  return field ? InvalidInput.of(field.name, message) : InvalidInput.ofNoField(message);
}
