import type { ActionDeclaration, ControllerDeclaration } from '../../declare/action-declaration.js';
import { MANY_TO_MANY_DETAIL_ACTION, MANY_TO_MANY_LIST_ACTION, ONE_TO_MANY_LIST_ACTION } from '../../declare/action-declaration.js';
import type { ActionRouteKind, CompiledAction } from '../../model/action.js';
import type { PermissionExpression } from '../../model/permission-expression.js';
import type { ResolvedPermission } from '../../model/resolved-permission.js';

const NESTED_KINDS: Readonly<Record<string, ActionRouteKind>> = {
  [ONE_TO_MANY_LIST_ACTION]: 'one-to-many',
  [MANY_TO_MANY_LIST_ACTION]: 'through-list',
  [MANY_TO_MANY_DETAIL_ACTION]: 'through-object',
};

/** The kind of nested URL that a constant names; undefined for none of the three. */
export function nestedKind(replaces: string): ActionRouteKind | undefined {
  return NESTED_KINDS[replaces];
}

export type ResolvePermissions = (permissions: readonly PermissionExpression[]) => ResolvedPermission;

export function compileActions(controllers: readonly ControllerDeclaration[], resolve: ResolvePermissions): readonly CompiledAction[] {
  return controllers.flatMap(({ actions }) => actions.flatMap((action) => compileAction(action, resolve) ?? []));
}

function compileAction(declaration: ActionDeclaration, resolve: ResolvePermissions): CompiledAction | undefined {
  const { method: handler, options } = declaration;
  const permission = options.permissions ? resolve(options.permissions) : undefined;
  const methods = options.methods ?? ['GET'];
  if (declaration.kind === 'nested') {
    const kind = nestedKind(declaration.replaces);
    return kind && { kind, segment: declaration.relation, methods, action: { handler, permission, lookUp: declaration.options.checkParent ?? true } };
  }
  const { detail, path, checkObject } = declaration.options;
  return { kind: detail ? 'object-action' : 'collection-action', segment: path ?? handler, methods, action: { handler, permission, lookUp: detail && (checkObject ?? true) } };
}
