import type { Json } from '../../../core/errors/rest-exception.js';
import type { Column } from '../../../core/schema/column.js';
import type { ColumnValue, FieldValues } from '../../../core/query/plan.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { DataKind } from '../../../core/schema/data-type.js';

/** Kinds whose values TypeORM and `encode` write alike. */
const ALIKE: ReadonlySet<DataKind> = new Set([
  'integer',
  'bigint',
  'boolean',
  'string',
  'uuid',
  'date',
  'datetime',
  'float',
  'decimal',
]);

export function isAlike({ type }: Column): boolean {
  return ALIKE.has(type.kind);
}

/** Kinds whose values a column keeps as they are given: none is rounded, padded, or another value to its own `=`. */
const KEPT: ReadonlySet<DataKind> = new Set([
  'integer',
  'bigint',
  'boolean',
  'string',
  'uuid',
  'date',
  'enum',
]);

/** Whether what the database has stored needs no look. */
export function isKeptAsGiven({ type }: Column): boolean {
  return KEPT.has(type.kind) && !(type.kind === 'string' && type.loose === true);
}

/** The values of a body by their columns, keys included; undefined where only an entity can say what is written. */
export function columnsOf(values: FieldValues, resource: Resource): readonly ColumnValue[] | undefined {
  const columns: ColumnValue[] = [];
  for (const [name, value] of values) {
    const field = resource.fieldsByName.get(name);
    if (field?.kind === 'column' && isAlike(field.column))
      columns.push({ column: field.column, value: value as Json });
    else if (field?.kind === 'to-one' && field.relation.byKey) {
      const { on, target } = field.relation;
      for (const { near, far } of on)
        columns.push({
          column: near,
          value:
            value === null
              ? null
              : ((value as readonly Json[])[target.key.columns.findIndex(({ id }) => id === far.id)] ?? null),
        });
    } else return undefined;
  }
  return columns;
}
