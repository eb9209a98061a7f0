import type { QueryRunner } from 'typeorm';
import type { Json } from '../../../../core/errors/rest-exception.js';

/** What a kind of tree holds beside the keys of the parents. */
export interface TreeShape {
  /** The row is there, without its place in the tree. */
  insert(key: Json, parent: Json, runner: QueryRunner): Promise<void>;
  /** Before the row is written with another parent, by TypeORM's `save` or by one statement. Gives what is left to do behind it. */
  move(key: Json, parent: Json, runner: QueryRunner): Promise<() => Promise<void>>;
  /** The row loses its parent, which is about to be deleted. */
  detach(key: Json, runner: QueryRunner): Promise<void>;
}
