import type { RestifyOptions } from '../decorators/model-options.js';
import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { Permission } from '../core/contracts/permission.js';
import type { CompiledPermission } from '../core/contracts/compiled-permission.js';
import { compileBulk } from './compile-bulk.js';
import { compileCacheControl, compileConditional } from './compile-conditional.js';
import { compileIdempotency } from './compile-idempotency.js';
import type { ResourceBuilder } from './resource-builder.js';
import type { ResourceParts } from './resource-parts.js';

/** Sets the features of a resource from its options: permission, filters, pagination, renderers, bulk and the others. */
export function compileFeatures(
  shell: ResourceBuilder,
  options: RestifyOptions,
  {
    parts,
    target,
    entity,
  }: { parts: ResourceParts; target: object | undefined; entity: EntityDescription | undefined },
): void {
  const { hooks, scope } = parts.hooks(target);
  shell.hooks = hooks;
  shell.listenerRelations = options.listenerRelations ?? [];
  shell.backends = parts.backends(options);
  shell.pagination = parts.pagination(options);
  shell.renderers = parts.renderers(options);
  shell.shape = parts.shape(options);
  shell.conditional = compileConditional(parts.conditional(options), shell, entity);
  shell.cacheControl = compileCacheControl(parts.conditional(options));
  shell.bulk = compileBulk(options, shell.operations);
  shell.idempotency = compileIdempotency(parts.idempotency(options));
  shell.permission = withScope(parts.permission(options), scope);
  shell.grantsSomeFields = grantsSomeFields(shell.permission);
  shell.interceptors = parts.interceptors(options);
  shell.piping = parts.piping(options, target);
  const { schemes, guards, lateGuards } = parts.authentication(options);
  shell.schemes = schemes;
  shell.guards = guards;
  shell.lateGuards = lateGuards;
  shell.guarded = schemes.some((scheme) => scheme.guards !== undefined);
  shell.refusalsThrottled = parts.refusalsThrottled && shell.schemes.length > 0;
  shell.throttle = parts.throttle(options);
  shell.counter = shell.throttle && parts.counter;
}

/** Combines every permission with the scope, including the permissions of an action. */
export function withScope(permission: CompiledPermission, scope: Permission | undefined): CompiledPermission {
  return scope
    ? { kind: 'all-of', permissions: [permission, { kind: 'one', permission: scope, allFields: true }] }
    : permission;
}

function grantsSomeFields(permission: CompiledPermission): boolean {
  switch (permission.kind) {
    case 'anyone':
      return false;
    case 'one':
      return permission.allFields !== true;
    case 'not':
      // Neither a denial nor a negated grant restricts fields.
      return false;
    case 'all-of':
    case 'any-of':
      return permission.permissions.some(grantsSomeFields);
    default:
      return permission satisfies never;
  }
}
