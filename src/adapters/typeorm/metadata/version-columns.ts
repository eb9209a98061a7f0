import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { EntityDescription } from '../../../core/schema/entity-metadata.js';
import type { DataType } from '../../../core/schema/data-type.js';
import { dialectFamily } from '../data-source-dialect.js';
import { sharesTable } from './inheritance.js';

/**
 * The columns that identify the state of a row. A version column is not sufficient if a listener changes the values that are
 * read, or if a write changes other rows of a tree.
 */
export function describeValidatorColumns(
  metadata: EntityMetadata,
): Pick<EntityDescription, 'version' | 'modified'> {
  const { versionColumn, updateDateColumn, afterLoadListeners, treeType } = metadata;
  const isReliable =
    versionColumn &&
    afterLoadListeners.length === 0 &&
    treeType === undefined &&
    !sharesTable(metadata) &&
    !versionColumn.transformer;
  return {
    ...(isReliable ? { version: versionColumn.databaseName } : {}),
    ...(updateDateColumn && !updateDateColumn.transformer ? { modified: updateDateColumn.databaseName } : {}),
  };
}

/** Whether the column can change without a new version of the row. `settable`: bodies may change it. */
export function isUnversioned(
  column: ColumnMetadata,
  type: DataType,
  { metadata, dataSource, settable }: { metadata: EntityMetadata; dataSource: DataSource; settable: boolean },
): boolean {
  if (column.transformer !== undefined || column.isVirtualProperty) return true;
  return isChangedByForeignKey(column, metadata) || (settable && isComparedInexactly(type, dataSource));
}

/** Whether a foreign key changes the column when the referenced row is deleted or its key is updated. */
function isChangedByForeignKey(column: ColumnMetadata, { foreignKeys }: EntityMetadata): boolean {
  return foreignKeys.some(
    ({ columns, onDelete, onUpdate }) =>
      columns.includes(column) && (changesRow(onDelete, 'CASCADE') || changesRow(onUpdate)),
  );
}

/** `harmless`: an action that deletes the row itself. */
function changesRow(action: string | undefined, harmless?: string): boolean {
  return action !== undefined && !['NO ACTION', 'RESTRICT', 'DEFAULT', harmless].includes(action);
}

/**
 * Whether TypeORM compares values with less precision than the column has. Changes that it does not notice are written by an
 * additional statement, which does not increment the version.
 */
function isComparedInexactly(type: DataType, dataSource: DataSource): boolean {
  if (type.kind === 'list') return type.storage === 'array';
  if (type.kind === 'datetime') return type.digits > 3;
  return (
    dialectFamily(dataSource) === 'mysql' &&
    (type.kind === 'date' || (type.kind === 'float' && type.single === true))
  );
}
