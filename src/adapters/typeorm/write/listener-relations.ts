import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { loadEntities } from '../unreadable-json.js';

/** The relations of a loaded object, as the `relations` option of TypeORM's `find`. */
interface Tree {
  [relation: string]: Tree;
}

interface LoadedRelation {
  readonly relation: RelationMetadata;
  readonly nested: Tree;
}

/**
 * The related objects that a model's listeners and subscribers read, loaded in the transaction of the write once the
 * entity's keys are known. Otherwise a relation contains an object with the key only.
 */
export class ListenerRelations {
  private constructor(private readonly wanted: readonly LoadedRelation[]) {}

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
  { relation, nested }: LoadedRelation,
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
