import type { Operation } from '../../core/schema/operation.js';
import type { Route } from '../../core/schema/route.js';
import type { Stage } from '../../request/rest-context.js';
import type { PipelineServices } from '../pipeline-services.js';

/** The definition of one of the six operations. */
export interface OperationDefinition {
  readonly name: Operation;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The status of a response with a body. */
  readonly status: 200 | 201;
  /**
   * Stages that set `context.result`: the value that interceptors and methods of the application see. Unless
   * `context.needsValue`, they may set `context.response` instead.
   */
  operate(route: Route, services: PipelineServices): readonly Stage[];
}
