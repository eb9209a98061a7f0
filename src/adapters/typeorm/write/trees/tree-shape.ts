import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../../core/errors/rest-exception.js';

/** The data that a kind of tree stores in addition to the parent keys. */
export interface TreeShape {
  /** Adds a row that is already inserted to the tree. */
  insert(key: Json, parent: Json, runner: QueryRunner): Promise<void>;
  /** Moves the row. Called before the row is saved with another parent; returns the steps that follow the save. */
  move(key: Json, parent: Json, runner: QueryRunner): Promise<() => Promise<void>>;
  /** Detaches a row from its parent, which will be deleted. */
  detach(key: Json, runner: QueryRunner): Promise<void>;
  /** Removes a row, which will be deleted with its descendants, from the data of the others. */
  remove?(key: Json, runner: QueryRunner): Promise<void>;
}
