import type { KeysField, NestedField } from '../core/schema/field.js';
import { MAX_RELATED_KEYS } from '../core/schema/limits.js';
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
