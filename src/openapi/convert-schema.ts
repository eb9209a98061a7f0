type Plain = Readonly<Record<string, unknown>>;

/** Converts keywords of OpenAPI 3.0 to 3.1: `nullable`, and exclusive bounds as flags. Everything else is unchanged. */
export function toOpenApi31(value: unknown): unknown {
  return converted(value, false);
}

/** `isNamed`: the keys are names of the author instead of keywords. */
function converted(value: unknown, isNamed: boolean): unknown {
  if (Array.isArray(value)) return value.map(toOpenApi31);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  const all = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      !isNamed && DATA.has(name) ? each : converted(each, !isNamed && NAMED.has(name)),
    ]),
  );
  return isNamed ? all : withoutFlags(withNull(all));
}

/** Keywords whose values are not schemas. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const']);

const NAMED = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'schemas',
  'responses',
  'paths',
  'headers',
  'content',
]);

function withNull({ nullable, ...schema }: Plain): Plain {
  // Below `properties`, a key with this name is a schema.
  if (typeof nullable !== 'boolean') return nullable === undefined ? schema : { ...schema, nullable };
  if (!nullable) return schema;
  const { type, enum: values, $ref, allOf, ...others } = schema;
  // The referenced schema does not allow null.
  if ($ref !== undefined) return { ...others, anyOf: [{ $ref }, { type: 'null' }] };
  if (allOf !== undefined) return { ...others, anyOf: [{ allOf }, { type: 'null' }] };
  const types = Array.isArray(type) ? (type as readonly unknown[]) : [type];
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [...new Set([...types, 'null'])] }),
    ...(Array.isArray(values) ? { enum: [...new Set([...(values as readonly unknown[]), null])] } : {}),
  };
}

function withoutFlags(schema: Plain): Plain {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...others } = schema;
  if (typeof exclusiveMinimum !== 'boolean' && typeof exclusiveMaximum !== 'boolean') return schema;
  return {
    ...others,
    ...bound('Minimum', minimum, exclusiveMinimum),
    ...bound('Maximum', maximum, exclusiveMaximum),
  };
}

function bound(name: 'Minimum' | 'Maximum', limit: unknown, exclusive: unknown): Plain {
  const inclusive = limit === undefined ? {} : { [name.toLowerCase()]: limit };
  if (typeof exclusive !== 'boolean')
    return { ...inclusive, ...(exclusive === undefined ? {} : { [`exclusive${name}`]: exclusive }) };
  return exclusive && limit !== undefined ? { [`exclusive${name}`]: limit } : inclusive;
}
