import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { declaredColumns } from '../property-names.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';

/**
 * Verifies that no property has the name of a member of `Object.prototype`. Where an entity does not have the property, the ORM
 * takes what it inherits for its value.
 */
export function verifyInheritedNames({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  return drafts.flatMap((draft) =>
    [...inheritedPaths(draft)].map((path) => inheritedNameProblem(path, draft)),
  );
}

function inheritedPaths({ entity }: EntityDeclaration): ReadonlySet<string> {
  return new Set(
    [...declaredColumns(entity), ...entity.relations]
      .map(({ path }) => path)
      .filter((path) => path.split('.').some((name) => Object.hasOwn(Object.prototype, name))),
  );
}

function inheritedNameProblem(path: string, { declaration }: EntityDeclaration): DeclarationProblem {
  return {
    where: `${declaration.name}.${path}`,
    what: 'each object of JavaScript inherits a member of this name, which TypeORM would store',
    repair: "Rename the property; @Column({ name: '…' }) keeps the name of the column.",
  };
}
