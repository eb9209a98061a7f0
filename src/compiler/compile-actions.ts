import type { CompiledPermission, PermissionExpression, Permission } from '../core/contracts/permission.js';
import type { FieldDescription } from '../core/contracts/field-description.js';
import type { ActionRouteKind, CompiledAction, RouteAction } from '../core/schema/action.js';
import { OPERATIONS } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import type { BodyReader, BodyProperties, BodyProperty, ValueRules } from '../core/schema/value-rules.js';
import {
  MANY_TO_MANY_DETAIL_ACTION,
  MANY_TO_MANY_LIST_ACTION,
  ONE_TO_MANY_LIST_ACTION,
} from '../decorators/action.decorator.js';
import type { ActionDeclaration, ControllerDeclaration } from '../decorators/action.decorator.js';
import { BODY_PARAMETER, METADATA } from '../internals/nest.js';
import { withScope } from './compile-features.js';
import { labelOf } from './property-names.js';

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
    ? (Reflect.getMetadata(METADATA.httpCode, written) as number | undefined)
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
  const { detail, path, checkObject } = declaration.options;
  const body = compileActionBody(controller, handler, readBody);
  return {
    kind: detail ? 'object-action' : 'collection-action',
    segment: path ?? handler,
    methods,
    action: { handler, permission, code, lookUp: detail && (checkObject ?? true), ...(body && { body }) },
  };
}

type BodyFields = Readonly<Record<string, FieldDescription>>;

/** The fields of the class that a method declares as its body: `@Body() body: RenameBody`. Undefined without such a class. */
function compileActionBody(
  controller: object,
  handler: string,
  readBody: BodyReader | undefined,
): BodyFields | undefined {
  const properties = readBody?.(bodyClassOf(controller, handler));
  return properties && properties.size > 0 ? describeProperties(properties) : undefined;
}

/** The type of the parameter with the whole body. */
function bodyClassOf(controller: object, handler: string): unknown {
  const { prototype } = controller as { readonly prototype: object };
  const parameters = Reflect.getMetadata(METADATA.parameters, controller, handler) as
    Readonly<Record<string, { readonly index: number; readonly data?: unknown }>> | undefined;
  const types = Reflect.getMetadata('design:paramtypes', prototype, handler) as
    readonly unknown[] | undefined;
  const body = Object.entries(parameters ?? {}).find(
    ([key, { data }]) => key.split(':')[0] === BODY_PARAMETER && data === undefined,
  );
  return body && types?.[body[1].index];
}

function describeProperties(properties: BodyProperties): BodyFields {
  return Object.fromEntries([...properties].map(([name, property]) => [name, describe(name, property)]));
}

function describe(name: string, { type, required, rules, children }: BodyProperty): FieldDescription {
  return {
    type,
    required,
    read_only: false,
    label: labelOf(name),
    ...describeRules(rules),
    ...(children && { children: describeProperties(children) }),
  };
}

function describeRules(rules: ValueRules): Partial<FieldDescription> {
  const { minLength, maxLength, minimum, maximum, values } = rules;
  const choices = values?.filter((value) => typeof value === 'string' || typeof value === 'number');
  return {
    ...(minLength !== undefined && { min_length: minLength }),
    ...(maxLength !== undefined && { max_length: maxLength }),
    ...(minimum !== undefined && { min_value: minimum }),
    ...(maximum !== undefined && { max_value: maximum }),
    ...(choices && { choices: choices.map((value) => ({ value, display_name: String(value) })) }),
  };
}
