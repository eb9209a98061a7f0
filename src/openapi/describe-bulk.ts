import { isOfMany, KEYS_PARAMETER, takesMany, UPSERT_PARAMETER } from '../core/contracts/bulk.js';
import type { Operation as OperationName } from '../core/schema/operation.js';
import { parameterName } from '../core/schema/parameter-names.js';
import type { Resource } from '../core/schema/resource.js';
import { keyFieldsOf } from '../request/plan/key-fields.js';
import type { DescribedRoute } from './described-route.js';
import { filterParameters } from './describe-list.js';
import { keySchema } from './describe-value.js';
import type { Parameter, Schema } from './open-api-types.js';

/** The number of objects that an operation may write. */
export type Amount = 'one' | 'one-or-many' | 'many';

export function amountOf({
  route,
  operation,
  action,
}: Pick<DescribedRoute, 'route' | 'operation' | 'action'>): Amount {
  if (!operation || action || !takesMany(route, operation)) return 'one';
  return isOfMany(route, operation) ? 'many' : 'one-or-many';
}

/** The schema of one object, of a list, or of either. */
export function schemaOfAmount(one: Schema, amount: Amount, { bulk }: Resource): Schema {
  const list: Schema = { type: 'array', items: one, ...(bulk ? { maxItems: bulk.max } : {}) };
  if (amount === 'one') return one;
  return amount === 'many' ? list : { anyOf: [one, list] };
}

/** The query parameters that select the objects of a bulk write. */
export function bulkQuery(
  resource: Resource,
  operation: OperationName,
  amount: Amount,
): readonly Parameter[] {
  if (amount === 'many')
    return [{ ...keysParameter(resource), required: false }, ...filterParameters(resource).map(notEmpty)];
  if (
    amount === 'one-or-many' &&
    operation === 'create' &&
    resource.bulk &&
    resource.bulk.upsert.length > 0
  ) {
    return [
      {
        name: parameterName(UPSERT_PARAMETER, resource),
        in: 'query',
        required: false,
        schema: { type: 'boolean' },
        description: `An object with the same ${resource.bulk.upsert.map((name) => `\`${name}\``).join(' and ')} is updated if it exists.`,
      },
    ];
  }
  return [];
}

/** Requires a value: elsewhere an empty parameter is ignored, but here that would select all objects. Applies to each value of a repeated parameter. */
function notEmpty(parameter: Parameter): Parameter {
  const { schema } = parameter;
  const { items } = schema;
  if (schema.type === 'array' && isTextSchema(items))
    return { ...parameter, schema: { ...schema, items: { minLength: 1, ...items } } };
  return isTextSchema(schema) ? { ...parameter, schema: { minLength: 1, ...schema } } : parameter;
}

function isTextSchema(schema: unknown): schema is Schema {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'string';
}

/** A key in a comma-separated list. */
function listedKeySchema(key: Resource['key']): Schema {
  const schema = keySchema(key);
  const isFree = schema.type === 'string' && schema.format === undefined && schema.pattern === undefined;
  return isFree ? { ...schema, pattern: '^[^,]+$' } : schema;
}

function keysParameter(resource: Resource): Omit<Parameter, 'required'> {
  const { key, bulk } = resource;
  const description =
    key.columns.length === 1
      ? 'The keys of the objects, with commas between them.'
      : 'The keys of the objects, as they stand in their URLs, with semicolons between them.';
  const schema: Schema =
    key.columns.length === 1
      ? { type: 'array', items: listedKeySchema(key), minItems: 1, ...(bulk ? { maxItems: bulk.max } : {}) }
      : { type: 'string' };
  return {
    name: parameterName(KEYS_PARAMETER, resource),
    in: 'query',
    description,
    schema,
    ...(key.columns.length === 1 ? { style: 'form', explode: false } : {}),
  };
}

/** An item of a list of changes, with its key. */
export function withKey(change: Schema, resource: Resource): Schema {
  const fields = keyFieldsOf(resource);
  const keys = Object.fromEntries(fields.map(({ name, key }) => [name, keySchema(key)]));
  return {
    ...change,
    title: `${String(change.title)} in a list`,
    properties: { ...keys, ...(change.properties as Readonly<Record<string, Schema>> | undefined), ...keys },
    required: fields.map(({ name }) => name),
  };
}
