import type { RestifyOptions } from '../decorators/restify-options.js';
import { MAX_EXPANDED_CHILDREN, MAX_EXPANDED_OBJECTS } from '../core/schema/limits.js';
import type { Expandable, FieldSelectionOptions, FieldSelection } from '../core/contracts/field-selection.js';
import type { RestifyDefaults } from '../restify.options.js';

/** Compiles field selection and expansion; undefined if both are disabled. Options of a model override those of its prefix. */
export function compileFieldSelection(
  { shape, expandable = [] }: RestifyOptions,
  defaults: Pick<RestifyDefaults, 'shape'>,
): FieldSelection | undefined {
  const chooses = shape ?? defaults.shape ?? false;
  const paths = Array.isArray(expandable)
    ? (expandable as readonly unknown[]).filter((path) => typeof path === 'string')
    : [];
  if (chooses === false && paths.length === 0) return undefined;
  const {
    fieldsParameter = 'fields',
    omitParameter = 'omit',
    expandParameter = 'expand',
    maxChildren,
    maxObjects,
  } = { ...settingsOf(defaults.shape), ...settingsOf(shape) };
  return {
    fieldsParameter: chooses === false ? undefined : fieldsParameter,
    omitParameter: chooses === false ? undefined : omitParameter,
    expandParameter: paths.length === 0 ? undefined : expandParameter,
    expandable: treeOf(paths),
    maxChildren: maxChildren ?? MAX_EXPANDED_CHILDREN,
    maxObjects: maxObjects ?? MAX_EXPANDED_OBJECTS,
  };
}

function settingsOf(shape: boolean | FieldSelectionOptions | undefined): FieldSelectionOptions {
  return typeof shape === 'object' ? shape : {};
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
