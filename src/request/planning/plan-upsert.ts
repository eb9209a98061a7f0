import type { Json } from '../../errors/rest-error.js';
import { allOf, equals } from '../../model/condition.js';
import type { Condition } from '../../model/condition.js';
import type { CreatePlan } from '../../model/plan.js';

/** The row that has the values of these fields already; undefined where one of them is not said, or null: nothing is equal to it. */
export function planUpsert({ resource, values, fixed, added }: CreatePlan, names: readonly string[]): Condition | undefined {
  const conditions: Condition[] = [];
  for (const name of names) {
    const field = resource.fieldsByName.get(name);
    const columns = field?.kind === 'column' ? [field.column] : field?.kind === 'to-one' ? field.relation.on.map(({ near }) => near) : [];
    if (columns.length === 0) return undefined;
    const given = values.get(name);
    const said = given === undefined || given === null ? [] : field?.kind === 'to-one' ? (given as readonly Json[]) : [given as Json];
    for (const [index, column] of columns.entries()) {
      // As of a new row: what the URL says first, then what the application says.
      const value = [...fixed, ...added].find((each) => each.column.id === column.id)?.value ?? said[index];
      if (value === undefined || value === null) return undefined;
      conditions.push(equals(column, value));
    }
  }
  return allOf(conditions);
}
