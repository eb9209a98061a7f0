import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../../errors/rest-error.js';
import type { TreeShape } from './tree-shape.js';
import type { TreeTable } from './tree-table.js';

/** A row in a table beside it for each pair of a node and one above it, itself included. */
export class ClosureTable implements TreeShape {
  private readonly path: string;
  private readonly ancestor: string;
  private readonly descendant: string;

  constructor(private readonly tree: TreeTable) {
    const { closureJunctionTable: closure } = tree.metadata;
    this.path = tree.quoted(closure.tablePath);
    this.ancestor = tree.nameOf(closure.ancestorColumns[0]);
    this.descendant = tree.nameOf(closure.descendantColumns[0]);
  }

  async insert(key: Json, parent: Json, runner: QueryRunner): Promise<void> {
    const { tree, path, ancestor, descendant } = this;
    const into = `INSERT INTO ${path} (${ancestor}, ${descendant})`;
    if (parent !== null) {
      await tree.run(runner, (bind) => `${into} SELECT c.${ancestor}, t.${tree.key} FROM ${path} c CROSS JOIN ${tree.path} t WHERE c.${descendant} = ${bind.key(parent)} AND t.${tree.key} = ${bind.key(key)}`);
    }
    await tree.run(runner, (bind) => `${into} VALUES (${bind.key(key)}, ${bind.key(key)})`);
  }

  /** TypeORM adds the pairs with those above the new parent; it does not find the old ones where the key's column has another name than its property. */
  async move(key: Json, _parent: Json, runner: QueryRunner): Promise<() => Promise<void>> {
    await this.detach(key, runner);
    return () => Promise.resolve();
  }

  async detach(key: Json, runner: QueryRunner): Promise<void> {
    const { tree, path, ancestor, descendant } = this;
    await tree.run(runner, (bind) => {
      const below = (alias: string): string => `SELECT ${alias}.${descendant} FROM (SELECT ${descendant} FROM ${path} WHERE ${ancestor} = ${bind.key(key)}) ${alias}`;
      return `DELETE FROM ${path} WHERE ${descendant} IN (${below('a')}) AND ${ancestor} NOT IN (${below('b')})`;
    });
  }
}
