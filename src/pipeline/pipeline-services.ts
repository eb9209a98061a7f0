import type { DataAdapter } from '../core/data-adapter.js';
import type { Operation } from '../core/schema/operation.js';
import type { Route } from '../core/schema/route.js';
import type { Authenticator } from '../features/authentication/authenticate.stage.js';
import { Preconditions } from '../features/conditional-requests/precondition.stages.js';
import { FieldSelector } from '../features/field-selection/select-fields.stage.js';
import { planRowsOf } from '../features/filtering/plan-rows.stage.js';
import { IdempotentWrites } from '../features/idempotency/idempotency.stage.js';
import type { PermissionRules } from '../features/permissions/authorize.stage.js';
import type { Stage } from '../request/rest-context.js';
import type { RoutesOf } from './description/describe-queries.js';

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

/** The services shared by the stages of one prefix. */
export interface PipelineServices {
  readonly adapter: DataAdapter;
  readonly permissions: PermissionRules;
  readonly authenticator: Authenticator;
  /** The routes below the URLs of a resource: nested lists and actions. */
  readonly routesOf: RoutesOf;
  /** Whether the header `Prefer` may ask for a cheaper count of a page, as the browsable page does. */
  readonly readsPreferences: boolean;
  readonly selector: FieldSelector;
  readonly preconditions: Preconditions;
  readonly idempotentWrites: IdempotentWrites;
}

/** The services that are given; the others are made of them. */
type PipelineParts = Pick<
  PipelineServices,
  'adapter' | 'permissions' | 'authenticator' | 'routesOf' | 'readsPreferences'
>;

export function pipelineServices(parts: PipelineParts): PipelineServices {
  const { adapter } = parts;
  return {
    ...parts,
    selector: new FieldSelector(adapter, planRowsOf),
    preconditions: new Preconditions(adapter),
    idempotentWrites: new IdempotentWrites(adapter, adapter.responses),
  };
}
