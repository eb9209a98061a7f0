import type { EntityMetadata } from 'typeorm';
import type { Unsupported } from '../../../model/entity-description.js';
import { sharesTable } from './inheritance.js';

const REPAIR = 'Make it an adjacency list, or take @Restify off and serve it with a controller of your own.';

/** Trees that TypeORM itself does not keep right. Adjacency lists are relations like any other. */
export function unsupportedTrees(metadata: EntityMetadata): readonly Unsupported[] {
  const { treeType, columns } = metadata;
  if (treeType === undefined) return [];
  if (columns.some((column) => column.isTreeLevel))
    return [{ what: 'TypeORM fills no @TreeLevelColumn', repair: 'Take the column out.' }];
  if (treeType === 'adjacency-list') return [];
  const why = reason(metadata);
  return why === undefined ? [] : [{ what: `a ${treeType} tree ${why} is not supported`, repair: REPAIR }];
}

function reason(metadata: EntityMetadata): string | undefined {
  const { treeType, treeParentRelation, primaryColumns } = metadata;
  const [key] = primaryColumns;
  if (!treeParentRelation) return 'without @TreeParent';
  if (!key || primaryColumns.length > 1) return 'with a composite key';
  if (sharesTable(metadata)) return 'with single-table inheritance';
  if (treeType === 'materialized-path' && !key.isGenerated && !isNumber(key.type))
    return 'with text keys, in which "." and "%" would be read as parts of a path,';
  const { onDelete } = treeParentRelation;
  if (onDelete === 'DEFAULT' || (onDelete === 'SET NULL' && treeType === 'nested-set'))
    return `whose children outlive their parent (onDelete: '${onDelete}')`;
  return undefined;
}

function isNumber(type: unknown): boolean {
  return type === Number || (typeof type === 'string' && type.includes('int'));
}
