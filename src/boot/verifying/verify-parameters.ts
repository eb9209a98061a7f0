import type { DeclarationProblem } from '../../errors/declaration-error.js';
import type { Resource } from '../../model/resource.js';
import type { CompiledModel } from '../compiling/compile-resources.js';
import type { Blueprint } from '../compiling/draft.js';

/** No field has the name of a query parameter that means something else (contract 4). */
export function verifyParameters({ drafts }: Blueprint, model: CompiledModel): readonly DeclarationProblem[] {
  return drafts.flatMap(({ declaration, entity }) => {
    const resource = model.resources.find((each) => each.entity === entity.id);
    return (resource?.fields ?? [])
      .filter((field) => resource && field.readable && isTaken(field.name, resource))
      .map((field) => ({
        where: `${declaration.name}.${field.name}`,
        what: `"${field.name}" is a query parameter of a filter backend`,
        repair: `Rename the property and keep the column: @Column({ name: '${field.name}' }) ${field.name}_value; or leave that backend out of filterBackends.`,
      }));
  });
}

/** Read by a backend that does not mean the field, or by two of them. */
function isTaken(name: string, resource: Resource): boolean {
  const readers = resource.backends.filter((backend) => backend.parameters?.(resource).includes(name) === true).length;
  return readers > (resource.filterTerms.has(name) ? 1 : 0);
}
