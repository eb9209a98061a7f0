import type { ActionDeclaration, ControllerDeclaration } from '../../decorators/action.decorator.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { KEY_PARAMETER } from '../../core/schema/action.js';
import type { ActionRouteKind, KeyParameter } from '../../core/schema/action.js';
import type { Operation } from '../../core/schema/operation.js';
import { nestedKind } from '../compile-actions.js';
import { ROUTE_ARGUMENTS } from '../compile-action-body.js';
import type { CompilerInput } from '../compiler-input.js';

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
export function verifyKeyParameters({ controllers }: CompilerInput): readonly DeclarationProblem[] {
  return controllers.flatMap(({ declaration }) => [
    ...declaration.actions.flatMap((action) =>
      findAbsent(declaration, action.method, keysOfAction(action)).map((parameter) => ({
        where: `${declaration.name}.${action.method}`,
        what: `${DECORATORS[parameter]} has no value: the URL of the action has no such key`,
        repair: repairOf(action),
      })),
    ),
    ...declaration.replaced.flatMap((operation) =>
      findAbsent(declaration, operation, keysOfOperation(operation)).map((parameter) => ({
        where: `${declaration.name}.${operation}`,
        what: `${DECORATORS[parameter]} has no value: the URL of a list has no key of an object`,
        repair: 'Remove the parameter. @ParentPk() has the key of the parent at nested URLs.',
      })),
    ),
  ]);
}

function keysOfAction(action: ActionDeclaration): readonly KeyParameter[] {
  if (action.kind === 'action')
    return KEYS_OF_ACTIONS[action.options.detail ? 'object-action' : 'collection-action'];
  const kind = nestedKind(action.replaces);
  return kind ? KEYS_OF_ACTIONS[kind] : (Object.keys(DECORATORS) as KeyParameter[]);
}

function keysOfOperation(operation: Operation): readonly KeyParameter[] {
  return OF_OBJECTS.has(operation) ? ['pk', 'parentPk', 'childPk'] : ['parentPk'];
}

function repairOf(action: ActionDeclaration): string {
  if (action.kind === 'nested') return 'Use @ParentPk(), and @ChildPk() where it replaces one object.';
  return action.options.detail
    ? 'Use @Pk().'
    : 'Remove the parameter, or write @Action({ detail: true }) for a URL below an object.';
}

/** The declared key parameters of a method that are not among these. */
function findAbsent(
  { controller }: ControllerDeclaration,
  method: string,
  keys: readonly KeyParameter[],
): readonly KeyParameter[] {
  const parameters = (Reflect.getMetadata(ROUTE_ARGUMENTS, controller, method) ?? {}) as Readonly<
    Record<string, { readonly factory?: { readonly [KEY_PARAMETER]?: KeyParameter } }>
  >;
  return Object.values(parameters).flatMap(({ factory }) => {
    const parameter = factory?.[KEY_PARAMETER];
    return parameter === undefined || keys.includes(parameter) ? [] : parameter;
  });
}
