import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { resourceOf } from '../../../core/schema/resource.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { dialectFamily } from '../data-source-dialect.js';
import type { Tables } from '../table-metadata.js';

/** An index or a constraint that keeps the values of deleted rows apart from those of others. */
interface UniqueSet {
  readonly name: string;
  readonly columns: readonly ColumnMetadata[];
  readonly isConstraint: boolean;
}

/**
 * Warnings about unique indexes of models with a trash that also keep the values of deleted rows, with the migration to partial ones.
 * None on MariaDB and MySQL, which have no partial indexes.
 */
export function uniqueWarnings(
  resources: readonly ResourceSchema[],
  { tables, dataSource }: { readonly tables: Tables; readonly dataSource: DataSource },
): readonly string[] {
  if (dialectFamily(dataSource) === 'mysql') return [];
  return resources.flatMap((resource) => {
    if (!resourceOf(resource).trash) return [];
    const { metadata, path } = tables.of(resource);
    return uniqueSets(metadata).map((set) => warningOf(set, metadata, { path, dataSource }));
  });
}

function uniqueSets({ uniques, indices, deleteDateColumn }: EntityMetadata): readonly UniqueSet[] {
  const whole = indices.filter(({ isUnique, where }) => isUnique && where === undefined);
  return [
    ...uniques.map(({ name, columns }) => ({ name, columns, isConstraint: true })),
    ...whole.map(({ name, columns }) => ({ name, columns, isConstraint: false })),
  ].filter(({ columns }) => deleteDateColumn !== undefined && !columns.includes(deleteDateColumn));
}

function warningOf(
  { name, columns, isConstraint }: UniqueSet,
  { targetName, name: entity, deleteDateColumn, relations }: EntityMetadata,
  { path, dataSource }: { readonly path: string; readonly dataSource: DataSource },
): string {
  const escape = (text: string): string => dataSource.driver.escape(text);
  const where = `${escape(deleteDateColumn?.databaseName ?? '')} IS NULL`;
  const properties = columns.map((column) => (column.relationMetadata ?? column).propertyPath);
  const isOneToOne = relations.some(
    ({ isOneToOneOwner, joinColumns }) =>
      isOneToOneOwner && joinColumns.every((column) => columns.includes(column)),
  );
  const newName = isConstraint ? `${name}_kept` : name;
  const index = `@Index('${newName}', [${properties.map((each) => `'${each}'`).join(', ')}], { unique: true, where: '${where}' })`;
  const created = `CREATE UNIQUE INDEX ${escape(newName)} ON ${path} (${columns.map((column) => escape(column.databaseName)).join(', ')}) WHERE ${where};`;
  return (
    `${targetName || entity}: the unique ${isConstraint ? 'constraint' : 'index'} "${name}" on ${properties.join(', ')} also keeps the values of deleted rows, which no new object may have.` +
    ` Declare ${isOneToOne ? '@ManyToOne and ' : ''}${index} in its place, with the migration: ${dropOf({ name, isConstraint }, path, dataSource)} ${created}`
  );
}

/** SQLite has no statement that drops a constraint. */
function dropOf(
  { name, isConstraint }: Pick<UniqueSet, 'name' | 'isConstraint'>,
  path: string,
  dataSource: DataSource,
): string {
  const escaped = dataSource.driver.escape(name);
  if (!isConstraint) return `DROP INDEX ${escaped};`;
  return dialectFamily(dataSource) === 'sqlite'
    ? `(the table built anew without the constraint, as migration:generate writes it)`
    : `ALTER TABLE ${path} DROP CONSTRAINT ${escaped};`;
}
