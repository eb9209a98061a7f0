import { isScalar } from '../core/schema/data-type.js';
import type { Column } from '../core/schema/column.js';
import type { Operand } from '../core/query/condition.js';
import type { Field } from '../core/schema/field.js';
import type { Relation } from '../core/schema/relation.js';
import type { QueriedPath, ExistsStep } from '../core/schema/resource-schema.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';

/** The target of a path from a resource over to-one relations. */
export interface ResolvedPath {
  /** Several for a composite related key. */
  readonly operands: readonly Operand[];
  /** The data type of the column; for a relation that of its key. */
  readonly leaf: 'column' | 'relation' | 'many';
}

/** The target of a path that may also lead over to-many relations. */
export type FilterPath = ResolvedPath & QueriedPath;

/**
 * Resolves a dotted path over readable fields. Undefined if a step is unknown, hidden, or a to-many relation, which clients
 * must not be able to distinguish.
 */
export function resolveReadablePath(path: string, resource: ResourceSchema): ResolvedPath | undefined {
  const resolved = resolveFilterPath(path, resource);
  return resolved?.some.length === 0 ? resolved : undefined;
}

/** As `resolveReadablePath`, and over to-many relations too, where at least one related row must match. */
export function resolveFilterPath(path: string, resource: ResourceSchema): FilterPath | undefined {
  return resolve(path.split('.'), resource.fields, { some: [], hops: [] });
}

interface PathPosition {
  readonly some: readonly ExistsStep[];
  readonly hops: readonly Relation[];
}

function resolve(
  [name, ...rest]: readonly string[],
  fields: readonly Field[],
  place: PathPosition,
): FilterPath | undefined {
  const { some } = place;
  const field = fields.find((each) => each.name === name && each.readable);
  switch (field?.kind) {
    case 'column':
      return rest.length > 0
        ? undefined
        : { leaf: 'column', some, operands: [{ hops: place.hops, column: field.column }] };
    case 'embedded':
      return rest.length > 0 ? resolve(rest, field.fields, place) : undefined;
    case 'to-one':
    case 'reverse-one': {
      const hops = [...place.hops, field.relation];
      if (rest.length > 0) return resolve(rest, field.relation.target.fields, { some, hops });
      return { leaf: 'relation', some, operands: keyOperands(field.relation, place.hops) };
    }
    case 'link': {
      const { target } = field.relation;
      const within = [...some, { hops: place.hops, relation: field.relation }];
      if (rest.length > 0) return resolve(rest, target.fields, { some: within, hops: [] });
      return {
        leaf: 'many',
        some: within,
        operands: target.key.columns.map((column) => ({ hops: [], column })),
      };
    }
    default:
      return undefined;
  }
}

/** The operands of a related key: the foreign key of this row if it contains the key, else columns of the related row. */
export function keyOperands(relation: Relation, hops: readonly Relation[]): readonly Operand[] {
  return relation.target.key.columns.map((column): Operand => {
    const near =
      relation.kind === 'to-one' && relation.byKey
        ? relation.on.find((pair) => pair.far.id === column.id)?.near
        : undefined;
    return near ? { hops, column: near } : { hops: [...hops, relation], column };
  });
}

/** The default paths of filters and orders: plain readable columns and forward relations (contract 4.2). */
export function plainPaths(resource: ResourceSchema): readonly string[] {
  return resource.fields.flatMap((field) => readablePaths(field, ''));
}

function readablePaths(field: Field, within: string): readonly string[] {
  if (!field.readable) return [];
  if (field.kind === 'to-one') return [within + field.name];
  if (field.kind === 'column')
    return isScalar(field.type) && !isTransformed(field.column) ? [within + field.name] : [];
  return field.kind === 'embedded'
    ? field.fields.flatMap((inner) => readablePaths(inner, `${within}${field.name}.`))
    : [];
}

/** Whether the stored value differs from that in bodies, so that the database compares and sorts differently. */
export function isTransformed(column: Column): boolean {
  return column.transform !== undefined;
}
