import type { DeclarationProblem } from '../../errors/declaration-error.js';
import { GROUPS_PARAMETER } from '../../model/filter-backend.js';
import type { Resource } from '../../model/resource.js';
import type { CompiledModel } from '../compiling/compile-resources.js';
import type { Blueprint } from '../compiling/draft.js';

/** No field and no filter of the model's own has the name of a query parameter that means something else (contract 4.13). */
export function verifyParameters({ drafts }: Blueprint, model: CompiledModel): readonly DeclarationProblem[] {
  const resources = new Map(model.resources.map((resource) => [resource.entity, resource]));
  return drafts.flatMap(({ declaration, entity }) => {
    const resource = resources.get(entity.id);
    if (!resource) return [];
    const taken = takenNames(resource);
    const fields = resource.fields
      .filter(({ name, readable }) => readable && taken.has(name))
      .map(({ name }) => ({
        where: `${declaration.name}.${name}`,
        what: `"${name}" is a query parameter of a filter backend`,
        repair: `Rename the property and keep the column: @Column({ name: '${name}' }) ${name}_value; or leave that backend out of filterBackends.`,
      }));
    const own = Object.keys(declaration.options.filters ?? {}).filter((name) => taken.has(name));
    return [
      ...fields,
      ...own.map((name) => ({
        where: `${declaration.name}.filters.${name}`,
        what: `"${name}" is a query parameter of a filter backend`,
        repair: 'Give it another name.',
      })),
    ];
  });
}

/** Names that a backend reads which does not mean the field, or that two of them read. */
function takenNames(resource: Resource): ReadonlySet<string> {
  const readers = resource.backends.flatMap((backend) => [...new Set(backend.parameters?.(resource))]);
  const meant = new Set(resource.filterTerms.keys());
  // Of those that filter a field the first reader is the one that means it.
  const taken = new Set(readers.filter((name) => !meant.delete(name)));
  return resource.filterGroups ? taken.add(GROUPS_PARAMETER) : taken;
}
