import type { QueryRunner } from 'typeorm';
import type { InvalidInput } from '../../../../core/errors/http-exceptions.js';
import type { Json } from '../../../../core/errors/rest-exception.js';
import { correctQueries } from '../../connection/corrected-runner.js';
import type { TreeTable } from './tree-table.js';

/** A row gets another parent: `save` writes it through TypeORM, which then changes the tree, too. */
export interface Move {
  readonly parent: Json;
  readonly save: () => Promise<void>;
}

/** The data that a kind of tree stores in addition to the parent keys. */
export interface TreeShape {
  /** Adds a row that is already inserted to the tree. */
  insert(key: Json, parent: Json, runner: QueryRunner): Promise<void>;
  /** Moves the row, and runs `save`, which saves it with the other parent. */
  move(key: Json, { parent, save }: Move, runner: QueryRunner): Promise<void>;
  /** Detaches a row from its parent, which will be deleted. */
  detach(key: Json, runner: QueryRunner): Promise<void>;
  /** Removes a row, which will be deleted with its descendants, from the data of the others. */
  remove?(key: Json, runner: QueryRunner): Promise<void>;
}

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

interface Bounds {
  readonly left: number;
  readonly right: number;
}

/** A tree in which each row stores two numbers that enclose those of its descendants. It has a single root. */
export class NestedSet implements TreeShape {
  private readonly left: string;
  private readonly right: string;

  constructor(
    private readonly tree: TreeTable,
    private readonly refuse: (message: string) => InvalidInput,
  ) {
    this.left = tree.nameOf(tree.metadata.nestedSetLeftColumn);
    this.right = tree.nameOf(tree.metadata.nestedSetRightColumn);
  }

  async insert(key: Json, parent: Json, runner: QueryRunner): Promise<void> {
    const { tree, left, right } = this;
    if (parent === null) {
      const others = await tree.run(
        runner,
        (bind) => `SELECT 1 AS c0 FROM ${tree.path} WHERE ${tree.key} <> ${bind.key(key)} LIMIT 1`,
      );
      if (others.length > 0) throw this.secondRoot();
      await this.put(key, { left: 1, right: 2 }, runner);
      return;
    }
    const at = (await this.boundsOf(parent, runner)).right;
    await tree.run(
      runner,
      (bind) =>
        `UPDATE ${tree.path} SET ${left} = CASE WHEN ${left} > ${at} THEN ${left} + 2 ELSE ${left} END, ${right} = ${right} + 2 WHERE ${right} >= ${at} AND ${tree.key} <> ${bind.key(key)}`,
    );
    await this.put(key, { left: at, right: at + 1 }, runner);
  }

  /**
   * Moves a subtree after the other children of its new parent. TypeORM's own update is wrong if the new parent already
   * precedes it; while the right bound is less than the left one, until the row is saved, TypeORM moves nothing.
   */
  async move(key: Json, { parent, save }: Move, runner: QueryRunner): Promise<void> {
    if (parent === null) throw this.secondRoot();
    const own = await this.boundsOf(key, runner);
    const at = (await this.boundsOf(parent, runner)).right;
    const size = own.right - own.left + 1;
    const isBefore = own.right < at;
    const by = isBefore ? at - 1 - own.right : at - own.left;
    const between = isBefore
      ? { left: own.right + 1, right: at - 1, by: -size }
      : { left: at, right: own.left - 1, by: size };
    const moved = (column: string): string =>
      `${column} = CASE WHEN ${column} BETWEEN ${own.left} AND ${own.right} THEN ${column} + (${by}) WHEN ${column} BETWEEN ${between.left} AND ${between.right} THEN ${column} + (${between.by}) ELSE ${column} END`;
    await this.tree.run(
      runner,
      () => `UPDATE ${this.tree.path} SET ${moved(this.left)}, ${moved(this.right)}`,
    );
    const left = own.left + by;
    await this.put(key, { left, right: left - 1 }, runner);
    await save();
    await this.put(key, { left, right: own.right + by }, runner);
  }

  /** A child without its parent would be a second root; the boot check rejects such a model. */
  detach(): Promise<void> {
    throw this.secondRoot();
  }

  /** Closes the gap that the subtree leaves. */
  async remove(key: Json, runner: QueryRunner): Promise<void> {
    const bounds = await this.readBounds(key, runner);
    if (!bounds) return;
    const { left, right } = bounds;
    const closed = (column: string): string =>
      `${column} = CASE WHEN ${column} > ${right} THEN ${column} - ${right - left + 1} ELSE ${column} END`;
    await this.tree.run(
      runner,
      () => `UPDATE ${this.tree.path} SET ${closed(this.left)}, ${closed(this.right)}`,
    );
  }

  private async put(key: Json, { left, right }: Bounds, runner: QueryRunner): Promise<void> {
    const { tree } = this;
    await tree.run(
      runner,
      (bind) =>
        `UPDATE ${tree.path} SET ${this.left} = ${left}, ${this.right} = ${right} WHERE ${tree.key} = ${bind.key(key)}`,
    );
  }

  private async boundsOf(key: Json, runner: QueryRunner): Promise<Bounds> {
    const bounds = await this.readBounds(key, runner);
    if (!bounds)
      throw new Error(`The ${this.tree.metadata.name} ${String(key)} has no place in its nested set`);
    return bounds;
  }

  /** Undefined for a row that was not written through TypeORM. */
  private async readBounds(key: Json, runner: QueryRunner): Promise<Bounds | undefined> {
    const { tree } = this;
    const [record] = await tree.run(
      runner,
      (bind) =>
        `SELECT ${this.left} AS c0, ${this.right} AS c1 FROM ${tree.path} WHERE ${tree.key} = ${bind.key(key)}`,
    );
    const bounds = { left: Number(record?.c0 ?? NaN), right: Number(record?.c1 ?? NaN) };
    return Number.isInteger(bounds.left) && Number.isInteger(bounds.right) ? bounds : undefined;
  }

  private secondRoot(): InvalidInput {
    return this.refuse('There is a root already, and a nested set has one only.');
  }
}
