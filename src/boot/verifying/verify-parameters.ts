import type { DeclarationProblem } from '../../errors/declaration-error.js';
import type { Resource } from '../../model/resource.js';
import type { CompiledModel } from '../compiling/compile-resources.js';
import type { Blueprint } from '../compiling/draft.js';

/** No field has the name of a query parameter that means something else (contract 4). */
export function verifyParameters({ drafts }: Blueprint, model: CompiledModel): readonly DeclarationProblem[] {
  const resources = new Map(model.resources.map((resource) => [resource.entity, resource]));
  return drafts.flatMap(({ declaration, entity }) => {
    const resource = resources.get(entity.id);
    const taken = resource ? takenNames(resource) : new Set<string>();
    return (resource?.fields ?? [])
      .filter(({ name, readable }) => readable && taken.has(name))
      .map((field) => ({
        where: `${declaration.name}.${field.name}`,
        what: `"${field.name}" is a query parameter of a filter backend`,
        repair: `Rename the property and keep the column: @Column({ name: '${field.name}' }) ${field.name}_value; or leave that backend out of filterBackends.`,
      }));
  });
}

/** Names that a backend reads which does not mean the field, or that two of them read. */
function takenNames(resource: Resource): ReadonlySet<string> {
  const readers = resource.backends.flatMap((backend) => [...new Set(backend.parameters?.(resource))]);
  const meant = new Set(resource.filterTerms.keys());
  // Of those that filter a field the first reader is the one that means it.
  return new Set(readers.filter((name) => !meant.delete(name)));
}
