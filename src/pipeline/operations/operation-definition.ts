import type { Operation } from '../../core/schema/operation.js';
import type { Route } from '../../core/schema/route.js';
import type { Stage } from '../../request/stage.js';
import type { PipelineServices } from '../services.js';

/** One of the six operations: its row in `OPERATIONS`. */
export interface OperationDefinition {
  readonly name: Operation;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Of a response with a body. */
  readonly status: 200 | 201;
  /** Stages that set `context.result`: the value that interceptors and methods of the application see. */
  operate(route: Route, services: PipelineServices): readonly Stage[];
  /**
   * Stages that set `context.response`, where JSON need not become a value: the database writes it where it can. Undefined
   * where it always becomes one.
   */
  respond?(route: Route, services: PipelineServices): readonly Stage[];
}
