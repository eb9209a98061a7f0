import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { conjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type {
  FilterBackend,
  FilterContext,
  FilterResult,
  ListKind,
} from '../../core/contracts/filter-backend.js';
import type { TypedParameter } from '../../core/contracts/custom-filter.js';
import type { RowFilter } from '../../core/query/row-filter.js';
import { parameterType } from '../../core/values/parameter-type.js';
import { parseText } from '../../core/values/parse-text.js';
import { resolveRowFilter, UnfitValue } from '../../core/query/resolve-row-filter.js';
import { parseValues } from './parse-filter.js';

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
    const errors = emptyFieldErrors();
    const conditions: Condition[] = [];
    for (const [name, parameter] of Object.entries(this.filters)) {
      const text = context.parameters.get(name) ?? '';
      if (text === '') continue;
      const outcome = await parameterCondition(text, parameter, context);
      if (Array.isArray(outcome)) errors[name] = outcome;
      else conditions.push(outcome);
    }
    if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
    return { rows: conjunction(conditions) };
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

/** The condition, or the errors of the text. */
async function parameterCondition(
  text: string,
  parameter: FilterParameters[string],
  context: FilterContext,
): Promise<Condition | string[]> {
  const { resource } = context;
  const type = parameterType(parameter);
  const outcome =
    parameter.list === true ? parseValues(text, type, resource.queryLimits.values) : parseText(text, type);
  if (outcome.errors) return [...outcome.errors];
  try {
    return resolveRowFilter(await (parameter.rows as Rows)(outcome.value, context), resource);
  } catch (error) {
    if (error instanceof UnfitValue) return [...error.messages];
    throw error;
  }
}
