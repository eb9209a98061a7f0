import type { Json } from '../../../errors/rest-error.js';
import type { Column } from '../../../model/column.js';
import type { ColumnValue, FieldValues } from '../../../model/plan.js';
import type { Resource } from '../../../model/resource.js';
import type { ValueKind } from '../../../model/value-type.js';

/** Kinds whose values TypeORM and `encode` write alike. */
const ALIKE: ReadonlySet<ValueKind> = new Set(['integer', 'bigint', 'boolean', 'string', 'uuid', 'date', 'datetime', 'float', 'decimal']);

export function isAlike({ type }: Column): boolean {
  return ALIKE.has(type.kind);
}

/** The values of a body by their columns, keys included; undefined where only an entity can say what is written. */
export function columnsOf(values: FieldValues, resource: Resource): readonly ColumnValue[] | undefined {
  const columns: ColumnValue[] = [];
  for (const [name, value] of values) {
    const field = resource.fieldsByName.get(name);
    if (field?.kind === 'column' && isAlike(field.column)) columns.push({ column: field.column, value: value as Json });
    else if (field?.kind === 'to-one' && field.relation.byKey) {
      const { on, target } = field.relation;
      for (const { near, far } of on) columns.push({ column: near, value: value === null ? null : ((value as readonly Json[])[target.key.columns.findIndex(({ id }) => id === far.id)] ?? null) });
    } else return undefined;
  }
  return columns;
}
