import type { ActionDeclaration, ControllerDeclaration } from '../decorators/action.decorator.js';
import {
  MANY_TO_MANY_DETAIL_ACTION,
  MANY_TO_MANY_LIST_ACTION,
  ONE_TO_MANY_LIST_ACTION,
} from '../decorators/action.decorator.js';
import type { ActionRouteKind, CompiledAction, RouteAction } from '../core/schema/action.js';
import { OPERATIONS } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import type { Permission } from '../core/contracts/permission.js';
import type { PermissionExpression } from '../core/contracts/permission-expression.js';
import type { CompiledPermission } from '../core/contracts/compiled-permission.js';
import type { BodyReader } from '../core/schema/value-rules.js';
import { compileActionBody } from './compile-action-body.js';
import type { BodyFields } from './compile-action-body.js';
import { withScope } from './compile-features.js';

const NESTED_KINDS: Readonly<Record<string, ActionRouteKind>> = {
  [ONE_TO_MANY_LIST_ACTION]: 'one-to-many',
  [MANY_TO_MANY_LIST_ACTION]: 'through-list',
  [MANY_TO_MANY_DETAIL_ACTION]: 'through-object',
};

/** The kind of nested URL of an action constant; undefined for any other text. */
export function nestedKind(replaces: string): ActionRouteKind | undefined {
  return NESTED_KINDS[replaces];
}

export type ResolvePermissions = (permissions: readonly PermissionExpression[]) => CompiledPermission;

/** The sources of an action's permission; `scope` restricts the rows of the model, even if the action has its own permissions. */
export interface ActionParts {
  readonly resolve: ResolvePermissions;
  readonly scope: Permission | undefined;
  /** Undefined without class-validator. */
  readonly readBody: BodyReader | undefined;
}

export function compileActions(
  controllers: readonly ControllerDeclaration[],
  parts: ActionParts,
): readonly CompiledAction[] {
  return controllers.flatMap(({ controller, actions }) =>
    actions.flatMap((action) => compileAction(action, controller, parts) ?? []),
  );
}

/** Operations that application methods replace; all of them if the application wraps their responses. */
export function compileReplacements({
  declaration,
  wraps,
}: {
  readonly declaration: ControllerDeclaration;
  readonly wraps: boolean;
}): ReadonlyMap<Operation, RouteAction> {
  const replaced = wraps ? OPERATIONS : declaration.replaced;
  return new Map(
    replaced.map((operation) => [
      operation,
      {
        handler: operation,
        permission: undefined,
        lookUp: false,
        operation,
        isWrapped: !declaration.replaced.includes(operation),
        code: statusCode(declaration.controller, operation),
      },
    ]),
  );
}

/** The metadata of `@HttpCode` on a method. */
function statusCode(controller: object, method: string): number | undefined {
  const written: unknown = (
    (controller as { readonly prototype?: object }).prototype as Readonly<Record<string, unknown>> | undefined
  )?.[method];
  return typeof written === 'function'
    ? (Reflect.getMetadata('__httpCode__', written) as number | undefined)
    : undefined;
}

function compileAction(
  declaration: ActionDeclaration,
  controller: object,
  { resolve, scope, readBody }: ActionParts,
): CompiledAction | undefined {
  const { method: handler, options } = declaration;
  const named = options.permissions ? resolve(options.permissions) : undefined;
  const permission = named && declaration.kind === 'action' ? withScope(named, scope) : named;
  const methods = options.methods ?? ['GET'];
  const code = statusCode(controller, handler);
  if (declaration.kind === 'nested') {
    const kind = nestedKind(declaration.replaces);
    return (
      kind && {
        kind,
        segment: declaration.relation,
        methods,
        action: { handler, permission, lookUp: declaration.options.checkParent ?? true, code },
      }
    );
  }
  const own = compileOwnAction(declaration, compileActionBody(controller, handler, readBody));
  return { ...own, methods, action: { handler, permission, code, ...own.action } };
}

/** The URL of an action that replaces nothing, and whether its object is looked up. */
function compileOwnAction(
  { method, options: { detail, path, checkObject } }: Extract<ActionDeclaration, { kind: 'action' }>,
  body: BodyFields | undefined,
): Pick<CompiledAction, 'kind' | 'segment'> & { readonly action: Pick<RouteAction, 'lookUp' | 'body'> } {
  return {
    kind: detail ? 'object-action' : 'collection-action',
    segment: path ?? method,
    action: { lookUp: detail && (checkObject ?? true), ...(body && { body }) },
  };
}
