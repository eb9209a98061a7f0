import type { DeclarationProblem } from '../../errors/declaration-error.js';
import type { Pagination } from '../../model/pagination.js';
import type { Resource } from '../../model/resource.js';
import type { CompiledModel } from '../compiling/compile-resources.js';
import type { Blueprint } from '../compiling/draft.js';
import { placesOf } from './places-of.js';
import { toldOnce } from './told-once.js';

interface Given {
  readonly where: string;
  readonly pagination: unknown;
}

/** A pagination is one, its own options are right, and its parameters mean nothing else in the lists that it cuts. */
export function verifyPagination(
  blueprint: Blueprint,
  { all }: CompiledModel,
): readonly DeclarationProblem[] {
  return toldOnce([...givenIn(blueprint).flatMap(ownProblems), ...all.flatMap(parameterProblems)]);
}

function givenIn(blueprint: Blueprint): readonly Given[] {
  return placesOf(blueprint)
    .map(({ where, options: { pagination } }) => ({ where: `${where}.pagination`, pagination }))
    .filter(({ pagination }) => pagination !== undefined && pagination !== false);
}

function ownProblems({ where, pagination }: Given): readonly DeclarationProblem[] {
  if (!isPagination(pagination))
    return [
      {
        where,
        what: 'this is no pagination',
        repair:
          'Write new PageNumberPagination(), new LimitOffsetPagination() or new CursorPagination({ secret }), or false for none.',
      },
    ];
  return (pagination.problems?.() ?? []).map(({ option, what, repair }) => ({
    where: `${where}.${option}`,
    what,
    repair,
  }));
}

function isPagination(given: unknown): given is Pagination {
  const { parameters, page, present } = (given ?? {}) as Partial<Record<keyof Pagination, unknown>>;
  return [parameters, page, present].every((method) => typeof method === 'function');
}

function parameterProblems(resource: Resource): readonly DeclarationProblem[] {
  const { pagination, backends, label } = resource;
  if (!pagination || !isPagination(pagination) || !resource.operations.has('list')) return [];
  const names = pagination.parameters();
  const ofBackends = new Set(backends.flatMap((backend) => [...(backend.parameters?.(resource) ?? [])]));
  return [
    ...names
      .filter((name, index) => ofBackends.has(name) || names.indexOf(name) !== index)
      .map((name) => ({
        where: `${label}.pagination`,
        what: `its query parameter "${name}" means something else too`,
        repair: 'Give the pagination another parameter.',
      })),
  ];
}
