import type { Json } from '../../core/errors/rest-exception.js';
import type {
  FilterBackend,
  FilterContext,
  FilterResult,
  ListKind,
  TypedParameter,
} from '../../core/contracts/filters.js';
import type { RowFilter } from '../../core/query/row-filter.js';
import { parameterType } from '../../core/contracts/filters.js';
import { parseText } from '../../core/values/parse-text.js';
import { resolveRowFilter, UnfitValue } from '../../core/query/resolve-row-filter.js';
import { invalid, valid } from '../../core/values/parse-result.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { joinOutcomes, parseValues } from './parse-filter.js';
import type { PlacedCondition } from './parse-filter.js';

/** Parameters of a `FilterSet` by name: a type, and the condition for a value. */
export type FilterParameters = Readonly<Record<string, TypedParameter<RowFilter | Promise<RowFilter>>>>;

/** The function of a `TypedParameter`, called with a value of its type. */
type Rows = (value: Json, context: FilterContext) => RowFilter | Promise<RowFilter>;

/**
 * A filter backend with typed parameters, instantiated by Nest, so that it can inject providers. It supplements or replaces
 * `FieldFilter`. Callers can infer the columns that its functions compare: unlike the option `filters` of the model, it does
 * not respect grants on fields.
 *
 * ```ts
 * @Injectable()
 * export class ChoiceFilters extends FilterSet {
 *   readonly filters: FilterParameters = {
 *     popular: { type: 'boolean', rows: (yes) => where('votes', yes ? 'gte' : 'lt', 100) },
 *   };
 * }
 * ```
 */
export abstract class FilterSet implements FilterBackend {
  abstract readonly filters: FilterParameters;

  /** Throws `InvalidInput` with the errors of all invalid values. Empty values are ignored. */
  async filter(context: FilterContext): Promise<FilterResult> {
    const outcomes: [string, Outcome<PlacedCondition>][] = [];
    for (const [name, parameter] of Object.entries(this.filters)) {
      const text = context.parameters.get(name) ?? '';
      if (text === '') continue;
      outcomes.push([name, await parseParameter(text, parameter, context)]);
    }
    return { rows: joinOutcomes(outcomes) };
  }

  parameters(): readonly string[] {
    return Object.keys(this.filters);
  }

  lists(): ReadonlyMap<string, ListKind> {
    return new Map(
      Object.entries(this.filters).flatMap(([name, { list }]) =>
        list === true ? [[name, 'values'] as const] : [],
      ),
    );
  }
}

async function parseParameter(
  text: string,
  parameter: FilterParameters[string],
  context: FilterContext,
): Promise<Outcome<PlacedCondition>> {
  const { resource } = context;
  const type = parameterType(parameter);
  const outcome =
    parameter.list === true ? parseValues(text, type, resource.queryLimits.values) : parseText(text, type);
  if (outcome.errors) return outcome;
  try {
    const rows = await (parameter.rows as Rows)(outcome.value, context);
    return valid({ some: [], condition: resolveRowFilter(rows, resource) });
  } catch (error) {
    if (error instanceof UnfitValue) return invalid(...error.messages);
    throw error;
  }
}
