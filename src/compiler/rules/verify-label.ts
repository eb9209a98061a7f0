import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { Resource } from '../../core/schema/resource.js';
import type { CompilerInput } from '../compiler-input.js';
import { isLabelField, namesInLabel } from '../compile-label.js';
import type { CompiledModel } from '../compile-resources.js';

/** Verifies that the option `label` names readable fields whose values are texts for people. */
export function verifyLabel(
  { drafts }: CompilerInput,
  { resources }: CompiledModel,
): readonly DeclarationProblem[] {
  const byEntity = new Map(resources.map((resource) => [resource.entity, resource]));
  return drafts.flatMap(({ entity, declaration: { name, options } }) => {
    const resource = byEntity.get(entity.id);
    const { label } = options;
    if (!resource || label === undefined) return [];
    return problemsOfLabel(label, resource).map((problem) => ({ where: `${name}.label`, ...problem }));
  });
}

type Problem = Omit<DeclarationProblem, 'where'>;

function problemsOfLabel(label: string, resource: Resource): readonly Problem[] {
  const names = namesInLabel(label);
  if (names.length === 0 || /[{}]/.test(label.replace(/\{[^{}]*\}/g, '')))
    return [
      {
        what: `${JSON.stringify(label)} is not a template`,
        repair: "Use the name of a field, or names in braces: '{first_name} {last_name}'.",
      },
    ];
  return names.flatMap((name) => problemOfName(name, resource) ?? []);
}

function problemOfName(name: string, { fields }: Resource): Problem | undefined {
  const field = fields.find((each) => each.name === name);
  if (!field || (!field.readable && field.kind === 'column'))
    return {
      what: `"${name}" is not a readable field`,
      repair: didYouMean(
        name,
        fields.filter(isLabelField).map((each) => each.name),
      ),
    };
  if (isLabelField(field)) return undefined;
  return {
    what: `"${name}" has no value that can be read as a text`,
    repair: 'Use columns with texts, numbers, dates, booleans or enumerations.',
  };
}
