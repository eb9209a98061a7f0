import type { CompiledPermission } from '../../core/contracts/permission.js';
import { TRASH_OPERATIONS } from '../../core/schema/operation.js';
import type { OperationName } from '../../core/schema/operation.js';
import type { Resource } from '../../core/schema/resource.js';
import { trashParameters } from '../../core/schema/trash.js';
import type { ActionDeclaration, ControllerDeclaration } from '../../decorators/action.decorator.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { featureParameters } from '../query-parameters.js';
import { problem } from './problems.js';
import type { Problems } from './problems.js';

/** Verifies that a model with `trash` has deleted rows, and that nothing else has the names by which clients reach them. */
export function* verifyTrash(
  { declarations, controllers }: CompilerInput,
  { all, resources }: CompiledModel,
): Problems {
  for (const draft of declarations) yield* optionProblems(draft);
  for (const resource of resources) {
    const draft = declarations.find(({ entity }) => entity.id === resource.entity);
    const own = controllers.filter(({ declaration }) => declaration.entity === draft?.declaration.target);
    yield* urlProblems(
      resource,
      own.map(({ declaration }) => declaration),
    );
    yield* permissionProblems(resource);
  }
  for (const resource of all) yield* parameterProblems(resource);
}

function* optionProblems({ declaration, entity }: EntityDeclaration): Problems {
  const { name, options } = declaration;
  const named: readonly OperationName[] = Array.isArray(options.operations)
    ? options.operations
    : TRASH_OPERATIONS;
  const isNamed = TRASH_OPERATIONS.some((operation) => named.includes(operation));
  if (options.trash !== true) {
    if (options.operations !== undefined && isNamed)
      yield problem(
        `${name}.operations`,
        'operations on deleted objects are those of a model with a trash',
        'Add trash: true, or leave them out.',
      );
  } else if (entity.deletion === undefined)
    yield problem(
      `${name}.trash`,
      `${name} has no @DeleteDateColumn, so that DELETE leaves nothing to restore`,
      'Add one, such as @DeleteDateColumn() deletedAt: Date | null.',
    );
  else if (!isNamed)
    yield problem(
      `${name}.trash`,
      'the operations of the model leave out all operations on deleted objects',
      `Add ${TRASH_OPERATIONS.map((operation) => `'${operation}'`).join(', ')} to its operations, or leave trash out.`,
    );
}

/** Rejects permission classes that may decide by the method alone: who may change an object may not for that restore it. */
function* permissionProblems({ className, trash, permission }: Resource): Problems {
  for (const name of trash ? new Set(undecidedClasses(permission)) : [])
    yield problem(
      `${className}.trash`,
      `the permission class ${name} does not say that it decides on deleted objects: whoever may GET, PATCH and DELETE would list, restore and purge them`,
      `Take account of "operation" in its decide(), and declare readonly decidesOnDeleted = true in the class.`,
    );
}

/** Of permissions of the application, whose class is known by its name. */
function undecidedClasses(permission: CompiledPermission): readonly string[] {
  switch (permission.kind) {
    case 'anyone':
      return [];
    case 'one':
      return permission.source === undefined || permission.permission.decidesOnDeleted === true
        ? []
        : [permission.source];
    case 'not':
      return undecidedClasses(permission.permission);
    default:
      return permission.permissions.flatMap(undecidedClasses);
  }
}

/** Rejects a relation or an action whose URL is that of an operation on deleted objects. */
function* urlProblems(resource: Resource, controllers: readonly ControllerDeclaration[]): Problems {
  for (const operation of resource.trash ? (['restore', 'purge'] as const) : []) {
    if (!resource.operations.has(operation)) continue;
    const what = `its URL is that of the operation "${operation}" on deleted objects of ${resource.className}`;
    const repair = `Give it another name, or leave '${operation}' out of the operations.`;
    if (resource.nested.some(({ name }) => name === operation))
      yield problem(`${resource.className}.${operation}`, what, repair);
    for (const { name, actions } of controllers)
      for (const { method } of actions.filter((action) => isAt(operation, action)))
        yield problem(`${name}.${method}`, what, repair);
  }
}

/** Express matches paths case-insensitively. */
function isAt(path: string, action: ActionDeclaration): boolean {
  return (
    action.kind === 'action' &&
    action.options.detail &&
    (action.options.path ?? action.method).toLowerCase() === path
  );
}

/** Rejects a field or another parameter with the name of the parameter that shows deleted objects. */
function* parameterProblems(resource: Resource): Problems {
  const { className, fieldsByName, filterTerms, renamed } = resource;
  for (const parameter of trashParameters(resource)) {
    const others = [...filterTerms.keys(), ...featureParameters({ ...resource, trash: undefined })];
    // A new name is verified with the option that gives it.
    if (renamed.has('deleted') || !(fieldsByName.has(parameter) || others.includes(parameter))) continue;
    yield problem(
      `${className}.trash`,
      `"${parameter}" is the query parameter that shows deleted objects, and ${fieldsByName.has(parameter) ? 'a field' : 'another parameter'} of ${className}`,
      `Give the parameter another name: parameters: { ${parameter}: '…' }.`,
    );
  }
}
