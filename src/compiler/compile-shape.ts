import type { RestifyOptions } from '../decorators/model-options.js';
import { MAX_EXPANDED_CHILDREN, MAX_EXPANDED_OBJECTS } from '../core/schema/limits.js';
import type { Expandable, FieldSelectionOptions, FieldSelection } from '../core/contracts/field-selection.js';
import type { RestifyDefaults } from '../restify.options.js';

/** Compiles field selection and expansion; undefined if both are disabled. Options of a model override those of its prefix. */
export function compileFieldSelection(
  { shape, expandable = [] }: RestifyOptions,
  defaults: Pick<RestifyDefaults, 'shape'>,
): FieldSelection | undefined {
  const selects = shape ?? defaults.shape ?? false;
  const paths = stringsIn(expandable);
  if (selects === false && paths.length === 0) return undefined;
  const settings = { ...DEFAULT_SETTINGS, ...settingsOf(defaults.shape), ...settingsOf(shape) };
  return {
    fieldsParameter: selects === false ? undefined : settings.fieldsParameter,
    omitParameter: selects === false ? undefined : settings.omitParameter,
    expandParameter: paths.length === 0 ? undefined : settings.expandParameter,
    expandable: treeOf(paths),
    maxChildren: settings.maxChildren,
    maxObjects: settings.maxObjects,
  };
}

const DEFAULT_SETTINGS: Required<FieldSelectionOptions> = {
  fieldsParameter: 'fields',
  omitParameter: 'omit',
  expandParameter: 'expand',
  maxChildren: MAX_EXPANDED_CHILDREN,
  maxObjects: MAX_EXPANDED_OBJECTS,
};

function stringsIn(given: unknown): readonly string[] {
  return Array.isArray(given) ? given.filter((each): each is string => typeof each === 'string') : [];
}

function settingsOf(
  shape: boolean | FieldSelectionOptions | undefined,
): Partial<Required<FieldSelectionOptions>> {
  const given = typeof shape === 'object' ? shape : {};
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

type Growing = Map<string, Growing>;

/** Every prefix of an expandable path is expandable too. */
function treeOf(paths: readonly string[]): Expandable {
  const tree: Growing = new Map();
  for (const path of paths) {
    let at = tree;
    for (const name of path.split('.')) {
      const next = at.get(name) ?? new Map<string, Growing>();
      at.set(name, next);
      at = next;
    }
  }
  return tree;
}
