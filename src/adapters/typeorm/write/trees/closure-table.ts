import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../../core/errors/rest-exception.js';
import type { Move, TreeShape } from './tree-shape.js';
import type { TreeTable } from './tree-table.js';

/** A tree with a closure table: one row for each pair of a node and its ancestor, or itself. */
export class ClosureTable implements TreeShape {
  private readonly path: string;
  private readonly ancestor: string;
  private readonly descendant: string;
  private readonly into: string;

  constructor(private readonly tree: TreeTable) {
    const { closureJunctionTable: closure } = tree.metadata;
    this.path = tree.quoted(closure.tablePath);
    this.ancestor = tree.nameOf(closure.ancestorColumns[0]);
    this.descendant = tree.nameOf(closure.descendantColumns[0]);
    this.into = `INSERT INTO ${this.path} (${this.ancestor}, ${this.descendant})`;
  }

  async insert(key: Json, parent: Json, runner: QueryRunner): Promise<void> {
    await this.tree.run(runner, (bind) => `${this.into} VALUES (${bind.key(key)}, ${bind.key(key)})`);
    await this.attach(key, parent, runner);
  }

  /**
   * TypeORM's `save` does not find the old pairs if the key column's name differs from its property; it adds the new
   * ones.
   */
  async move(key: Json, { parent, save }: Move, runner: QueryRunner): Promise<void> {
    await this.detach(key, runner);
    await save();
    await this.attach(key, parent, runner);
  }

  /** Inserts the missing pairs of the parent and its ancestors with the node and its descendants. */
  private async attach(key: Json, parent: Json, runner: QueryRunner): Promise<void> {
    if (parent === null) return;
    const { path, ancestor, descendant } = this;
    const known = `SELECT 1 FROM ${path} known WHERE known.${ancestor} = above.${ancestor} AND known.${descendant} = below.${descendant}`;
    await this.tree.run(
      runner,
      (bind) =>
        `${this.into} SELECT above.${ancestor}, below.${descendant} FROM ${path} above CROSS JOIN ${path} below WHERE above.${descendant} = ${bind.key(parent)} AND below.${ancestor} = ${bind.key(key)} AND NOT EXISTS (${known})`,
    );
  }

  async detach(key: Json, runner: QueryRunner): Promise<void> {
    const { tree, path, ancestor, descendant } = this;
    await tree.run(runner, (bind) => {
      const below = (alias: string): string =>
        `SELECT ${alias}.${descendant} FROM (SELECT ${descendant} FROM ${path} WHERE ${ancestor} = ${bind.key(key)}) ${alias}`;
      return `DELETE FROM ${path} WHERE ${descendant} IN (${below('a')}) AND ${ancestor} NOT IN (${below('b')})`;
    });
  }
}
