import type { PairDescription } from '../core/schema/entity-metadata.js';
import type { ColumnPair } from '../core/schema/relation.js';
import type { Resource } from '../core/schema/resource.js';

/** Resolves the column ids of a description to columns. */
export function columnPairs(
  pairs: readonly PairDescription[],
  source: Resource,
  target: Resource,
): readonly ColumnPair[] {
  return pairs.map((pair) => {
    const [localColumn, referencedColumn] = [
      source.columns.get(pair.localColumn),
      target.columns.get(pair.referencedColumn),
    ];
    if (!localColumn || !referencedColumn)
      throw new Error(
        `${source.className} and ${target.className} are not joined by ${pair.localColumn} and ${pair.referencedColumn}`,
      );
    return { localColumn, referencedColumn };
  });
}

/** Whether the pairs refer to the target's key itself. */
export function refersToKey(on: readonly ColumnPair[], target: Resource): boolean {
  const { columns } = target.key;
  return (
    columns.length === on.length &&
    columns.every(({ id }) => on.some(({ referencedColumn }) => referencedColumn.id === id))
  );
}
