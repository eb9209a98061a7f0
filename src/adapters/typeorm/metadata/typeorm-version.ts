import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { EntityDescription } from '../../../core/schema/entity-metadata.js';
import type { DataType } from '../../../core/schema/data-type.js';
import { knownDialectFamily } from '../dialect-family.js';
import { sharesTable } from './inheritance.js';

/** A version counts for nothing where a listener makes what is read, or where other rows of a tree are rewritten beside it. */
export function describeValidatorColumns(
  metadata: EntityMetadata,
): Pick<EntityDescription, 'version' | 'modified'> {
  const { versionColumn, updateDateColumn, afterLoadListeners, treeType } = metadata;
  const counted =
    versionColumn &&
    afterLoadListeners.length === 0 &&
    treeType === undefined &&
    !sharesTable(metadata) &&
    !versionColumn.transformer;
  return {
    ...(counted ? { version: versionColumn.databaseName } : {}),
    ...(updateDateColumn && !updateDateColumn.transformer ? { modified: updateDateColumn.databaseName } : {}),
  };
}

/** `settable`: bodies may change it. */
export function isUnversioned(
  column: ColumnMetadata,
  type: DataType,
  { metadata, dataSource, settable }: { metadata: EntityMetadata; dataSource: DataSource; settable: boolean },
): boolean {
  if (column.transformer !== undefined || column.isVirtualProperty) return true;
  return isActedOn(column, metadata) || (settable && isCoarse(type, dataSource));
}

/** What a foreign key does to the column when the row that it names is deleted, or gets another key. */
function isActedOn(column: ColumnMetadata, { foreignKeys }: EntityMetadata): boolean {
  return foreignKeys.some(
    ({ columns, onDelete, onUpdate }) =>
      columns.includes(column) && (acts(onDelete, 'CASCADE') || acts(onUpdate)),
  );
}

/** `harmless`: the row itself goes. */
function acts(action: string | undefined, harmless?: string): boolean {
  return action !== undefined && !['NO ACTION', 'RESTRICT', 'DEFAULT', harmless].includes(action);
}

/** The ORM compares less than the column keeps: what it does not notice is written behind its statement, and not counted. */
function isCoarse(type: DataType, dataSource: DataSource): boolean {
  if (type.kind === 'list') return type.storage === 'array';
  if (type.kind === 'datetime') return type.digits > 3;
  return (
    knownDialectFamily(dataSource) === 'mysql' &&
    (type.kind === 'date' || (type.kind === 'float' && type.single === true))
  );
}
