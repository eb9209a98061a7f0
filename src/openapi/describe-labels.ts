import type { Operation } from '../core/schema/operation.js';
import { LABELS_MEMBER } from '../core/schema/object-label.js';
import { labelledFields } from '../core/schema/reachable-models.js';
import type { Resource } from '../core/schema/resource.js';
import type { Parameter, Schema } from './open-api-types.js';

/** The query parameter that adds the labels of related objects. */
export function labelsParameterOf(
  { labelsParameter }: Resource,
  operation: Operation | undefined,
): readonly Parameter[] {
  if (labelsParameter === undefined || (operation !== 'list' && operation !== 'retrieve')) return [];
  return [
    {
      name: labelsParameter,
      in: 'query',
      required: false,
      description: `\`${LABELS_MEMBER}\` adds the labels of related objects that the caller may see.`,
      schema: { type: 'string', enum: [LABELS_MEMBER] },
    },
  ];
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
