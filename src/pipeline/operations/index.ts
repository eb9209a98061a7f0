import type { Operation } from '../../core/schema/operation.js';
import { create } from './create.js';
import { destroy } from './destroy.js';
import { list } from './list.js';
import type { OperationDefinition } from './operation-definition.js';
import { retrieve } from './retrieve.js';
import { partialUpdate, update } from './update.js';

/** The definitions of all operations by name. */
export const OPERATION_DEFINITIONS: Readonly<Record<Operation, OperationDefinition>> = {
  list,
  create,
  retrieve,
  update,
  partialUpdate,
  destroy,
};
