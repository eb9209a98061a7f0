import type { Json } from '../../core/errors/rest-exception.js';
import type { Column } from '../../core/schema/column.js';
import type { Field } from '../../core/schema/field.js';
import type { ToOneRelation } from '../../core/schema/relation.js';
import type { ColumnValue, CreatePlan, FieldValues } from '../../core/query/plan.js';

/**
 * The values that identify the existing row of an upsert; undefined if one of these fields is absent or null, because
 * nothing equals null.
 */
export function upsertedValues(
  { resource, values, fixed, added }: CreatePlan,
  names: readonly string[],
): readonly ColumnValue[] | undefined {
  const identifying: ColumnValue[] = [];
  for (const name of names) {
    const field = resource.fieldsByName.get(name);
    const columns = columnsOfField(field);
    if (!field || columns.length === 0) return undefined;
    const bodyValues = bodyValuesOf(field, values);
    for (const [index, column] of columns.entries()) {
      // In the precedence of a new row: URL, then application, then body.
      const higher = [...fixed, ...added].find((each) => each.column.id === column.id)?.value;
      const given = bodyValues[index];
      // No row is named by both together: the error of a new row is reported.
      if (columns.length > 1 && isDefinite(higher) && isDefinite(given) && String(higher) !== String(given))
        return undefined;
      const value = higher ?? given;
      const stored = storedValue(value, column);
      if (stored === null) return undefined;
      identifying.push({ column, value: stored });
    }
  }
  return identifying;
}

function isDefinite(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null;
}

function columnsOfField(field: Field | undefined): readonly Column[] {
  switch (field?.kind) {
    case 'column':
      return [field.column];
    case 'to-one':
      return field.relation.on.map(({ near }) => near);
    default:
      return [];
  }
}

/**
 * Rows are matched by the value that a transformer stores. Null if there is no value, or if the transformer stores none or
 * throws, which is then an error of the body.
 */
function storedValue(value: Json | undefined, { transform }: Column): Json {
  if (value === undefined || value === null) return null;
  if (!transform) return value;
  const outcome = transform.stored(value);
  return outcome.errors ? null : outcome.value;
}

/** The values of the columns of a field, or of the foreign key column that bodies may use instead. */
function bodyValuesOf(field: Field, values: FieldValues): readonly Json[] {
  const given = values.get(field.name);
  if (given !== undefined && given !== null)
    return field.kind === 'to-one' ? columnsOfKey(given as readonly Json[], field.relation) : [given as Json];
  const byColumn =
    field.kind === 'to-one' && field.foreignKeyAlias !== undefined
      ? values.get(field.foreignKeyAlias)
      : undefined;
  return byColumn === undefined || byColumn === null ? [] : [byColumn as Json];
}

/** The values of a key in the order of the relation's columns. */
function columnsOfKey(key: readonly Json[], { on, target, byKey }: ToOneRelation): readonly Json[] {
  return byKey
    ? on.map(({ far }) => key[target.key.columns.findIndex(({ id }) => id === far.id)] ?? null)
    : key;
}
