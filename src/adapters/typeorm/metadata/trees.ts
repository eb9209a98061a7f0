import type { EntityMetadata } from 'typeorm';
import type { Unsupported } from '../../../core/schema/entity-metadata.js';
import { sharesTable } from './inheritance.js';

const TREE_REPAIR =
  "Make it an adjacency list, serve it for reading (operations: ['list', 'retrieve']), or leave the entity out: do not register it.";

/** Trees that TypeORM itself does not maintain correctly. Adjacency lists are ordinary relations. */
export function unsupportedTrees(metadata: EntityMetadata): readonly Unsupported[] {
  const { treeType } = metadata;
  if (treeType === undefined || treeType === 'adjacency-list') return [];
  const reason = unsupportedReason(metadata);
  return reason === undefined
    ? []
    : [{ what: `a ${treeType} tree ${reason} is not supported`, repair: TREE_REPAIR, readable: true }];
}

function unsupportedReason(metadata: EntityMetadata): string | undefined {
  const { treeType, treeParentRelation, primaryColumns } = metadata;
  const [key] = primaryColumns;
  if (!treeParentRelation) return 'without @TreeParent';
  if (!key || primaryColumns.length > 1) return 'with a composite key';
  if (sharesTable(metadata)) return 'with single-table inheritance';
  if (treeType === 'materialized-path' && !key.isGenerated && !isNumericColumn(key.type))
    return 'with text keys, in which "." and "%" would be read as parts of a path,';
  const { onDelete } = treeParentRelation;
  if (onDelete === 'DEFAULT' || (onDelete === 'SET NULL' && treeType === 'nested-set'))
    return `whose children outlive their parent (onDelete: '${onDelete}')`;
  return undefined;
}

function isNumericColumn(type: unknown): boolean {
  return type === Number || (typeof type === 'string' && type.includes('int'));
}
