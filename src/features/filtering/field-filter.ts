import { GROUPS_PARAMETER } from '../../core/contracts/filters.js';
import type { FilterBackend, FilterContext, FilterResult, ListKind } from '../../core/contracts/filters.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { holdsList, joinOutcomes, parseTerm } from './parse-filter.js';
import type { PlacedCondition } from './parse-filter.js';
import { parseGroups } from './filter-groups.js';

/**
 * `<field>=<value>` and `<field>__<lookup>=<value>`, AND-ed (contract 4.3), custom filters of the model, and
 * `filter=or(…)` if filter groups are enabled. Only parameters compiled from the model at boot have an effect; all others
 * are ignored, and so are empty values.
 */
export class FieldFilter implements FilterBackend {
  filter(context: FilterContext): FilterResult {
    const { resource, parameters } = context;
    const outcomes: [string, Outcome<PlacedCondition | readonly PlacedCondition[]>][] = [];
    for (const [name, text] of parameters) {
      const term = text === '' ? undefined : resource.filterTerms.get(name);
      if (term) outcomes.push([name, parseTerm(text, term, context)]);
    }
    const groups = parameterName(GROUPS_PARAMETER, resource);
    const text = resource.filterGroups ? (parameters.get(groups) ?? '') : '';
    if (text === '') return { rows: joinOutcomes(outcomes) };
    return { rows: joinOutcomes([...outcomes, [groups, parseGroups(text, context)]]), oneOff: true };
  }

  parameters(resource: ResourceSchema): readonly string[] {
    const fields = [...resource.filterTerms.keys()];
    return resource.filterGroups ? [...fields, parameterName(GROUPS_PARAMETER, resource)] : fields;
  }

  lists({ filterTerms }: ResourceSchema): ReadonlyMap<string, ListKind> {
    return new Map(
      [...filterTerms].flatMap(([name, term]) => (holdsList(term) ? [[name, 'values'] as const] : [])),
    );
  }
}
