import type { EntityDescription, PairDescription, RelationDescription } from '../../model/entity-description.js';
import type { ColumnPair, Relation } from '../../model/relation.js';
import type { Resource } from '../../model/resource.js';
import type { ResourceShell } from './resource-shell.js';
import type { ThroughCompiler } from './compile-through.js';

/** All relations of an entity, whether its targets are served or not. */
export function compileRelations(entity: EntityDescription, shells: ReadonlyMap<string, ResourceShell>, through: ThroughCompiler): ReadonlyMap<string, Relation> {
  const near = shells.get(entity.id);
  const relations = new Map<string, Relation>();
  for (const description of entity.relations) {
    const target = shells.get(description.target);
    if (near && target) relations.set(description.path, compileRelation(description, { near, target }, through));
  }
  return relations;
}

function compileRelation(description: RelationDescription, { near, target }: { near: ResourceShell; target: ResourceShell }, through: ThroughCompiler): Relation {
  const base = { name: description.path, target };
  switch (description.kind) {
    case 'to-one': {
      const on = columnPairs(description.on, near, target);
      return { ...base, kind: 'to-one', on, byKey: refersToKey(on, target) };
    }
    case 'reverse-one':
    case 'one-to-many':
      return { ...base, kind: description.kind, on: columnPairs(description.on, near, target) };
    case 'many-to-many':
      return { ...base, kind: 'many-to-many', through: through.compile(description, near, target) };
    default:
      return description satisfies never;
  }
}

export function columnPairs(pairs: readonly PairDescription[], near: Resource, far: Resource): readonly ColumnPair[] {
  return pairs.map((pair) => {
    const [nearColumn, farColumn] = [near.columns.get(pair.near), far.columns.get(pair.far)];
    if (!nearColumn || !farColumn) throw new Error(`${near.label} and ${far.label} are not joined by ${pair.near} and ${pair.far}`);
    return { near: nearColumn, far: farColumn };
  });
}

export function refersToKey(on: readonly ColumnPair[], target: Resource): boolean {
  const far = new Set(on.map((pair) => pair.far.id));
  return target.key.columns.length === on.length && target.key.columns.every((column) => far.has(column.id));
}
