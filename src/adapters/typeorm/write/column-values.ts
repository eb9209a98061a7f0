import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { emptyFieldErrors } from '../../../core/errors/rest-exception.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ColumnValue, FieldValues, CreatePlan, KeyCheck, UpdatePlan } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { DataKind } from '../../../core/schema/data-type.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { KeyLookup } from '../../../execution/read/key-lookups.js';

/** The values of a new row by the ids of their columns. */
export type NewRow = ReadonlyMap<string, ColumnValue>;

/** Whether TypeORM and `encode` store every value of the column identically. */
export function isStoredAlike({ type }: Column, metadata: ColumnMetadata): boolean {
  switch (type.kind) {
    case 'enum':
      // TypeORM writes numbers as text into its own enum types only.
      return (
        metadata.type === 'enum' ||
        metadata.type === 'simple-enum' ||
        type.values.every((value) => typeof value === 'string')
      );
    case 'json':
      return type.packed !== true;
    default:
      return true;
  }
}

/**
 * The kinds whose values a column stores unchanged: never rounded, padded, or equal to a different value in a
 * comparison.
 */
const KEPT: ReadonlySet<DataKind> = new Set([
  'integer',
  'bigint',
  'boolean',
  'string',
  'uuid',
  'date',
  'enum',
]);

/** Whether the stored value is known without reading it back. */
export function isKeptAsGiven({ type }: Column): boolean {
  return KEPT.has(type.kind) && !(type.kind === 'string' && type.loose === true);
}

/**
 * The values of a body by column, including keys; undefined if only an entity determines what is written. `alike`: the
 * ids of the columns that TypeORM and `encode` write identically.
 */
export function columnsOf(
  values: FieldValues,
  resource: ResourceSchema,
  alike: ReadonlySet<string>,
): readonly ColumnValue[] | undefined {
  const columns: ColumnValue[] = [];
  for (const [name, value] of values) {
    const field = resource.fieldsByName.get(name);
    if (field?.kind === 'column' && alike.has(field.column.id))
      columns.push({ column: field.column, value: value as Json });
    else if (field?.kind === 'to-one' && field.relation.byKey) {
      const { on, target } = field.relation;
      for (const { localColumn, referencedColumn } of on)
        columns.push({
          column: localColumn,
          value:
            value === null
              ? null
              : ((value as readonly Json[])[
                  target.key.columns.findIndex(({ id }) => id === referencedColumn.id)
                ] ?? null),
        });
    } else return undefined;
  }
  return columns;
}

/**
 * What a lookup of the keys of a body will find if a row exists for each of them, and none that is forbidden. A statement that writes only if the rows exist
 * then needs no lookup before it. Undefined if the body has no keys, or if only the database knows the referenced values.
 */
export function expectedKeys({
  keys,
  duplicateReferences,
}: Pick<CreatePlan | UpdatePlan, 'keys' | 'duplicateReferences'>): KeyLookup | undefined {
  if (keys.length === 0 || (duplicateReferences && duplicateReferences.length > 0)) return undefined;
  const referenced = new Map<string, readonly Json[]>();
  for (const check of keys) {
    if (check.forbidden) continue;
    const values: Json[] = [];
    for (const { referencedColumn } of check.relation.on) {
      const value = valueOf(referencedColumn, check);
      if (value === undefined) return undefined;
      values.push(value);
    }
    referenced.set(check.path.join('.'), values);
  }
  return { referenced, errors: emptyFieldErrors() };
}

/** The value of a referenced column, if the body has it in the form in which it is stored. */
function valueOf(target: Column, { relation, key }: KeyCheck): Json | undefined {
  if (!relation.byKey || key.length !== relation.on.length) return undefined;
  if (!isKeptAsGiven(target) || target.type.kind === 'enum') return undefined;
  return key[relation.target.key.columns.findIndex(({ id }) => id === target.id)];
}

/**
 * Entities for validators contain related keys that were looked up; the statement does not check these again. Of a text it
 * checks that the related row has exactly this one, which is stored.
 */
export function withKnownKeys<Plan extends CreatePlan | UpdatePlan>(plan: Plan): Plan {
  const keys = plan.keys.filter(({ relation }) =>
    relation.on.some(({ referencedColumn }) => referencedColumn.type.kind === 'string'),
  );
  return { ...plan, keys };
}
