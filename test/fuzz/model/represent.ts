import type { Json, JsonObject } from '../schema.js';
import type { Names } from './access.js';
import { expandedValue } from './expansion.js';
import { fieldsOf, shownValue } from './fields.js';
import type { ReadContext } from './filters.js';
import { shownKeys } from './related-keys.js';
import type { Resource } from './resources.js';
import type { Shape } from './shape.js';
import type { Row } from './state.js';

/** The caller, and the selected fields. */
export interface View extends ReadContext {
  readonly readable: Names;
  readonly shape?: Shape | undefined;
}

/** The JSON object of a row with the fields that the caller may read. */
export function represent(resource: Resource, row: Row, view: View): JsonObject {
  const { state, readable, shape } = view;
  const object: Record<string, Json> = {};
  for (const field of fieldsOf(state, resource, view.actor)) {
    if (!field.isReadable || (readable !== 'all' && !readable.has(field.name))) continue;
    if (shape && !shape.shows(field.name)) continue;
    const expansion = shape?.expansionOf(field.name);
    const expanded = expansion
      ? expandedValue(view, { resource, row }, { field, shape: expansion })
      : undefined;
    const placed = { entity: resource.entity, row };
    const plain = field.keys ? shownKeys(view, placed, field.keys) : shownValue(state, placed, field);
    object[field.name] = expanded ? expanded.value : plain;
    if (expanded?.isCut === true) object[`${field.name}_more`] = true;
  }
  return object;
}
