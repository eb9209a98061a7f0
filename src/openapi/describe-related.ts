import { isNested } from '../core/schema/field.js';
import type { KeysField, NestedField } from '../core/schema/field.js';
import { MAX_RELATED_KEYS } from '../core/schema/limits.js';
import { resourceOf } from '../core/schema/resource.js';
import type { Resource } from '../core/schema/resource.js';
import type { PossibleErrors } from './describe-errors.js';
import { givenKeySchema } from './describe-value.js';
import type { Schema } from './open-api-types.js';

type Writing = 'create' | 'update' | 'partialUpdate';

/** The schema of one child. */
export type ChildSchema = (field: NestedField, verb: 'create' | 'update') => Schema;

/** The children of a new object; the verbs of a change. What reads show in the field is ignored. */
export function childrenBody(field: NestedField, operation: Writing, childSchema: ChildSchema): Schema {
  const { verbs, isOne, relation } = field.nested;
  const shown: Schema = isOne
    ? { type: ['string', 'number', 'null'] }
    : { type: 'string', pattern: `/${relation.name}/$` };
  const body =
    operation === 'create' ? listOf(field, childSchema(field, 'create')) : verbsBody(field, childSchema);
  const isTaken = operation !== 'create' || verbs.has('create');
  return { title: field.label, anyOf: isTaken ? [body, shown] : [shown] };
}

function listOf({ nested: { isOne } }: NestedField, items: Schema): Schema {
  return isOne ? items : { type: 'array', items };
}

function verbsBody(field: NestedField, childSchema: ChildSchema): Schema {
  const { verbs, isOne, relation } = field.nested;
  const keys: Schema = isOne
    ? { type: 'boolean', const: true }
    : { type: 'array', items: givenKeySchema(relation.target.key) };
  const properties = [...verbs].map((verb) => [
    verb,
    verb === 'delete' ? keys : listOf(field, childSchema(field, verb)),
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties) as Readonly<Record<string, Schema>>,
    ...(isOne ? { minProperties: 1, maxProperties: 1 } : {}),
    additionalProperties: false,
  };
}

/** The keys, or those to add and to remove. A link that the client has read before the field had keys is ignored. */
export function relatedKeysBody({ relation }: KeysField, operation: Writing): Schema {
  const keys: Schema = {
    type: 'array',
    items: givenKeySchema(relation.target.key),
    maxItems: MAX_RELATED_KEYS,
  };
  const changes: Schema = {
    type: 'object',
    properties: { add: keys, remove: keys },
    additionalProperties: false,
  };
  const link: Schema = { type: 'string', pattern: `/${relation.name}/$` };
  return { anyOf: [keys, ...(operation === 'create' ? [] : [changes]), link] };
}

/** The errors of children in the bodies of a model, beside those of the model itself. */
export function childErrors(parent: Resource, isNew: boolean): PossibleErrors {
  const fields = parent.fields.filter(isNested);
  const children = fields.map(({ nested }) => resourceOf(nested.relation.target));
  const decides = ({ permission }: Resource): boolean => permission.kind !== 'anyone';
  const isChanged = fields.some(({ nested: { verbs } }) => verbs.has('update') || verbs.has('delete'));
  return {
    403: decides(parent) || children.some((child) => decides(child) || child.overlapping.length > 0),
    404: children.some(decides),
    // Rows may refer to children that are changed or deleted.
    409: isChanged && !isNew,
    429: children.some(({ throttle }) => throttle !== undefined),
  };
}
