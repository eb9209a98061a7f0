import type { RestifyOptions } from '../decorators/model-options.js';
import { MAX_EXPANDED_CHILDREN, MAX_EXPANDED_OBJECTS } from '../core/schema/limits.js';
import type { QueryLimits } from '../core/schema/limits.js';
import type { FieldSelectionOptions } from '../core/contracts/field-selection.js';
import type { ParameterNames } from '../core/schema/resource-schema.js';
import type { RestifyDefaults } from '../restify.options.js';

/** The options that rule a model: its own, and those of its prefix where it has none. */
export interface EffectiveOptions extends RestifyOptions {
  readonly returnDeleted: boolean;
  readonly strict: boolean | 'writes';
  readonly queryLimits: QueryLimits;
  readonly parameters: ParameterNames;
  /** `selects`: whether clients may select fields. The other settings also rule the expansion of relations. */
  readonly shape: Required<FieldSelectionOptions> & { readonly selects: boolean };
}

const SHAPE: Required<FieldSelectionOptions> = {
  fieldsParameter: 'fields',
  omitParameter: 'omit',
  expandParameter: 'expand',
  maxChildren: MAX_EXPANDED_CHILDREN,
  maxObjects: MAX_EXPANDED_OBJECTS,
};

/** Each option of a model replaces the one of its prefix; limits, names of parameters and settings of `shape` one by one. */
export function effectiveOptions(own: RestifyOptions, defaults: RestifyDefaults): EffectiveOptions {
  return {
    ...defaults,
    ...given(own),
    queryLimits: { ...defaults.queryLimits, ...own.queryLimits },
    parameters: { ...defaults.parameters, ...own.parameters },
    shape: {
      ...SHAPE,
      ...settingsOf(defaults.shape),
      ...settingsOf(own.shape),
      selects: (own.shape ?? defaults.shape ?? false) !== false,
    },
  };
}

/** Without options that are left out, or null, which is reported after compilation. */
function given(own: RestifyOptions): RestifyOptions {
  return Object.fromEntries(
    Object.entries(own).filter(([, value]: [string, unknown]) => value !== undefined && value !== null),
  );
}

function settingsOf(shape: RestifyOptions['shape'] | null): Partial<Required<FieldSelectionOptions>> {
  const settings = typeof shape === 'object' && shape !== null ? shape : {};
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
