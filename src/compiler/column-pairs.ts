import type { PairDescription } from '../core/schema/entity-metadata.js';
import type { ColumnPair } from '../core/schema/relation.js';
import type { Resource } from '../core/schema/resource.js';

/** Resolves the column ids of a description to columns. */
export function columnPairs(
  pairs: readonly PairDescription[],
  near: Resource,
  far: Resource,
): readonly ColumnPair[] {
  return pairs.map((pair) => {
    const [nearColumn, farColumn] = [near.columns.get(pair.near), far.columns.get(pair.far)];
    if (!nearColumn || !farColumn)
      throw new Error(`${near.label} and ${far.label} are not joined by ${pair.near} and ${pair.far}`);
    return { near: nearColumn, far: farColumn };
  });
}

/** Whether the pairs refer to the target's key itself. */
export function refersToKey(on: readonly ColumnPair[], target: Resource): boolean {
  const { columns } = target.key;
  return columns.length === on.length && columns.every(({ id }) => on.some(({ far }) => far.id === id));
}
