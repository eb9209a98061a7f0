import type { JsonPathFilter } from '../core/contracts/filters.js';
import type { NullsPlace } from '../core/query/condition.js';
import type { Lookup } from '../core/query/lookups.js';
import type { RestifyOptions } from '../decorators/model-options.js';

/** `filterFields` by path. Names alone mean `exact`. */
export function declaredFilters({ filterFields }: RestifyOptions): ReadonlyMap<string, JsonPathFilter> {
  if (filterFields === undefined) return new Map();
  if (isList(filterFields)) return new Map(filterFields.map((path) => [path, { lookups: ['exact'] }]));
  return new Map(
    Object.entries(filterFields).flatMap(([path, given]): readonly (readonly [string, JsonPathFilter])[] => {
      if (!given) return [];
      return [[path, 'lookups' in given ? given : { lookups: given }]];
    }),
  );
}

/** `filterFields` as a list of path and lookup. */
export function filterEntries(
  options: RestifyOptions,
): readonly (readonly [path: string, lookup: Lookup])[] | undefined {
  if (options.filterFields === undefined) return undefined;
  return [...declaredFilters(options)].flatMap(([path, { lookups }]) =>
    lookups.map((lookup): readonly [string, Lookup] => [path, lookup]),
  );
}

/** Tolerates values that TypeScript would reject. */
export function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

/** The parameter names of a lookup: `votes__exact` and `votes`, or `votes__ne` and `votes!`, as in `votes!=3`. */
export function parameterNames(path: string, lookup: Lookup): readonly string[] {
  const name = path.replaceAll('.', '__');
  const whole = `${name}__${lookup}`;
  if (lookup === 'exact') return [whole, name];
  return lookup === 'ne' ? [whole, `${name}!`] : [whole];
}

const NULLS = /^(.*) nulls (first|last)$/s;

/** Splits `votes nulls last` into its path and the position of nulls. */
export function withNulls(text: string): { readonly path: string; readonly nulls?: NullsPlace } {
  const [, path, place] = NULLS.exec(text) ?? [];
  return path === undefined ? { path: text } : { path, nulls: place === 'first' ? 'first' : 'last' };
}
