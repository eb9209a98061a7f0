import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { Pagination } from '../../core/contracts/pagination.js';
import type { Resource } from '../../core/schema/resource.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { optionLocations } from './option-locations.js';
import type { OptionLocation } from './option-locations.js';
import { deduplicateProblems } from './deduplicate-problems.js';

/** Verifies the options of a pagination, and that its parameters have no other meaning in its lists. Its type is verified elsewhere. */
export function verifyPagination(
  input: CompilerInput,
  { all }: CompiledModel,
): readonly DeclarationProblem[] {
  return deduplicateProblems([
    ...optionLocations(input).flatMap(paginationProblems),
    ...all.flatMap(pageParameterProblems),
  ]);
}

function paginationProblems({ where, options }: OptionLocation): readonly DeclarationProblem[] {
  const pagination = options.pagination as Pagination | false | undefined;
  if (!pagination) return [];
  return (pagination.problems?.() ?? []).map(({ option, what, repair }) => ({
    where: `${where}.pagination.${option}`,
    what,
    repair,
  }));
}

function pageParameterProblems(resource: Resource): readonly DeclarationProblem[] {
  const { pagination, backends, label } = resource;
  if (!pagination || !resource.operations.has('list')) return [];
  const names = pagination.parameters();
  const ofBackends = new Set(backends.flatMap((backend) => [...(backend.parameters?.(resource) ?? [])]));
  return [
    ...names
      .filter((name, index) => ofBackends.has(name) || names.indexOf(name) !== index)
      .map((name) => ({
        where: `${label}.pagination`,
        what: `its query parameter "${name}" is already used for something else`,
        repair: 'Give the pagination another parameter.',
      })),
  ];
}
