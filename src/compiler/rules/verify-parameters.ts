import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { takenByBackends } from '../yield-parameters.js';

/** Verifies that no custom filter has the name of another query parameter (contract 4.13). */
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
