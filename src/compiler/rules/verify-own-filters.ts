import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CustomFilter } from '../../core/contracts/custom-filter.js';
import type { Resource } from '../../core/schema/resource.js';
import { PARAMETER_KINDS } from '../../core/values/parameter-type.js';
import { filterEntries, isList, parameterNames } from '../compile-queries.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { plainPaths, resolveFilterPath } from '../resolve-path.js';
import { unknownPath } from './unknown-path.js';

/** Verifies that a custom filter has a unique name, a type, and the readable fields that it discloses. */
export function verifyCustomFilters(
  { drafts }: CompilerInput,
  model: CompiledModel,
): readonly DeclarationProblem[] {
  const resources = new Map(model.resources.map((resource) => [resource.entity, resource]));
  return drafts.flatMap((draft) => {
    const resource = resources.get(draft.entity.id);
    if (!resource) return [];
    const meant = builtInFilterNames(draft, resource);
    return Object.entries(draft.declaration.options.filters ?? {}).flatMap(([name, filter]) => [
      ...filterNameProblems(name, draft, meant),
      ...customFilterProblems(name, filter, { draft, resource }),
    ]);
  });
}

/** Parameters that filter a field. */
function builtInFilterNames(
  { declaration: { options } }: EntityDeclaration,
  resource: Resource,
): ReadonlySet<string> {
  const entries = filterEntries(options) ?? plainPaths(resource).map((path) => [path, 'exact'] as const);
  return new Set(entries.flatMap(([path, lookup]) => parameterNames(path, lookup)));
}

function filterNameProblems(
  name: string,
  { declaration }: EntityDeclaration,
  meant: ReadonlySet<string>,
): readonly DeclarationProblem[] {
  const where = `${declaration.name}.filters.${name}`;
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name))
    return [
      {
        where,
        what: `"${name}" is not a valid name of a parameter`,
        repair: 'Begin with a letter, and go on with letters, digits and "_".',
      },
    ];
  return meant.has(name)
    ? [
        {
          where,
          what: `"${name}" filters a field already`,
          repair: 'Give it another name, or take the other one out of filterFields.',
        },
      ]
    : [];
}

function customFilterProblems(
  name: string,
  filter: CustomFilter,
  { draft, resource }: { draft: EntityDeclaration; resource: Resource },
): readonly DeclarationProblem[] {
  const where = `${draft.declaration.name}.filters.${name}`;
  const { reads, rows } = filter;
  const given: unknown = filter.type;
  const type = String(given);
  const problems: DeclarationProblem[] = [];
  if (!PARAMETER_KINDS.includes(type))
    problems.push({
      where: `${where}.type`,
      what: `"${type}" is not a type that a parameter can have`,
      repair: didYouMean(type, PARAMETER_KINDS),
    });
  if (filter.type === 'choice' && !(isList(filter.choices) && filter.choices.length > 0))
    problems.push({
      where: `${where}.choices`,
      what: 'this is not a list of texts',
      repair: "Write choices: ['open', 'closed'].",
    });
  if (typeof rows !== 'function')
    problems.push({
      where: `${where}.rows`,
      what: 'this is not a function',
      repair: "Write rows: (value) => where('votes', 'gte', value).",
    });
  if (!isList(reads) || reads.length === 0)
    return [
      ...problems,
      {
        where: `${where}.reads`,
        what: 'this is not a list of fields',
        repair: "Write reads: ['votes'], so that callers cannot filter by fields that they may not read.",
      },
    ];
  return [
    ...problems,
    ...reads.flatMap((path, index) =>
      resolveFilterPath(path, resource)
        ? []
        : [unknownPath(path, { where: `${where}.reads[${index}]`, draft, resource }, 'many')],
    ),
  ];
}
