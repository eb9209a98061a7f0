import { AGGREGATE_PARAMETERS } from '../../core/contracts/aggregates.js';
import { bulkParameters } from '../../core/contracts/bulk.js';
import { fieldSelectionParameters } from '../../core/contracts/field-selection.js';
import { FORMAT_PARAMETER } from '../../core/contracts/renderer.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import type { CompiledModel } from '../compile-resources.js';
import { declarationsByEntity } from '../compiler-input.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { isParameterName, featureParameters, takenByBackends } from '../query-parameters.js';
import { isPlainObject } from './option-kinds.js';
import { nameOfPrefix, problem } from './problems.js';
import type { Problems } from './problems.js';
import { optionLocations } from './verify-options.js';

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
  'deleted',
  ...AGGREGATE_PARAMETERS,
  'q',
  '_sort',
  '_order',
  '_start',
  '_end',
] as const;

/** Verifies that the parameters of a pagination have no other meaning in its lists. */
export function* verifyPagination(_input: CompilerInput, { all }: CompiledModel): Problems {
  for (const resource of all) {
    const { pagination, operations, className } = resource;
    if (pagination && operations.has('list'))
      yield* duplicates(pagination.parameters(), readByBackends(resource), {
        where: `${className}.pagination`,
        repair: 'Give the pagination another parameter.',
      });
  }
}

/** Verifies that no query parameter of a model has two meanings (contract 4.13). */
export function* verifyParameters(
  { declarations }: CompilerInput,
  { all, resources }: CompiledModel,
): Problems {
  for (const { declaration, entity } of declarations) {
    const { filters } = declaration.options;
    const resource = filters && resources.find((each) => each.entity === entity.id);
    const taken = resource && takenByBackends(resource);
    for (const name of Object.keys(filters ?? {}))
      if (taken?.has(name) === true)
        yield problem(
          `${declaration.name}.filters.${name}`,
          `"${name}" is a query parameter of a filter backend`,
          'Give it another name.',
        );
  }
  for (const resource of all) {
    const { pagination, renderers, operations, className, fieldSelection } = resource;
    const ofBackends = readByBackends(resource);
    const ofLists = [...ofBackends, ...(pagination?.parameters() ?? [])];
    const format = renderers.length > 0 ? [parameterName(FORMAT_PARAMETER, resource)] : [];
    if (operations.has('list') || operations.has('retrieve'))
      yield* duplicates(format, ofLists, {
        where: `${className}.renderers`,
        repair: 'Give the filter backend or the pagination another parameter, or the model renderers: [].',
        whose: 'the',
      });
    yield* duplicates(fieldSelectionParameters(fieldSelection), [...ofLists, ...format], {
      where: `${className}.shape`,
      repair: 'Give the shape another parameter.',
    });
    if (resource.counts)
      yield* duplicates(
        [resource.counts.parameter],
        [...ofLists, ...format, ...fieldSelectionParameters(fieldSelection)],
        {
          where: `${className}.counts`,
          repair: `Give it another name: parameters: { with: '…' }.`,
        },
      );
    yield* duplicates(bulkParameters(resource), ofBackends, {
      where: `${className}.bulk`,
      repair: 'Give the filter another name.',
    });
  }
}

function readByBackends(resource: Resource): readonly string[] {
  return resource.backends.flatMap((backend) => [...(backend.parameters?.(resource) ?? [])]);
}

/** Names that others read, or that stand there twice. */
function* duplicates(
  names: readonly string[],
  others: readonly string[],
  { where, repair, whose = 'its' }: { where: string; repair: string; whose?: string },
): Problems {
  for (const [index, name] of names.entries())
    if (others.includes(name) || names.indexOf(name) !== index)
      yield problem(where, `${whose} query parameter "${name}" is already used for something else`, repair);
}

/** Verifies that `parameters` renames known query parameters to unused names (contract 4.15). */
export function* verifyRenamedParameters(input: CompilerInput, model: CompiledModel): Problems {
  const byEntity = declarationsByEntity(input.declarations);
  for (const { where, options } of optionLocations(input))
    for (const [parameter, name] of Object.entries(namesIn(options.parameters)))
      if (!isParameterName(name))
        yield problem(
          `${where}.parameters.${parameter}`,
          `${name === undefined ? 'undefined' : JSON.stringify(name)} is not a valid name of a query parameter`,
          'Begin with a letter or "_", and go on with letters, digits, "-" and "_", without "__".',
        );
  const known = new Set([...STANDARD, ...model.all.flatMap(({ renamed }) => [...renamed.keys()])]);
  for (const name of Object.keys(namesIn(input.defaults.parameters)))
    if (!known.has(name))
      yield problem(
        `${nameOfPrefix(input.prefix)}.parameters.${name}`,
        `"${name}" is not a query parameter that can be renamed`,
        didYouMean(name, known),
      );
  for (const resource of model.resources) yield* unknownOfModel(resource, byEntity.get(resource.entity));
  for (const resource of model.all) yield* newNameProblems(resource, byEntity.get(resource.entity));
}

/** Ignores values other than objects, which are rejected as options. */
function namesIn(given: unknown): Readonly<Record<string, unknown>> {
  return isPlainObject(given) ? given : {};
}

function* unknownOfModel(resource: Resource, draft: EntityDeclaration | undefined): Problems {
  const now = new Map([...resource.renamed].map(([name, given]) => [given, name]));
  for (const [name, given] of Object.entries(namesIn(draft?.declaration.options.parameters)))
    if (isParameterName(given) && !resource.renamed.has(name))
      yield problem(
        `${resource.className}.parameters.${name}`,
        `"${name}" is not a query parameter of ${resource.className} that can be renamed`,
        didYouMean(
          name,
          featureParameters(resource).map((each) => now.get(each) ?? each),
        ),
      );
}

/** Verifies the new names of a model against all others that it has. */
function* newNameProblems(resource: Resource, draft: EntityDeclaration | undefined): Problems {
  const { renamed, className, filterTerms, fieldsByName } = resource;
  const read = renamed.size === 0 ? [] : featureParameters(resource);
  const own = namesIn(draft?.declaration.options.parameters);
  for (const [parameter, name] of renamed) {
    const isUsedTwice = read.filter((each) => each === name).length > 1;
    const meaning = filterTerms.has(name)
      ? 'is a filter of the model'
      : fieldsByName.has(name) && 'is a field of the model';
    if (parameter === name || !(meaning || isUsedTwice)) continue;
    const isOwn = Object.hasOwn(own, parameter);
    yield problem(
      `${className}.parameters.${parameter}`,
      `"${name}"${isOwn ? '' : ', as the prefix or the relation calls it,'} ${meaning || 'is another query parameter too'}`,
      isOwn
        ? 'Give the parameter another name.'
        : `Give it another name in this model: parameters: { ${parameter}: '…' }.`,
    );
  }
}
