import type { EntityDescription, RelationDescription } from '../core/schema/entity-metadata.js';
import type { Relation } from '../core/schema/relation.js';
import { columnPairs, refersToKey } from './column-pairs.js';
import type { ResourceBuilder } from './resource-builder.js';
import type { ThroughCompiler } from './compile-through.js';

/** All relations of an entity, whether its targets are served or not. */
export function compileRelations(
  entity: EntityDescription,
  shells: ReadonlyMap<string, ResourceBuilder>,
  through: ThroughCompiler,
): ReadonlyMap<string, Relation> {
  const near = shells.get(entity.id);
  const relations = new Map<string, Relation>();
  for (const description of entity.relations) {
    const target = shells.get(description.target);
    if (near && target)
      relations.set(description.path, resolveRelation(description, { near, target }, through));
  }
  return relations;
}

function resolveRelation(
  description: RelationDescription,
  { near, target }: { near: ResourceBuilder; target: ResourceBuilder },
  through: ThroughCompiler,
): Relation {
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
