import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import type { TestDatabase } from './databases.js';

/**
 * The database with the tables of the entities and what the statements add to them, such as indexes that TypeORM does not know. Start
 * the application with `dataSource: { synchronize: false }`.
 */
export function indexedDatabase(
  database: TestDatabase,
  entities: DataSourceOptions['entities'],
  statements: Readonly<Partial<Record<TestDatabase['name'], readonly string[]>>>,
): TestDatabase {
  return {
    ...database,
    async open() {
      const opened = await database.open();
      const folder = database.name === 'sqlite' ? mkdtempSync(join(tmpdir(), 'restify-')) : undefined;
      const options = {
        ...opened.options,
        ...(folder !== undefined && { database: join(folder, 'test.db') }),
      } as DataSourceOptions;
      const drop = async (): Promise<void> => {
        await opened.drop();
        if (folder !== undefined) rmSync(folder, { recursive: true });
      };
      const dataSource = new DataSource({ ...options, entities, synchronize: true });
      try {
        await dataSource.initialize();
        for (const sql of statements[database.name] ?? []) await dataSource.query(sql);
      } catch (error) {
        await drop();
        throw error;
      } finally {
        if (dataSource.isInitialized) await dataSource.destroy();
      }
      return { options, drop };
    },
  };
}

/** An FTS5 table of a table of SQLite, and the triggers that keep it up to date. */
export function fullTextTable(
  name: string,
  { table, columns }: { readonly table: string; readonly columns: readonly string[] },
): readonly string[] {
  const list = columns.join(', ');
  const values = (row: string): string => ['id', ...columns].map((each) => `${row}.${each}`).join(', ');
  const added = `INSERT INTO ${name} (rowid, ${list}) VALUES (${values('new')});`;
  const removed = `INSERT INTO ${name} (${name}, rowid, ${list}) VALUES ('delete', ${values('old')});`;
  return [
    `CREATE VIRTUAL TABLE ${name} USING fts5(${list}, content='${table}', content_rowid='id')`,
    `INSERT INTO ${name} (${name}) VALUES ('rebuild')`,
    `CREATE TRIGGER ${name}_i AFTER INSERT ON ${table} BEGIN ${added} END`,
    `CREATE TRIGGER ${name}_d AFTER DELETE ON ${table} BEGIN ${removed} END`,
    `CREATE TRIGGER ${name}_u AFTER UPDATE ON ${table} BEGIN ${removed} ${added} END`,
  ];
}
