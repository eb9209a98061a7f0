import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import { disjunction } from '../../core/query/condition.js';
import type {
  FilterBackend,
  FilterContext,
  FilterResult,
  ListKind,
} from '../../core/contracts/filter-backend.js';
import type { FilterTerm, ResourceSchema } from '../../core/schema/resource-schema.js';
import { invalid, valid } from '../../core/values/parse-result.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { holdsList, parseTerm } from './parse-filter.js';
import { groupByRelation } from './join-conditions.js';
import type { PlacedCondition } from './join-conditions.js';

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
    const errors = emptyFieldErrors();
    const placed: PlacedCondition[] = [];
    let repeated = 0;
    for (const name of parameters.keys()) {
      const term = jsonServerTerm(name, resource);
      const texts = term ? nonEmptyValues(name, term, context) : [];
      if (!term || texts.length === 0) continue;
      if (texts.length > 1) repeated += texts.length;
      const limit = resource.queryLimits.values;
      const outcome =
        repeated > limit
          ? invalid(`Ensure there are no more than ${limit} values.`)
          : parseAll(texts, term, context);
      if (outcome.errors) errors[name] = [...outcome.errors];
      else placed.push(...outcome.value);
    }
    if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
    // The statement differs by the number of values: it is not cached.
    return { rows: groupByRelation(placed), ...(repeated > 0 ? { oneOff: true } : {}) };
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
