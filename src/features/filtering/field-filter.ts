import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../core/errors/rest-exception.js';
import { GROUPS_PARAMETER } from '../../core/contracts/filter-backend.js';
import type {
  FilterBackend,
  FilterContext,
  FilterResult,
  ListKind,
} from '../../core/contracts/filter-backend.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import { parseGroups } from './filter-groups.js';
import { holdsList, parseTerm } from './parse-filter.js';
import { groupByRelation } from './join-conditions.js';
import type { PlacedCondition } from './join-conditions.js';

/**
 * `<field>=<value>` and `<field>__<lookup>=<value>`, AND-ed (contract 4.3), custom filters of the model, and
 * `filter=or(…)` if filter groups are enabled. Only parameters compiled from the model at boot have an effect; all others
 * are ignored, and so are empty values.
 */
export class FieldFilter implements FilterBackend {
  filter(context: FilterContext): FilterResult {
    const { resource, parameters } = context;
    const errors = emptyFieldErrors();
    const placed: PlacedCondition[] = [];
    for (const [name, text] of parameters) {
      if (text === '') continue;
      const term = resource.filterTerms.get(name);
      const outcome = term ? parseTerm(text, term, context) : undefined;
      if (outcome?.errors) errors[name] = [...outcome.errors];
      else if (outcome) placed.push(outcome.value);
    }
    const hasGroups = resource.filterGroups && this.addGroups(context, placed, errors);
    if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
    return hasGroups ? { rows: groupByRelation(placed), oneOff: true } : { rows: groupByRelation(placed) };
  }

  /** Adds the conditions or the errors of the parameter `filter`. False if it is absent or empty. */
  private addGroups(context: FilterContext, placed: PlacedCondition[], errors: FieldErrors): boolean {
    const name = parameterName(GROUPS_PARAMETER, context.resource);
    const text = context.parameters.get(name) ?? '';
    if (text === '') return false;
    const outcome = parseGroups(text, context);
    if (outcome.errors) errors[name] = [...outcome.errors];
    else placed.push(...outcome.value);
    return true;
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
