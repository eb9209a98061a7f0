import type { RestifyOptions } from '../decorators/model-options.js';
import type { RequestCounter, Throttle } from '../core/contracts/throttle.js';
import type { ResourceHooks } from '../core/contracts/hooks.js';
import type { InterceptorLike } from '../core/contracts/interceptor.js';
import type { Pagination } from '../core/contracts/pagination.js';
import type { Renderer } from '../core/contracts/renderer.js';
import type { Piping } from '../core/contracts/pipe.js';
import type { Permission } from '../core/contracts/permission.js';
import type { FilterBackend } from '../core/contracts/filter-backend.js';
import type { PermissionExpression } from '../core/contracts/permission-expression.js';
import type { CompiledPermission } from '../core/contracts/compiled-permission.js';
import type { Resource, ResourceSerializer } from '../core/schema/resource.js';
import type { FieldSelection } from '../core/contracts/field-selection.js';
import type { ConditionalRules } from './compile-conditional.js';
import type { PaginationRenamer } from './rename-parameters.js';

/** The instances of a declaration's classes, as resolved by Nest's injector. */
export interface ResourceParts extends PaginationRenamer {
  backends(options: RestifyOptions): readonly FilterBackend[];
  serializer(options: RestifyOptions): ResourceSerializer;
  permission(options: RestifyOptions): CompiledPermission;
  permissions(permissions: readonly PermissionExpression[]): CompiledPermission;
  /** Authentication schemes and guards; a guard is one of the schemes or runs after the permission. */
  authentication(options: RestifyOptions): Pick<Resource, 'schemes' | 'guards' | 'lateGuards'>;
  /** Whether failed authentications are rate-limited. */
  readonly refusalsThrottled: boolean;
  interceptors(options: RestifyOptions): readonly InterceptorLike[];
  /** `target` is the entity's class, if it has one. */
  piping(options: RestifyOptions, target: object | undefined): Piping | undefined;
  /** The hooks of an application's controller class in an entity's operations. */
  hooks(target: object | undefined): {
    readonly hooks: ResourceHooks;
    readonly scope: Permission | undefined;
  };
  throttle(options: RestifyOptions): Throttle | undefined;
  pagination(options: RestifyOptions): Pagination | undefined;
  renderers(options: RestifyOptions): readonly Renderer[];
  shape(options: RestifyOptions): FieldSelection | undefined;
  /** The rules of conditional requests of the model, or else of its prefix. */
  conditional(options: RestifyOptions): ConditionalRules;
  idempotency(options: RestifyOptions): RestifyOptions['idempotency'];
  /** Set if the model has a throttle. */
  readonly counter?: RequestCounter;
}
