import type { Method, Operation, ReplaceableOperation } from '../core/schema/operation.js';
import type { PermissionExpression } from '../core/contracts/permission.js';

/** The behaviour that a `@NestedAction` replaces, each followed by the relation's name (contract 9.1). */
export const ONE_TO_MANY_LIST_ACTION = 'oneToManyList_';
/** As above, for the list of pairs of a many-to-many relation. */
export const MANY_TO_MANY_LIST_ACTION = 'manyToManyList_';
/** As above, for one pair of a many-to-many relation. */
export const MANY_TO_MANY_DETAIL_ACTION = 'manyToManyDetail_';

/** The URLs whose methods a `@NestedAction` replaces. */
export type NestedActionKind =
  typeof ONE_TO_MANY_LIST_ACTION | typeof MANY_TO_MANY_LIST_ACTION | typeof MANY_TO_MANY_DETAIL_ACTION;

export const NESTED_ACTION_KINDS: readonly NestedActionKind[] = [
  ONE_TO_MANY_LIST_ACTION,
  MANY_TO_MANY_LIST_ACTION,
  MANY_TO_MANY_DETAIL_ACTION,
];

/** The methods that an action can handle. HEAD uses GET, and OPTIONS is always generated. */
export type ActionMethod = Exclude<Method, 'HEAD' | 'OPTIONS'>;

/** Options of `@NestedAction`. */
export interface NestedActionOptions {
  /** Default: GET. Other methods keep the generated behaviour, if there is one. */
  readonly methods?: readonly ActionMethod[];
  /** Whether the parent is looked up first, with a 404 if it does not exist. Default: true. */
  readonly checkParent?: boolean;
  /** Replaces the permissions of the child, or of the through model. */
  readonly permissions?: readonly PermissionExpression[];
}

/** Options of `@Action`. */
export interface ActionOptions {
  /** True for a URL below an object, `<pk>/<path>/`; else below the collection. */
  readonly detail: boolean;
  /** Default: GET. */
  readonly methods?: readonly ActionMethod[];
  /** The segment of the URL. Default: the method's name. */
  readonly path?: string;
  /** Whether the object is looked up first with the caller's grants, with a 404 if it does not exist. Default: true. */
  readonly checkObject?: boolean;
  /** Replaces the permissions of the model. */
  readonly permissions?: readonly PermissionExpression[];
}

/** The declaration of one method, not yet verified. */
export type ActionDeclaration =
  | {
      readonly kind: 'nested';
      readonly method: string;
      readonly replaces: string;
      readonly relation: string;
      readonly options: NestedActionOptions;
    }
  | { readonly kind: 'action'; readonly method: string; readonly options: ActionOptions };

/** The declaration of a `@RestifyController` class. */
export interface ControllerDeclaration {
  readonly controller: object;
  readonly name: string;
  readonly entity: object;
  readonly actions: readonly ActionDeclaration[];
  /** Methods with a route decorator of Nest, such as `@Get()`. */
  readonly plainRoutes: readonly string[];
  /** Operations that are replaced by a method of the same name. */
  readonly replaced: readonly Operation[];
  readonly hooks: readonly HookName[];
  /** The names among them that are accessors instead of methods. */
  readonly accessors: readonly string[];
  /** The names of all methods between it and `ResourceController`. */
  readonly methods: readonly string[];
  /** Whether it extends `ResourceController`. */
  readonly replacesOperations: boolean;
}

/** Marks `ResourceController` in every copy of the package. */
export const REPLACES_OPERATIONS = Symbol.for('nestjs-restify.ResourceController');

export const HOOK_NAMES = ['scope', 'valuesOnCreate', 'beforeWrite', 'afterWrite', 'afterCommit'] as const;

export type HookName = (typeof HOOK_NAMES)[number];

const OPERATION_NAMES: Readonly<Record<ReplaceableOperation, true>> = {
  list: true,
  create: true,
  retrieve: true,
  update: true,
  partialUpdate: true,
  destroy: true,
};

/** The method names with a meaning in a class that extends `ResourceController`. */
export const OVERRIDE_NAMES: readonly string[] = [...Object.keys(OPERATION_NAMES), ...HOOK_NAMES];

/** The operations and hooks that are declared between a class and `ResourceController`. */
export function overridesOf(controller: {
  readonly prototype: object;
}): Pick<ControllerDeclaration, 'replaced' | 'hooks' | 'accessors' | 'methods' | 'replacesOperations'> {
  const written = new Set<string>();
  const accessors = new Set<string>();
  for (
    let type: object = controller;
    typeof type === 'function' && type !== Function.prototype;
    type = Object.getPrototypeOf(type) as object
  ) {
    if (Object.hasOwn(type, REPLACES_OPERATIONS)) {
      const isOwn = (name: string): boolean => written.has(name);
      return {
        replaced: (Object.keys(OPERATION_NAMES) as ReplaceableOperation[]).filter(isOwn),
        hooks: HOOK_NAMES.filter(isOwn),
        accessors: OVERRIDE_NAMES.filter((name) => accessors.has(name)),
        methods: [...written],
        replacesOperations: true,
      };
    }
    for (const [name, { value }] of Object.entries(
      Object.getOwnPropertyDescriptors(type.prototype as object),
    ))
      (typeof value === 'function' ? written : accessors).add(name);
  }
  return { replaced: [], hooks: [], accessors: [], methods: [], replacesOperations: false };
}

/** Metadata of a prototype: the actions that it declares. */
const ACTIONS = 'restify:actions';
/** Metadata of a class: its declaration. A class that a decorator or a tracer puts in its place inherits it. */
const CONTROLLER = 'restify:controller';
const CONTROLLERS = Symbol.for('nestjs-restify.controllers');

interface Registry {
  [CONTROLLERS]?: Set<ControllerDeclaration>;
}

/** All controller classes of this process. Each application determines at boot which of them it serves. */
export function controllerDeclarations(): Set<ControllerDeclaration> {
  return ((globalThis as Registry)[CONTROLLERS] ??= new Set());
}

export function declareController(declaration: ControllerDeclaration): void {
  const { controller } = declaration;
  const earlier = Reflect.getOwnMetadata(CONTROLLER, controller) as ControllerDeclaration | undefined;
  if (earlier) controllerDeclarations().delete(earlier);
  controllerDeclarations().add(declaration);
  Reflect.defineMetadata(CONTROLLER, declaration, controller);
}

/** The declaration of a class, or of the class that it extends. */
export function controllerDeclarationOf(controller: unknown): ControllerDeclaration | undefined {
  return typeof controller === 'function'
    ? (Reflect.getMetadata(CONTROLLER, controller) as ControllerDeclaration | undefined)
    : undefined;
}

function declaredActions(prototype: object): readonly ActionDeclaration[] {
  return (Reflect.getOwnMetadata(ACTIONS, prototype) ?? []) as readonly ActionDeclaration[];
}

function declareAction(prototype: object, action: ActionDeclaration): void {
  Reflect.defineMetadata(ACTIONS, [...declaredActions(prototype), action], prototype);
}

/** The actions of a class and its base classes; an overriding method replaces the inherited one. */
export function actionsOf(controller: { readonly prototype: object }): readonly ActionDeclaration[] {
  const actions: ActionDeclaration[] = [];
  for (
    let prototype: object | null = controller.prototype;
    prototype;
    prototype = Object.getPrototypeOf(prototype) as object | null
  ) {
    for (const action of declaredActions(prototype)) {
      if (!actions.some((each) => each.method === action.method && prototype !== controller.prototype))
        actions.push(action);
    }
  }
  return actions;
}

/**
 * Replaces the behaviour of a nested URL for the given methods. Without arguments, the name of the method determines the
 * URL: `[MANY_TO_MANY_LIST_ACTION + 'course_set']() {}`.
 */
export function NestedAction(
  replaces?: NestedActionKind,
  relation?: string,
  options: NestedActionOptions = {},
): MethodDecorator {
  return (prototype, key) => {
    const method = String(key);
    const named = NESTED_ACTION_KINDS.find((kind) => method.startsWith(kind));
    const declaration = {
      kind: 'nested',
      method,
      replaces: replaces ?? named ?? '',
      relation: relation ?? (named ? method.slice(named.length) : ''),
      options,
    } as const;
    declareAction(prototype, declaration);
  };
}

/** Adds an endpoint to a collection or to an object. */
export function Action(options: ActionOptions): MethodDecorator {
  return (prototype, key) => {
    declareAction(prototype, { kind: 'action', method: String(key), options });
  };
}
