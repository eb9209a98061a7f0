import { COUNTS_MEMBER } from '../core/contracts/field-selection.js';
import { LABELS_MEMBER } from '../core/schema/object-label.js';
import { labelledFields } from '../core/schema/reachable-models.js';
import type { Resource } from '../core/schema/resource.js';
import type { Schema } from './open-api-types.js';

/** The optional member of an object with the numbers of related objects, by field. */
export function countsProperty({ counts }: Resource): readonly (readonly [string, Schema])[] {
  if (!counts) return [];
  const schema: Schema = {
    type: 'object',
    readOnly: true,
    description: `How many related objects the caller may read, for \`${counts.parameter}=${COUNTS_MEMBER}\`.`,
    properties: Object.fromEntries(counts.names.map((name) => [name, { type: 'integer', minimum: 0 }])),
  };
  return [[COUNTS_MEMBER, schema]];
}

/** The optional member of an object with the labels of related objects, by field. */
export function labelsProperty(resource: Resource): readonly (readonly [string, Schema])[] {
  const { labelsParameter } = resource;
  if (labelsParameter === undefined) return [];
  const names = labelledFields(resource).map(({ field }) => field.name);
  const schema: Schema = {
    type: 'object',
    readOnly: true,
    description: `The labels of related objects, for \`${labelsParameter}=${LABELS_MEMBER}\`.`,
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  };
  return [[LABELS_MEMBER, schema]];
}
