import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../../core/errors/rest-exception.js';
import type { TreeShape } from './tree-shape.js';
import type { TreeTable } from './tree-table.js';

/** A tree in which each row stores the keys from its root to itself, such as `1.4.9.` */
export class MaterializedPath implements TreeShape {
  private readonly column: string;

  constructor(private readonly tree: TreeTable) {
    this.column = tree.nameOf(tree.metadata.materializedPathColumn);
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
  async move(key: Json, parent: Json, runner: QueryRunner): Promise<() => Promise<void>> {
    await this.rename(await this.pathOf(key, runner), await this.pathBelow(parent, key, runner), runner);
    return () => Promise.resolve();
  }

  async detach(key: Json, runner: QueryRunner): Promise<void> {
    await this.move(key, null, runner);
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
