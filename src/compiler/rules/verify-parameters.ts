import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../blueprint.js';
import { takenByBackends } from '../yield-parameters.js';

/** No filter of the model's own has the name of a query parameter that means something else (contract 4.13). */
export function verifyParameters(
  { drafts }: CompilerInput,
  model: CompiledModel,
): readonly DeclarationProblem[] {
  const resources = new Map(model.resources.map((resource) => [resource.entity, resource]));
  return drafts.flatMap(({ declaration, entity }) => {
    const resource = resources.get(entity.id);
    if (!resource) return [];
    const taken = takenByBackends(resource);
    const own = Object.keys(declaration.options.filters ?? {}).filter((name) => taken.has(name));
    return own.map((name) => ({
      where: `${declaration.name}.filters.${name}`,
      what: `"${name}" is a query parameter of a filter backend`,
      repair: 'Give it another name.',
    }));
  });
}
