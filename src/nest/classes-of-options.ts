import type { InjectableClass, RestifyOptions } from '../decorators/model-options.js';
import type { PermissionClass, PermissionExpression } from '../core/contracts/permission-expression.js';
import { guardsOfAuthentication } from './authentication-guards.js';
import type { ClassesOfOptions } from '../compiler/rules/missing-methods.js';
import type { CompilerInput } from '../compiler/compiler-input.js';

/** The options of the prefix, of its models, and of their junctions. */
export function optionsIn({ drafts, defaults }: CompilerInput): readonly RestifyOptions[] {
  return [
    defaults,
    ...drafts.flatMap(({ declaration: { options } }) => [options, ...Object.values(options.through ?? {})]),
  ] as readonly RestifyOptions[];
}

export function permissionsOfActions({ controllers }: CompilerInput): readonly PermissionClass[] {
  return controllers.flatMap(({ declaration }) =>
    declaration.actions.flatMap(({ options }) => (options.permissions ?? []).flatMap(permissionClasses)),
  );
}

export function withPermissionClasses(options: RestifyOptions): ClassesOfOptions {
  return { ...options, permissions: (options.permissions ?? []).flatMap(permissionClasses) };
}

export function classesOf({
  filterBackends,
  guards,
  interceptors,
  pipes,
  serializer,
  permissions,
  authentication,
}: RestifyOptions): readonly InjectableClass<unknown>[] {
  return [
    ...guardsOfAuthentication({ authentication }),
    ...(filterBackends ?? []),
    ...(guards ?? []),
    ...(interceptors ?? []),
    ...(pipes ?? []),
    ...(serializer ? [serializer] : []),
    ...(permissions ?? []).flatMap(permissionClasses),
  ];
}

function permissionClasses(expression: PermissionExpression): readonly PermissionClass[] {
  if (typeof expression === 'function') return [expression];
  return expression.kind === 'not-permission'
    ? permissionClasses(expression.permission)
    : expression.permissions.flatMap(permissionClasses);
}
