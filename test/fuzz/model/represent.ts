import type { Json, JsonObject } from '../schema.js';
import type { Names } from './access.js';
import { expandedValue } from './expansion.js';
import { fieldsOf, shownValue } from './fields.js';
import type { Sight } from './filters.js';
import type { Resource } from './resources.js';
import type { Shape } from './shape.js';
import type { Row } from './state.js';

/** Who sees it, and in which shape. */
export interface View extends Sight {
  readonly readable: Names;
  readonly shape?: Shape | undefined;
}

/** A row as an object of JSON, as far as a caller may read it. */
export function represent(resource: Resource, row: Row, view: View): JsonObject {
  const { state, readable, shape } = view;
  const object: Record<string, Json> = {};
  for (const field of fieldsOf(state, resource)) {
    if (!field.isReadable || (readable !== 'all' && !readable.has(field.name))) continue;
    if (shape && !shape.shows(field.name)) continue;
    const expansion = shape?.expansionOf(field.name);
    const expanded = expansion
      ? expandedValue(view, { resource, row }, { field, shape: expansion })
      : undefined;
    object[field.name] = expanded ?? shownValue(state, { entity: resource.entity, row }, field);
  }
  return object;
}
