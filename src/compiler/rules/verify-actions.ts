import type { ActionDeclaration, ControllerDeclaration } from '../../decorators/action.decorator.js';
import { HOOK_NAMES, NESTED_ACTION_KINDS } from '../../decorators/action.decorator.js';
import { didYouMean, editDistance } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { Relation } from '../../core/schema/relation.js';
import type { Resource } from '../../core/schema/resource.js';
import type { CompiledModel } from '../compile-resources.js';
import { linksOf } from '../../core/schema/field.js';
import type { CompilerInput } from '../compiler-input.js';

const ACTION_SEGMENT = /^[A-Za-z0-9][A-Za-z0-9_.~-]*$/;

const WANTED: Readonly<Record<string, Relation['kind']>> = {
  oneToManyList_: 'one-to-many',
  manyToManyList_: 'many-to-many',
  manyToManyDetail_: 'many-to-many',
};

/** Verifies that controller classes are listed in a module, and that the URLs of their actions are unique. */
export function verifyActions(
  { controllers, drafts }: CompilerInput,
  model: CompiledModel,
): readonly DeclarationProblem[] {
  return controllers.flatMap(({ declaration, listedIn }) => {
    const draft = drafts.find((each) => each.declaration.target === declaration.entity);
    const resource = model.resources.find((each) => each.entity === draft?.entity.id);
    if (!resource) return [];
    return [
      ...listing(declaration, listedIn, resource),
      ...duplicateControllers(declaration, controllers),
      ...plainRouteProblems(declaration),
      ...noMethods(declaration.name, declaration.accessors),
      ...misspeltHooks(declaration),
      ...replacements(declaration, resource),
      ...declaration.actions.flatMap((action) => actionProblem(action, declaration, resource)),
      ...sharedUrls(declaration),
    ];
  });
}

/** Rejects a controller in several modules: Nest instantiates it in each, and only one handles the URL. */
function listing(
  { name }: ControllerDeclaration,
  listedIn: number,
  resource: Resource,
): readonly DeclarationProblem[] {
  if (listedIn === 0)
    return [
      {
        where: name,
        what: `it joins the endpoints of ${resource.label}, and no module lists it`,
        repair: `Add ${name} to the controllers of the module that has its dependencies.`,
      },
    ];
  return listedIn === 1
    ? []
    : [
        {
          where: name,
          what: `${listedIn} modules list it`,
          repair: 'List it in the controllers of the one that has its dependencies.',
        },
      ];
}

/** Rejects several classes for one entity: their URLs, guards and interceptors would have to agree. */
function duplicateControllers(
  { name, entity, controller }: ControllerDeclaration,
  controllers: CompilerInput['controllers'],
): readonly DeclarationProblem[] {
  const others = controllers
    .filter(({ declaration }) => declaration.entity === entity && declaration.controller !== controller)
    .map(({ declaration }) => declaration.name);
  return others.length === 0
    ? []
    : [
        {
          where: name,
          what: `${others.join(', ')} joins the endpoints of the same entity`,
          repair:
            'Write all actions of an entity in one @RestifyController; a class that it extends needs none.',
        },
      ];
}

/** Rejects Nest's own routes: they would share the path of the objects, and be matched after them. */
function plainRouteProblems({
  name,
  plainRoutes: routes,
}: ControllerDeclaration): readonly DeclarationProblem[] {
  return routes.map((method) => ({
    where: `${name}.${method}`,
    what: 'a decorator of Nest maps it to a path below that of the objects',
    repair: 'Use @Action({ detail: false }) or @Action({ detail: true }), or a controller of its own.',
  }));
}

/** Rejects an accessor in the place of a method: it would be ignored, and the default operation would stay exposed. */
export function noMethods(controller: string, properties: readonly string[]): readonly DeclarationProblem[] {
  return properties.map((name) => ({
    where: `${controller}.${name}`,
    what: 'it is a property, and what replaces or hooks into an operation is a method',
    repair: `Write ${name}(…) { … }.`,
  }));
}

/** Rejects a method that would never be called as the hook that it is meant to be. An action may have any name. */
function misspeltHooks({
  name,
  hooks,
  methods,
  actions,
}: ControllerDeclaration): readonly DeclarationProblem[] {
  return HOOK_NAMES.filter((hook) => !hooks.includes(hook)).flatMap((hook) =>
    methods
      .filter((method) => editDistance(method, hook) === 1 && !actions.some((each) => each.method === method))
      .map((method) => ({
        where: `${name}.${method}`,
        what: 'it is no hook, and is called by nothing here',
        repair: `Did you mean "${hook}"? Give a method of your own a name that is less like it.`,
      })),
  );
}

/** Rejects a method that replaces a missing operation, which would never run, or that is an action as well. */
function replacements(
  { name, replaced, actions }: ControllerDeclaration,
  resource: Resource,
): readonly DeclarationProblem[] {
  return replaced.flatMap((operation): readonly DeclarationProblem[] => {
    const where = `${name}.${operation}`;
    if (!resource.operations.has(operation))
      return [
        {
          where,
          what: `it replaces an operation that ${resource.label} does not have`,
          repair: `Add '${operation}' to its operations, or give the method another name.`,
        },
      ];
    if (actions.some(({ method }) => method === operation))
      return [
        {
          where,
          what: 'it replaces an operation by its name, and is an action by its decorator',
          repair: 'Give the action another name, and its URL by path.',
        },
      ];
    return [];
  });
}

function actionProblem(
  action: ActionDeclaration,
  { name }: ControllerDeclaration,
  resource: Resource,
): readonly DeclarationProblem[] {
  const where = `${name}.${action.method}`;
  return action.kind === 'nested'
    ? nestedProblem(action, where, resource)
    : ownProblem(action, where, resource);
}

function nestedProblem(
  action: Extract<ActionDeclaration, { kind: 'nested' }>,
  where: string,
  resource: Resource,
): readonly DeclarationProblem[] {
  const wanted = WANTED[action.replaces];
  if (!wanted)
    return [
      {
        where,
        what: 'it does not say what it replaces',
        repair: `Write @NestedAction(ONE_TO_MANY_LIST_ACTION, 'relation'), or begin the method's name with one of ${NESTED_ACTION_KINDS.map((kind) => `"${kind}"`).join(', ')}.`,
      },
    ];
  const known = [...resource.relations.values()].filter(
    (relation) => relation.kind === 'one-to-many' || relation.kind === 'many-to-many',
  );
  const relation = known.find((each) => each.name === action.relation);
  if (!relation)
    return [
      {
        where,
        what: `"${action.relation}" is not a relation of ${resource.label} that leads to many`,
        repair: didYouMean(
          action.relation,
          known.map((each) => each.name),
        ),
      },
    ];
  if (relation.kind !== wanted)
    return [
      {
        where,
        what: `"${action.relation}" is ${relation.kind}, and not ${wanted}`,
        repair: `Use ${relation.kind === 'one-to-many' ? 'ONE_TO_MANY_LIST_ACTION' : 'MANY_TO_MANY_LIST_ACTION or MANY_TO_MANY_DETAIL_ACTION'}.`,
      },
    ];
  if (!linksOf(resource.fields).some((field) => field.relation === relation))
    return [
      {
        where,
        what: `"${action.relation}" has no nested URL`,
        repair: `Register ${relation.target.label} with @Restify, and do not exclude the relation.`,
      },
    ];
  return [];
}

function ownProblem(
  { method, options }: Extract<ActionDeclaration, { kind: 'action' }>,
  where: string,
  resource: Resource,
): readonly DeclarationProblem[] {
  const path = options.path ?? method;
  if (!ACTION_SEGMENT.test(path))
    return [
      {
        where,
        what: `"${path}" is not allowed in a path`,
        repair: 'Give it a path of letters, digits, "_", "-" and ".".',
      },
    ];
  if (options.detail && resource.relations.has(path))
    return [
      {
        where,
        what: `"${path}" is a relation of ${resource.label}, and both would have the same URL`,
        repair: 'Give the action another path, or replace the relation by @NestedAction.',
      },
    ];
  return [];
}

function sharedUrls({ name, actions }: ControllerDeclaration): readonly DeclarationProblem[] {
  const seen = new Map<string, string>();
  return actions.flatMap((action): readonly DeclarationProblem[] =>
    (action.options.methods ?? ['GET']).flatMap((method) => {
      // Express matches paths case-insensitively.
      const url =
        action.kind === 'nested'
          ? `${action.replaces}${action.relation}`
          : `${action.options.detail ? ':pk/' : ''}${action.options.path ?? action.method}`.toLowerCase();
      const other = seen.get(`${method} ${url}`);
      seen.set(`${method} ${url}`, action.method);
      return other === undefined
        ? []
        : [
            {
              where: `${name}.${action.method}`,
              what: `"${other}" answers ${method} of the same URL`,
              repair: 'Name different methods, or give one of them another path.',
            },
          ];
    }),
  );
}
