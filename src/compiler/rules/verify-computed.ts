import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import { propertyNames } from '../property-names.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';

/** Verifies that a computed field has a unique name, and a function or an existing method of the entity. */
export function verifyComputed({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  return drafts.flatMap((draft) =>
    Object.entries(draft.declaration.options.computed ?? {}).flatMap(([name, source]) =>
      computedProblems(name, source, draft),
    ),
  );
}

function computedProblems(
  name: string,
  source: unknown,
  { declaration, entity }: EntityDeclaration,
): readonly DeclarationProblem[] {
  const where = `${declaration.name}.computed.${name}`;
  const problems: DeclarationProblem[] = [];
  if (propertyNames(entity).has(name))
    problems.push({
      where,
      what: `"${name}" is a field already`,
      repair: 'Give the computed field another name.',
    });
  if (typeof source === 'function') return problems;
  const methods = entity.targets.flatMap((target) => methodNames(target as object));
  if (!methods.includes(String(source))) {
    problems.push({
      where,
      what: `"${String(source)}" is not a method of ${declaration.name}`,
      repair: methods.length > 0 ? didYouMean(String(source), methods) : 'Write a function of the entity.',
    });
  }
  return problems;
}

function methodNames(target: object): readonly string[] {
  const names: string[] = [];
  for (
    let prototype = (target as { prototype?: object }).prototype;
    prototype && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (name !== 'constructor' && typeof value === 'function') names.push(name);
    }
  }
  return names;
}
