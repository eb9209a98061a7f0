import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { FORMAT_PARAMETER } from '../../core/contracts/renderer.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import type { Resource } from '../../core/schema/resource.js';
import { fieldSelectionParameters } from '../../core/contracts/field-selection.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { optionLocations } from './option-locations.js';
import { deduplicateProblems } from './deduplicate-problems.js';

const PARAMETERS: readonly string[] = ['fieldsParameter', 'omitParameter', 'expandParameter'];
const BOUNDS: readonly string[] = ['maxChildren', 'maxObjects'];

/** Verifies the options of `shape`: its limits, and that its parameters have no other meaning. */
export function verifyFieldSelection(
  input: CompilerInput,
  { all }: CompiledModel,
): readonly DeclarationProblem[] {
  return deduplicateProblems([
    ...optionLocations(input).flatMap(({ where, options: { shape } }) =>
      shapeOptionProblems(`${where}.shape`, shape),
    ),
    ...all.flatMap(shapeParameterProblems),
  ]);
}

function shapeOptionProblems(where: string, shape: unknown): readonly DeclarationProblem[] {
  if (shape === undefined || typeof shape === 'boolean') return [];
  if (typeof shape !== 'object' || shape === null || Array.isArray(shape))
    return [
      {
        where,
        what: 'this is not a shape',
        repair: "Write true, false, or an object: { fieldsParameter: 'only', maxChildren: 20 }.",
      },
    ];
  return Object.entries(shape).flatMap(([name, value]): readonly DeclarationProblem[] => {
    if (value === undefined) return [];
    if (PARAMETERS.includes(name))
      return typeof value === 'string' && value !== ''
        ? []
        : [
            {
              where: `${where}.${name}`,
              what: `${JSON.stringify(value)} is not a valid name of a query parameter`,
              repair: 'Give a text that is not empty.',
            },
          ];
    if (BOUNDS.includes(name))
      return Number.isSafeInteger(value) && Number(value) > 0
        ? []
        : [
            {
              where: `${where}.${name}`,
              what: `${String(value)} is not a valid number of objects`,
              repair: 'Give a whole number above 0.',
            },
          ];
    return [
      {
        where: `${where}.${name}`,
        what: `"${name}" is not an option of a shape`,
        repair: `Known here: ${[...PARAMETERS, ...BOUNDS].map((each) => `"${each}"`).join(', ')}.`,
      },
    ];
  });
}

function shapeParameterProblems(resource: Resource): readonly DeclarationProblem[] {
  const { shape, backends, pagination, renderers, label } = resource;
  const names = fieldSelectionParameters(shape);
  if (names.length === 0) return [];
  const others = [
    ...backends.flatMap((backend) => [...(backend.parameters?.(resource) ?? [])]),
    ...(pagination?.parameters() ?? []),
    ...(renderers.length > 0 ? [parameterName(FORMAT_PARAMETER, resource)] : []),
  ];
  return [
    ...names
      .filter((name, index) => others.includes(name) || names.indexOf(name) !== index)
      .map((name) => ({
        where: `${label}.shape`,
        what: `its query parameter "${name}" is already used for something else`,
        repair: 'Give the shape another parameter.',
      })),
  ];
}
