import { Table } from 'typeorm';
import type {
  DataSource,
  DataSourceOptions,
  QueryRunner,
  TableColumnOptions,
  TableForeignKeyOptions,
} from 'typeorm';

interface Constraints {
  readonly foreignKeys?: TableForeignKeyOptions[];
  readonly unique?: { readonly name: string; readonly columnNames: string[] };
}

/** Makes the table, where it is not there yet. */
export async function create(
  runner: QueryRunner,
  name: string,
  columns: TableColumnOptions[],
  { foreignKeys = [], unique }: Constraints = {},
): Promise<void> {
  // MariaDB keeps unique constraints as indices, and TypeORM asks to be told so.
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
 * The name that TypeORM gives the unique columns of a one-to-one. Where MariaDB refuses a row it names the index alone,
 * so that this has to be the name that the entity knows.
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
