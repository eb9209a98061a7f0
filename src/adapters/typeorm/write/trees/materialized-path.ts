import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../../core/errors/rest-exception.js';
import type { Move, TreeShape } from './tree-shape.js';
import { correctQueries } from '../../connection/corrected-runner.js';
import type { TreeTable } from './tree-table.js';

/** A tree in which each row stores the keys from its root to itself, such as `1.4.9.` */
export class MaterializedPath implements TreeShape {
  private readonly column: string;
  private readonly columnName: string | undefined;
  private readonly property: string;
  /** The runners whose statements are corrected: on SQLite, all transactions use the same one. */
  private readonly corrected = new WeakSet<QueryRunner>();

  constructor(private readonly tree: TreeTable) {
    const { materializedPathColumn: column } = tree.metadata;
    this.column = tree.nameOf(column);
    this.columnName = column?.databaseName;
    this.property = column?.propertyPath ?? '';
  }

  async insert(key: Json, parent: Json, runner: QueryRunner): Promise<void> {
    const { tree, column } = this;
    const path = await this.pathBelow(parent, key, runner);
    await tree.run(
      runner,
      (bind) => `UPDATE ${tree.path} SET ${column} = ${bind.text(path)} WHERE ${tree.key} = ${bind.key(key)}`,
    );
  }

  /**
   * Renames the paths. TypeORM replaces the old path wherever it occurs within a path (`1.` occurs in `1.11.` twice).
   * After this it finds no path that starts with the old one, and changes none.
   */
  async move(key: Json, { parent, save }: Move, runner: QueryRunner): Promise<void> {
    await this.moveBelow(parent, key, runner);
    this.correctNames(runner);
    await save();
  }

  async detach(key: Json, runner: QueryRunner): Promise<void> {
    await this.moveBelow(null, key, runner);
  }

  private async moveBelow(parent: Json, key: Json, runner: QueryRunner): Promise<void> {
    await this.rename(await this.pathOf(key, runner), await this.pathBelow(parent, key, runner), runner);
  }

  /** In its own statement TypeORM uses the property's name as that of the column, whatever the naming strategy. */
  private correctNames(runner: QueryRunner): void {
    if (this.property === this.columnName || this.corrected.has(runner)) return;
    this.corrected.add(runner);
    const { property, column } = this;
    const quoted = this.tree.quoted(property);
    const update = `UPDATE ${this.tree.path} SET ${column} = REPLACE(${quoted}, `;
    correctQueries(runner, {
      sql: (statement) =>
        statement.startsWith(update)
          ? statement
              .replace(`REPLACE(${quoted}, `, () => `REPLACE(${column}, `)
              .replace(`WHERE ${property} LIKE `, () => `WHERE ${column} LIKE `)
          : statement,
    });
  }

  private async pathBelow(parent: Json, key: Json, runner: QueryRunner): Promise<string> {
    return `${parent === null ? '' : await this.pathOf(parent, runner)}${String(key)}.`;
  }

  private async pathOf(key: Json, runner: QueryRunner): Promise<string> {
    const { tree, column } = this;
    const [record] = await tree.run(
      runner,
      (bind) => `SELECT ${column} AS c0 FROM ${tree.path} WHERE ${tree.key} = ${bind.key(key)}`,
    );
    const path = record?.c0;
    if (typeof path !== 'string' || path === '')
      throw new Error(
        `The ${tree.metadata.name} ${String(key)} has no path: it was not written through TypeORM`,
      );
    return path;
  }

  private async rename(before: string, after: string, runner: QueryRunner): Promise<void> {
    const { tree, column } = this;
    const start = `SUBSTR(${column}, 1, ${before.length})`;
    const rest = `SUBSTR(${column}, ${before.length + 1})`;
    await tree.run(
      runner,
      (bind) =>
        `UPDATE ${tree.path} SET ${column} = ${tree.tools.dialect.concat(bind.text(after), rest)} WHERE ${start} = ${bind.text(before)}`,
    );
  }
}
