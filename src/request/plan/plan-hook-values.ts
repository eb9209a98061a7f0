import type { Json } from '../../core/errors/rest-exception.js';
import { outwardType } from '../../core/schema/column.js';
import type { ColumnValue } from '../../core/query/plan.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import { parseKeyValue } from '../../core/values/keys.js';
import { parseValue } from '../../core/values/parse-value.js';

/**
 * Values that the application adds to a new row, by property, in the format of a JSON body; hidden and read-only ones
 * too. Throws a plain error for an unknown name or an invalid value, which is a mistake in the application.
 */
export function planAddedValues(
  values: Readonly<Record<string, Json>>,
  resource: ResourceSchema,
): readonly ColumnValue[] {
  return Object.entries(values).flatMap(([name, value]) => addedValue(name, value, resource));
}

function addedValue(name: string, value: Json, resource: ResourceSchema): readonly ColumnValue[] {
  const relation = resource.relations.get(name);
  // The join columns of a relation have its path.
  const isComposite = relation?.kind === 'to-one' && relation.on.length > 1;
  const column = isComposite ? undefined : [...resource.columns.values()].find((each) => each.path === name);
  if (column) {
    if (value === null) return [{ column, value }];
    const outcome = parseValue(value, outwardType(column));
    if (outcome.errors) throw misfit(name, value, outcome.errors);
    return [{ column, value: outcome.value }];
  }
  if (relation?.kind !== 'to-one')
    throw new Error(
      `valuesOnCreate names "${name}", which is neither a column nor a forward relation of ${resource.label}.`,
    );
  if (!relation.byKey)
    throw new Error(
      `valuesOnCreate names "${name}", which does not refer to the key of ${relation.target.label}: set it on the entity in beforeWrite.`,
    );
  if (value === null) return relation.on.map((pair) => ({ column: pair.near, value }));
  const outcome = parseKeyValue(value, relation.target.key);
  if (outcome.errors) throw misfit(name, value, outcome.errors);
  const { columns } = relation.target.key;
  return relation.on.map((pair) => ({
    column: pair.near,
    value: outcome.value[columns.findIndex((each) => each.id === pair.far.id)] ?? null,
  }));
}

function misfit(name: string, value: Json, errors: readonly string[]): Error {
  return new Error(
    `valuesOnCreate gives ${JSON.stringify(value)} for "${name}", which does not fit: ${errors.join(' ')}`,
  );
}
