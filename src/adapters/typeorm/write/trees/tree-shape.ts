import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../../core/errors/rest-exception.js';

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
