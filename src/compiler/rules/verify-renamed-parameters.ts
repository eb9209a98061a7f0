import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { Resource } from '../../core/schema/resource.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { isParameterName } from '../rename-parameters.js';
import { featureParameters } from '../yield-parameters.js';
import { optionLocations } from './option-locations.js';
import { deduplicateProblems } from './deduplicate-problems.js';

/** Parameters of features, which a prefix may rename for the models that have them. */
const STANDARD = [
  'search',
  'ordering',
  'filter',
  'fields',
  'omit',
  'expand',
  'page',
  'page_size',
  'limit',
  'offset',
  'cursor',
  'count',
  'format',
  'keys',
  'upsert',
  'q',
  '_sort',
  '_order',
  '_start',
  '_end',
] as const;

/** Verifies that `parameters` renames known query parameters to unused names (contract 4.15). */
export function verifyRenamedParameters(
  input: CompilerInput,
  model: CompiledModel,
): readonly DeclarationProblem[] {
  const byEntity = new Map(input.drafts.map((draft) => [draft.entity.id, draft]));
  return deduplicateProblems([
    ...optionLocations(input).flatMap(({ where, options: { parameters } }) =>
      parameterNameProblems(`${where}.parameters`, namesIn(parameters)),
    ),
    ...unknownOfPrefix(input, model),
    ...model.resources.flatMap((resource) => unknownOfModel(resource, byEntity.get(resource.entity))),
    ...model.all.flatMap((resource) => meaningProblems(resource, byEntity.get(resource.entity))),
  ]);
}

type Names = Readonly<Record<string, unknown>>;

/** Ignores values other than objects, which are rejected as options. */
function namesIn(given: unknown): Names {
  return typeof given === 'object' && given !== null && !Array.isArray(given) ? (given as Names) : {};
}

function parameterNameProblems(where: string, names: Names): readonly DeclarationProblem[] {
  return Object.entries(names)
    .filter(([, name]) => !isParameterName(name))
    .map(([parameter, name]) => ({
      where: `${where}.${parameter}`,
      what: `${name === undefined ? 'undefined' : JSON.stringify(name)} is not a valid name of a query parameter`,
      repair: 'Begin with a letter or "_", and go on with letters, digits, "-" and "_", without "__".',
    }));
}

function unknownOfPrefix(
  { prefix, defaults }: CompilerInput,
  { all }: CompiledModel,
): readonly DeclarationProblem[] {
  const names = Object.keys(namesIn(defaults.parameters));
  if (names.length === 0) return [];
  const known = new Set([...STANDARD, ...all.flatMap(({ renamed }) => [...renamed.keys()])]);
  return names
    .filter((name) => !known.has(name))
    .map((name) => ({
      where: `RestifyModule.forRoot('${prefix}').parameters.${name}`,
      what: `"${name}" is not a query parameter that can be renamed`,
      repair: didYouMean(name, known),
    }));
}

function unknownOfModel(
  resource: Resource,
  draft: EntityDeclaration | undefined,
): readonly DeclarationProblem[] {
  const names = namesIn(draft?.declaration.options.parameters);
  const now = new Map([...resource.renamed].map(([name, given]) => [given, name]));
  return Object.entries(names)
    .filter(([name, given]) => isParameterName(given) && !resource.renamed.has(name))
    .map(([name]) => ({
      where: `${resource.label}.parameters.${name}`,
      what: `"${name}" is not a query parameter of ${resource.label} that can be renamed`,
      repair: didYouMean(
        name,
        featureParameters(resource).map((each) => now.get(each) ?? each),
      ),
    }));
}

/** Verifies the new names of a model against all others that it has. */
function meaningProblems(
  resource: Resource,
  draft: EntityDeclaration | undefined,
): readonly DeclarationProblem[] {
  const { renamed, label } = resource;
  if (renamed.size === 0) return [];
  const read = featureParameters(resource);
  const own = namesIn(draft?.declaration.options.parameters);
  return [...renamed]
    .filter(([parameter, name]) => parameter !== name)
    .flatMap(([parameter, name]) => {
      const what = meaningOf(name, resource, read);
      if (what === undefined) return [];
      const isOwn = Object.hasOwn(own, parameter);
      return [
        {
          where: `${label}.parameters.${parameter}`,
          what: `"${name}"${isOwn ? '' : ', as the prefix or the relation calls it,'} ${what}`,
          repair: isOwn
            ? 'Give the parameter another name.'
            : `Give it another name in this model: parameters: { ${parameter}: '…' }.`,
        },
      ];
    });
}

function meaningOf(name: string, resource: Resource, read: readonly string[]): string | undefined {
  if (resource.filterTerms.has(name)) return 'is a filter of the model';
  if (resource.fieldsByName.has(name)) return 'is a field of the model';
  return read.filter((each) => each === name).length > 1 ? 'is another query parameter too' : undefined;
}
