import type { Json } from '../../errors/rest-error.js';
import type { ColumnValue, CreatePlan } from '../../model/plan.js';

/** The values by which the row is found that is there already; undefined where one of these fields is not said, or null: nothing is equal to it. */
export function upsertedValues(
  { resource, values, fixed, added }: CreatePlan,
  names: readonly string[],
): readonly ColumnValue[] | undefined {
  const found: ColumnValue[] = [];
  for (const name of names) {
    const field = resource.fieldsByName.get(name);
    const columns =
      field?.kind === 'column'
        ? [field.column]
        : field?.kind === 'to-one'
          ? field.relation.on.map(({ near }) => near)
          : [];
    if (columns.length === 0) return undefined;
    const given = values.get(name);
    const said =
      given === undefined || given === null
        ? []
        : field?.kind === 'to-one'
          ? (given as readonly Json[])
          : [given as Json];
    for (const [index, column] of columns.entries()) {
      // As of a new row: what the URL says first, then what the application says.
      const value = [...fixed, ...added].find((each) => each.column.id === column.id)?.value ?? said[index];
      if (value === undefined || value === null) return undefined;
      found.push({ column, value });
    }
  }
  return found;
}
