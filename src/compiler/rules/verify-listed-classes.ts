import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompilerInput } from '../compiler-input.js';

/** Verifies that a listed class is an entity of the data source, and declared if it has an app label. */
export function verifyListedClasses({ listed, description }: CompilerInput): readonly DeclarationProblem[] {
  const known = new Set(description.entities.flatMap((entity) => entity.targets));
  return listed.flatMap(({ target, name, listedIn, declared }): readonly DeclarationProblem[] => {
    if (declared && !known.has(target)) return [noEntity(name, listedIn)];
    if (!declared)
      return [
        {
          where: listedIn,
          what: `${name} has no declaration`,
          repair: `Decorate it with @Restify(), or call restify(${name}).`,
        },
      ];
    return [];
  });
}

function noEntity(name: string, listedIn: string): DeclarationProblem {
  return {
    where: name,
    what: `it is decorated with @Restify and listed in ${listedIn}, and the data source knows no such entity`,
    repair: `Put @Entity() on ${name} and add it to the data source's entities, or take @Restify off.`,
  };
}
