import { HOOK_NAMES, NESTED_ACTION_KINDS } from '../../decorators/action.decorator.js';
import type { ActionDeclaration, ControllerDeclaration } from '../../decorators/action.decorator.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import { KEY_PARAMETER } from '../../core/schema/action.js';
import type { ActionRouteKind, KeyParameter } from '../../core/schema/action.js';
import { linksOf } from '../../core/schema/field.js';
import type { Operation } from '../../core/schema/operation.js';
import type { Relation } from '../../core/schema/relation.js';
import type { Resource } from '../../core/schema/resource.js';
import { METADATA } from '../../internals/nest.js';
import { nestedKind } from '../compile-actions.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { misspeltNames } from './hook-classes.js';
import { problem } from './problems.js';
import type { Problems } from './problems.js';

const ACTION_SEGMENT = /^[A-Za-z0-9][A-Za-z0-9_.~-]*$/;

const WANTED: Readonly<Record<string, Relation['kind']>> = {
  oneToManyList_: 'one-to-many',
  manyToManyList_: 'many-to-many',
  manyToManyDetail_: 'many-to-many',
};

/** Verifies that controller classes are listed in a module, and that the URLs of their actions are unique. */
export function* verifyActions({ controllers, declarations }: CompilerInput, model: CompiledModel): Problems {
  for (const { declaration, listedIn } of controllers) {
    const draft = declarations.find((each) => each.declaration.target === declaration.entity);
    const resource = model.resources.find((each) => each.entity === draft?.entity.id);
    if (!resource) continue;
    yield* listing(declaration, { listedIn, controllers }, resource);
    // Nest's own routes would share the path of the objects, and be matched after them.
    for (const method of declaration.plainRoutes)
      yield problem(
        `${declaration.name}.${method}`,
        'a decorator of Nest maps it to a path below that of the objects',
        'Use @Action({ detail: false }) or @Action({ detail: true }), or a controller of its own.',
      );
    yield* noMethods(declaration.name, declaration.accessors);
    yield* misspeltHooks(declaration);
    yield* replacements(declaration, resource);
    for (const action of declaration.actions) {
      const where = `${declaration.name}.${action.method}`;
      if (action.kind === 'nested') yield* nestedProblem(action, where, resource);
      else yield* ownProblem(action, where, resource);
    }
    yield* sharedUrls(declaration);
  }
}

/** Rejects a controller in several modules: Nest instantiates it in each, and only one handles the URL. */
function* listing(
  { name, entity, controller }: ControllerDeclaration,
  { listedIn, controllers }: { readonly listedIn: number } & Pick<CompilerInput, 'controllers'>,
  resource: Resource,
): Problems {
  if (listedIn === 0)
    yield problem(
      name,
      `it joins the endpoints of ${resource.className}, and no module lists it`,
      `Add ${name} to the controllers of the module that has its dependencies.`,
    );
  if (listedIn > 1)
    yield problem(
      name,
      `${listedIn} modules list it`,
      'List it in the controllers of the one that has its dependencies.',
    );
  // The URLs, guards and interceptors of several classes for one entity would have to agree.
  const others = controllers.filter(
    ({ declaration }) => declaration.entity === entity && declaration.controller !== controller,
  );
  if (others.length > 0)
    yield problem(
      name,
      `${others.map(({ declaration }) => declaration.name).join(', ')} joins the endpoints of the same entity`,
      'Write all actions of an entity in one @RestifyController; a class that it extends needs none.',
    );
}

/** Rejects an accessor in the place of a method: it would be ignored, and the default operation would stay exposed. */
export function* noMethods(controller: string, properties: readonly string[]): Problems {
  for (const name of properties)
    yield problem(
      `${controller}.${name}`,
      'it is a property, and what replaces or hooks into an operation is a method',
      `Write ${name}(…) { … }.`,
    );
}

/** Rejects a method that would never be called as the hook that it is meant to be. An action may have any name. */
function* misspeltHooks({ name, hooks, methods, actions }: ControllerDeclaration): Problems {
  for (const { method, ...flaw } of misspeltNames(HOOK_NAMES, { hooks, methods }))
    if (!actions.some((each) => each.method === method))
      yield problem(`${name}.${method}`, flaw.what, flaw.repair);
}

/** Rejects a method that replaces a missing operation, which would never run, or that is an action as well. */
function* replacements({ name, replaced, actions }: ControllerDeclaration, resource: Resource): Problems {
  for (const operation of replaced) {
    const where = `${name}.${operation}`;
    if (!resource.operations.has(operation))
      yield problem(
        where,
        `it replaces an operation that ${resource.className} does not have`,
        `Add '${operation}' to its operations, or give the method another name.`,
      );
    else if (actions.some(({ method }) => method === operation))
      yield problem(
        where,
        'it replaces an operation by its name, and is an action by its decorator',
        'Give the action another name, and its URL by path.',
      );
  }
}

function* nestedProblem(
  action: Extract<ActionDeclaration, { kind: 'nested' }>,
  where: string,
  resource: Resource,
): Problems {
  const wanted = WANTED[action.replaces];
  const known = [...resource.relations.values()].filter(
    (each) => each.kind === 'one-to-many' || each.kind === 'many-to-many',
  );
  const relation = known.find((each) => each.name === action.relation);
  if (!wanted)
    yield problem(
      where,
      'it does not say what it replaces',
      `Write @NestedAction(ONE_TO_MANY_LIST_ACTION, 'relation'), or begin the method's name with one of ${NESTED_ACTION_KINDS.map((kind) => `"${kind}"`).join(', ')}.`,
    );
  else if (!relation)
    yield problem(
      where,
      `"${action.relation}" is not a relation of ${resource.className} that leads to many`,
      didYouMean(
        action.relation,
        known.map((each) => each.name),
      ),
    );
  else if (relation.kind !== wanted)
    yield problem(
      where,
      `"${action.relation}" is ${relation.kind}, and not ${wanted}`,
      `Use ${relation.kind === 'one-to-many' ? 'ONE_TO_MANY_LIST_ACTION' : 'MANY_TO_MANY_LIST_ACTION or MANY_TO_MANY_DETAIL_ACTION'}.`,
    );
  else if (!linksOf(resource.fields).some((field) => field.relation === relation))
    yield problem(
      where,
      `"${action.relation}" has no nested URL`,
      `Register ${relation.target.className} with @Restify, and do not exclude the relation.`,
    );
}

function* ownProblem(
  { method, options }: Extract<ActionDeclaration, { kind: 'action' }>,
  where: string,
  resource: Resource,
): Problems {
  const path = options.path ?? method;
  if (!ACTION_SEGMENT.test(path))
    yield problem(
      where,
      `"${path}" is not allowed in a path`,
      'Give it a path of letters, digits, "_", "-" and ".".',
    );
  else if (options.detail && resource.relations.has(path))
    yield problem(
      where,
      `"${path}" is a relation of ${resource.className}, and both would have the same URL`,
      'Give the action another path, or replace the relation by @NestedAction.',
    );
}

function* sharedUrls({ name, actions }: ControllerDeclaration): Problems {
  const seen = new Map<string, string>();
  for (const action of actions)
    for (const method of action.options.methods ?? ['GET']) {
      // Express matches paths case-insensitively.
      const url =
        action.kind === 'nested'
          ? `${action.replaces}${action.relation}`
          : `${action.options.detail ? ':pk/' : ''}${action.options.path ?? action.method}`.toLowerCase();
      const other = seen.get(`${method} ${url}`);
      seen.set(`${method} ${url}`, action.method);
      if (other !== undefined)
        yield problem(
          `${name}.${action.method}`,
          `"${other}" answers ${method} of the same URL`,
          'Name different methods, or give one of them another path.',
        );
    }
}

const DECORATORS: Readonly<Record<KeyParameter, string>> = {
  pk: '@Pk()',
  parentPk: '@ParentPk()',
  childPk: '@ChildPk()',
};

/** The keys that a method of the application gets, by the kind of its URL. */
const KEYS_OF_ACTIONS: Readonly<Record<ActionRouteKind, readonly KeyParameter[]>> = {
  'collection-action': [],
  'object-action': ['pk', 'parentPk'],
  'one-to-many': ['parentPk'],
  'through-list': ['parentPk'],
  'through-object': ['parentPk', 'childPk'],
};

/** The operations of one object; the others have no key of an object, but below a parent they have its key. */
const OF_OBJECTS: ReadonlySet<Operation> = new Set(['retrieve', 'update', 'partialUpdate', 'destroy']);

/** Rejects parameters that would always be undefined: the URL of the method has no such key. */
export function* verifyKeyParameters({ controllers }: CompilerInput): Problems {
  for (const { declaration } of controllers) {
    for (const action of declaration.actions)
      for (const parameter of absentKeys(declaration, action.method, keysOfAction(action)))
        yield problem(
          `${declaration.name}.${action.method}`,
          `${DECORATORS[parameter]} has no value: the URL of the action has no such key`,
          repairOf(action),
        );
    for (const operation of declaration.replaced) {
      const keys: readonly KeyParameter[] = OF_OBJECTS.has(operation)
        ? ['pk', 'parentPk', 'childPk']
        : ['parentPk'];
      for (const parameter of absentKeys(declaration, operation, keys))
        yield problem(
          `${declaration.name}.${operation}`,
          `${DECORATORS[parameter]} has no value: the URL of a list has no key of an object`,
          'Remove the parameter. @ParentPk() has the key of the parent at nested URLs.',
        );
    }
  }
}

function keysOfAction(action: ActionDeclaration): readonly KeyParameter[] {
  if (action.kind === 'action')
    return KEYS_OF_ACTIONS[action.options.detail ? 'object-action' : 'collection-action'];
  const kind = nestedKind(action.replaces);
  return kind ? KEYS_OF_ACTIONS[kind] : (Object.keys(DECORATORS) as KeyParameter[]);
}

function repairOf(action: ActionDeclaration): string {
  if (action.kind === 'nested') return 'Use @ParentPk(), and @ChildPk() where it replaces one object.';
  return action.options.detail
    ? 'Use @Pk().'
    : 'Remove the parameter, or write @Action({ detail: true }) for a URL below an object.';
}

/** The declared key parameters of a method that are not among these. */
function absentKeys(
  { controller }: ControllerDeclaration,
  method: string,
  keys: readonly KeyParameter[],
): readonly KeyParameter[] {
  const parameters = (Reflect.getMetadata(METADATA.parameters, controller, method) ?? {}) as Readonly<
    Record<string, { readonly factory?: { readonly [KEY_PARAMETER]?: KeyParameter } }>
  >;
  return Object.values(parameters).flatMap(({ factory }) => {
    const parameter = factory?.[KEY_PARAMETER];
    return parameter === undefined || keys.includes(parameter) ? [] : parameter;
  });
}
