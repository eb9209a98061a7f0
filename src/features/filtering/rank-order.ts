import type { FilterResult } from '../../core/contracts/filters.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import type { Condition } from '../../core/query/condition.js';
import type { Resource } from '../../core/schema/resource.js';

type Search = Extract<Condition, { kind: 'term' }>;

/**
 * Gives the terms of the search to an order by rank. Throws 400 for such an order without a search. Statements with it are not cached,
 * because they repeat a value of the condition.
 */
export function rankBySearch(results: readonly FilterResult[], resource: Resource): readonly FilterResult[] {
  const isRanked = ({ order }: FilterResult): boolean =>
    order?.some(({ operand }) => operand.document !== undefined) === true;
  const at = results.findIndex(isRanked);
  if (at === -1) return results;
  const search = results.map(({ rows }) => rows).find(isSearch);
  if (!search) {
    const [name = 'ordering'] = resource.backends[at]?.parameters?.(resource) ?? [];
    throw InvalidInput.of(name, 'Objects have a rank only in a search.');
  }
  return results.map((result) =>
    isRanked(result)
      ? {
          ...result,
          oneOff: true,
          order:
            result.order?.map((term) =>
              term.operand.document ? { ...term, operand: { ...term.operand, ranked: search.term } } : term,
            ) ?? [],
        }
      : result,
  );
}

function isSearch(rows: FilterResult['rows']): rows is Search {
  return rows?.kind === 'term' && rows.operand.document !== undefined;
}
