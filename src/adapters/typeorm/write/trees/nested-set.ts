import type { QueryRunner } from 'typeorm';
import type { InvalidInput } from '../../../../core/errors/http-exceptions.js';
import type { Json } from '../../../../core/errors/rest-exception.js';
import type { Move, TreeShape } from './tree-shape.js';
import type { TreeTable } from './tree-table.js';

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
