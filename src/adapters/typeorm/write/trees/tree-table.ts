import type { EntityMetadata, QueryRunner } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Json } from '../../../../core/errors/rest-exception.js';
import type { Column } from '../../../../core/schema/column.js';
import type { ResourceSchema } from '../../../../core/schema/resource-schema.js';
import { decodeColumn, Scope } from '../../../../sql/query-scope.js';
import type { WriterTools } from '../row-writer.js';

type TreeRecords = readonly Record<string, unknown>[];

/** Binds a value to a statement, and returns the SQL of its parameter. */
export interface Binder {
  key(value: Json): string;
  text(value: string): string;
}

/** The table of a tree with its quoted names, and the statements that maintain the tree. */
export class TreeTable {
  readonly path: string;
  readonly key: string;
  readonly parent: string;
  private readonly keyColumn: Column;

  constructor(
    readonly resource: ResourceSchema,
    readonly metadata: EntityMetadata,
    readonly tools: WriterTools,
  ) {
    const [keyColumn] = resource.identity;
    const joinColumn = metadata.treeParentRelation?.joinColumns[0];
    if (!keyColumn || !joinColumn) throw new Error(`${metadata.name} is not a tree with one key`);
    this.keyColumn = keyColumn;
    const table = tools.tables.of(resource);
    this.path = table.path;
    this.key = table.name(keyColumn);
    this.parent = this.nameOf(joinColumn);
  }

  nameOf(column: ColumnMetadata | undefined): string {
    if (!column) throw new Error(`${this.metadata.name} lacks a column of its tree`);
    return this.tools.tables.of(this.resource).dataSource.driver.escape(column.databaseName);
  }

  /** Quotes each part of a path with a schema or database. */
  quoted(path: string): string {
    const { driver } = this.tools.tables.of(this.resource).dataSource;
    return path
      .split('.')
      .map((part) => (part === '' ? part : driver.escape(part)))
      .join('.');
  }

  /** Runs one statement. Bind values in the order of their occurrence in the text. */
  async run(runner: QueryRunner, write: (bind: Binder) => string): Promise<TreeRecords> {
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const sql = write({
      key: (value) => scope.bind(value, this.keyColumn.type),
      text: (value) => scope.bindText(value),
    });
    const result: unknown = await runner.query(sql, [...scope.parameters]);
    return Array.isArray(result) ? (result as TreeRecords) : [];
  }

  /** The stored key of the row's parent. */
  async parentOf(key: Json, runner: QueryRunner): Promise<Json> {
    const [record] = await this.run(
      runner,
      (bind) =>
        `SELECT ${this.readKey(this.parent)} AS c0 FROM ${this.path} WHERE ${this.key} = ${bind.key(key)}`,
    );
    return this.decodeKey(record?.c0);
  }

  async childrenOf(key: Json, runner: QueryRunner): Promise<readonly Json[]> {
    const records = await this.run(
      runner,
      (bind) =>
        `SELECT ${this.readKey(this.key)} AS c0 FROM ${this.path} WHERE ${this.parent} = ${bind.key(key)}`,
    );
    return records.map(({ c0 }) => this.decodeKey(c0));
  }

  /** Whether the first row is an ancestor of the other one, or the same row. */
  async isAbove(key: Json, other: Json, runner: QueryRunner): Promise<boolean> {
    const found = await this.run(runner, (bind) => {
      const first = `SELECT ${this.key}, ${this.parent} FROM ${this.path} WHERE ${this.key} = ${bind.key(other)}`;
      const next = `SELECT t.${this.key}, t.${this.parent} FROM ${this.path} t INNER JOIN above ON t.${this.key} = above.p`;
      return `WITH RECURSIVE above (k, p) AS (${first} UNION ${next}) SELECT 1 AS c0 FROM above WHERE k = ${bind.key(key)}`;
    });
    return found.length > 0;
  }

  /** Locks the tree against other writers until the transaction ends. */
  async lock(runner: QueryRunner): Promise<void> {
    const scope = Scope.begin(this.tools.dialect, this.tools.tables, this.resource);
    const sql = this.tools.dialect.lockTree({ table: this.path, key: this.key }, (text) =>
      scope.bindText(text),
    );
    if (sql !== undefined) await runner.query(sql, [...scope.parameters]);
  }

  private readKey(column: string): string {
    return this.tools.dialect.read(column, this.keyColumn.type);
  }

  private decodeKey(raw: unknown): Json {
    return decodeColumn(raw, this.keyColumn, this.tools.dialect);
  }
}
