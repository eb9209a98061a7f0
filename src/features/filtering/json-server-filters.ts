import { disjunction } from '../../core/query/condition.js';
import type { FilterBackend, FilterContext, FilterResult, ListKind } from '../../core/contracts/filters.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { FilterTerm, ResourceSchema } from '../../core/schema/resource-schema.js';
import { invalid, valid } from '../../core/values/parse-result.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { holdsList, joinOutcomes, parseTerm } from './parse-filter.js';
import type { PlacedCondition } from './parse-filter.js';
import { parseOrdering } from './ordering-filter.js';
import { searched } from './search-filter.js';

/** Lookups by json-server's suffixes of parameters. */
const ENDINGS: readonly (readonly [theirs: string, ours: string])[] = [
  ['_gte', '__gte'],
  ['_lte', '__lte'],
  ['_ne', '__ne'],
  ['_like', '__icontains'],
];

/**
 * `<field>=`, `<field>_gte=`, `_lte=`, `_ne=` and `_like=`, as in json-server: replaces `FieldFilter`, for the same
 * compiled parameters. A suffix has an effect if the model enables its lookup (`exact`, `gte`, `lte`, `ne`, `icontains`);
 * all others are ignored. Any value of a repeated parameter may match (`id=1&id=2`), of `_ne` all must; a custom filter
 * takes one value or a list. Empty values are ignored. Repeated values are limited by `queryLimits.values`.
 */
export class JsonServerFilter implements FilterBackend {
  /** Throws `InvalidInput` with the errors of all invalid values. */
  filter(context: FilterContext): FilterResult {
    const { resource, parameters } = context;
    const outcomes: [string, Outcome<readonly PlacedCondition[]>][] = [];
    let repeated = 0;
    for (const name of parameters.keys()) {
      const term = jsonServerTerm(name, resource);
      const texts = term ? nonEmptyValues(name, term, context) : [];
      if (!term || texts.length === 0) continue;
      if (texts.length > 1) repeated += texts.length;
      const limit = resource.queryLimits.values;
      outcomes.push([
        name,
        repeated > limit
          ? invalid(`Ensure there are no more than ${limit} values.`)
          : parseAll(texts, term, context),
      ]);
    }
    // The statement differs by the number of values: it is not cached.
    return { rows: joinOutcomes(outcomes), ...(repeated > 0 ? { oneOff: true } : {}) };
  }

  parameters({ filterTerms }: ResourceSchema): readonly string[] {
    return [...filterTerms].flatMap(([name, term]) => {
      if (isPlain(name, term)) return [name];
      return ENDINGS.filter(([, ours]) => name.endsWith(ours)).map(
        ([theirs, ours]) => name.slice(0, -ours.length) + theirs,
      );
    });
  }

  lists(resource: ResourceSchema): ReadonlyMap<string, ListKind> {
    return new Map(
      this.parameters(resource).flatMap((name): readonly (readonly [string, ListKind])[] => {
        const term = jsonServerTerm(name, resource);
        if (term?.kind === 'custom') return holdsList(term) ? [[name, 'values']] : [];
        return [[name, 'each']];
      }),
    );
  }
}

/** The filter of a parameter. The name of a field or custom filter has precedence over a suffix. */
export function jsonServerTerm(name: string, { filterTerms }: ResourceSchema): FilterTerm | undefined {
  const named = filterTerms.get(name);
  if (named && isPlain(name, named)) return named;
  const ending = ENDINGS.find(([theirs]) => name.endsWith(theirs));
  return ending && filterTerms.get(name.slice(0, -ending[0].length) + ending[1]);
}

/** True if the parameter has the same name in both dialects. */
function isPlain(name: string, term: FilterTerm): boolean {
  return term.kind === 'custom' || (term.lookup === 'exact' && !name.endsWith('__exact'));
}

/** Non-empty values. A custom filter takes one text, because each of its conditions may be expensive. */
function nonEmptyValues(
  name: string,
  { kind }: FilterTerm,
  { parameters, values }: FilterContext,
): readonly string[] {
  const given = kind === 'custom' ? [parameters.get(name) ?? ''] : values(name);
  return given.filter((text) => text !== '');
}

function parseAll(
  texts: readonly string[],
  term: FilterTerm,
  context: FilterContext,
): Outcome<readonly PlacedCondition[]> {
  const placed: PlacedCondition[] = [];
  for (const text of texts) {
    const outcome = parseTerm(text, term, context);
    if (outcome.errors) return outcome;
    placed.push(outcome.value);
  }
  if (term.kind === 'field' && term.lookup === 'ne') return valid(placed);
  return valid([
    { some: placed[0]?.some ?? [], condition: disjunction(placed.map(({ condition }) => condition)) },
  ]);
}

/** `q=<text>`: the `search` of `SearchFilter` by json-server's name. */
export class JsonServerSearch implements FilterBackend {
  filter(context: FilterContext): FilterResult {
    return searched(parameterName('q', context.resource), context);
  }

  parameters(resource: ResourceSchema): readonly string[] {
    return [parameterName('q', resource)];
  }
}

/**
 * `_sort=votes,text&_order=desc,asc`, as in json-server: replaces `OrderingFilter`, with the same names and rules. A name
 * without a direction is ascending.
 */
export class JsonServerOrdering implements FilterBackend {
  filter({ resource, parameters }: FilterContext): FilterResult {
    const directions = (parameters.get(parameterName('_order', resource)) ?? '').split(',');
    const names = (parameters.get(parameterName('_sort', resource)) ?? '').split(',');
    const text = names
      .map((name, index) => (directions[index]?.trim().toLowerCase() === 'desc' ? `-${name.trim()}` : name))
      .join(',');
    const order = parseOrdering(text, resource);
    return order.length > 0 ? { order } : {};
  }

  parameters(resource: ResourceSchema): readonly string[] {
    return ['_sort', '_order'].map((name) => parameterName(name, resource));
  }

  lists(resource: ResourceSchema): ReadonlyMap<string, ListKind> {
    return new Map(this.parameters(resource).map((name) => [name, 'names']));
  }
}
