import { Table } from 'typeorm';
import type {
  DataSource,
  DataSourceOptions,
  QueryRunner,
  TableColumnOptions,
  TableForeignKeyOptions,
} from 'typeorm';

interface TableDefinition {
  readonly name: string;
  readonly columns: TableColumnOptions[];
  readonly foreignKeys?: TableForeignKeyOptions[];
  readonly unique?: { readonly name: string; readonly columnNames: string[] };
}

/** Creates the table if it does not exist. */
export async function createTable(
  runner: QueryRunner,
  { name, columns, foreignKeys = [], unique }: TableDefinition,
): Promise<void> {
  // MariaDB implements unique constraints as indexes, and TypeORM expects them as such.
  const asIndex = isMySql(runner);
  const table = new Table({
    name,
    columns,
    foreignKeys,
    ...(unique && !asIndex ? { uniques: [unique] } : {}),
    ...(unique && asIndex ? { indices: [{ ...unique, isUnique: true }] } : {}),
  });
  await runner.createTable(table, true);
}

export function cascading(column: string, table: string): TableForeignKeyOptions {
  return {
    columnNames: [column],
    referencedTableName: table,
    referencedColumnNames: ['id'],
    onDelete: 'CASCADE',
  };
}

export function integerType(runner: QueryRunner): string {
  return isMySql(runner) ? 'int' : 'integer';
}

export function instantType(runner: QueryRunner): string {
  return databaseOf(runner) === 'postgres' ? 'timestamp' : 'datetime';
}

export function instantDefault(runner: QueryRunner): Pick<TableColumnOptions, 'default' | 'precision'> {
  if (databaseOf(runner) === 'better-sqlite3') return { default: 'CURRENT_TIMESTAMP' };
  return { precision: 6, default: isMySql(runner) ? 'CURRENT_TIMESTAMP(6)' : 'CURRENT_TIMESTAMP' };
}

/**
 * The name that TypeORM gives the unique constraint of a one-to-one relation. The constraint must have this name, because
 * MariaDB's error for a duplicate contains only the name of the index.
 */
export function oneToOneName(runner: QueryRunner, table: string, column: string): string {
  return dataSourceOf(runner).namingStrategy.relationConstraintName(table, [column]);
}

function isMySql(runner: QueryRunner): boolean {
  return ['mariadb', 'mysql'].includes(databaseOf(runner));
}

function databaseOf(runner: QueryRunner): DataSourceOptions['type'] {
  return dataSourceOf(runner).options.type;
}

function dataSourceOf(runner: QueryRunner): DataSource {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- `dataSource` is a name of TypeORM 1, and 0.3 has this one only
  return runner.connection;
}

/** The type that the column of an enum has, as TypeORM names it. */
export function enumType(
  runner: QueryRunner,
  table: string,
  column: string,
): Pick<TableColumnOptions, 'type' | 'enumName'> {
  if (databaseOf(runner) === 'better-sqlite3') return { type: 'varchar' };
  return { type: 'enum', enumName: `${table}_${column}_enum` };
}
