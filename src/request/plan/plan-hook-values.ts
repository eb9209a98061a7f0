import type { Json } from '../../core/errors/rest-exception.js';
import { outwardType } from '../../core/schema/column.js';
import type { Column } from '../../core/schema/column.js';
import type { ColumnValue } from '../../core/query/plan.js';
import type { ToOneRelation } from '../../core/schema/relation.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import { parseKeyValue } from '../../core/values/keys.js';
import { parseValue } from '../../core/values/parse-value.js';

/** A property that the application sets, and the columns that it decides about. */
interface AddedProperty {
  readonly name: string;
  readonly values: readonly ColumnValue[];
}

/**
 * Values that the application adds to a new row, by property, in the format of a JSON body; hidden and read-only ones
 * too. Columns of the URL (`fixed`) are left out. Throws a plain error for an unknown name, an invalid value, or two values of one
 * column, which is a mistake in the application.
 */
export function planAddedValues(
  given: Readonly<Record<string, Json>>,
  { resource, fixed }: { readonly resource: ResourceSchema; readonly fixed: readonly ColumnValue[] },
): readonly ColumnValue[] {
  const byUrl = new Map(fixed.map(({ column, value }) => [column.id, value]));
  const added = new Map<string, ColumnValue>();
  for (const [name, value] of Object.entries(given)) {
    const property = { name, values: addedValues(name, value, resource) };
    const isOfUrl = property.values.every(({ column }) => byUrl.has(column.id));
    for (const each of isOfUrl ? [] : property.values) {
      const { id } = each.column;
      if (byUrl.has(id)) assertSame(each, byUrl.get(id), { property, resource, elsewhere: 'the URL has' });
      else if (added.has(id))
        assertSame(each, added.get(id)?.value, { property, resource, elsewhere: 'it gives elsewhere' });
      else added.set(id, each);
    }
  }
  return [...added.values()];
}

function assertSame(
  { column, value }: ColumnValue,
  other: Json | undefined,
  {
    property,
    resource,
    elsewhere,
  }: { readonly property: AddedProperty; readonly resource: ResourceSchema; readonly elsewhere: string },
): void {
  if (String(value) !== String(other))
    throw new Error(
      `valuesOnCreate gives "${property.name}" of ${resource.className} another value of the column "${column.id}" than ${elsewhere}.`,
    );
}

function addedValues(name: string, value: Json, resource: ResourceSchema): readonly ColumnValue[] {
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
      `valuesOnCreate names "${name}", which is neither a column nor a forward relation of ${resource.className}.`,
    );
  if (!relation.byKey)
    throw new Error(
      `valuesOnCreate names "${name}", which does not refer to the key of ${relation.target.className}: set it on the entity in beforeWrite.`,
    );
  if (value === null)
    return emptiedColumns(relation, resource).map((localColumn) => ({ column: localColumn, value }));
  const outcome = parseKeyValue(value, relation.target.key);
  if (outcome.errors) throw misfit(name, value, outcome.errors);
  const { columns } = relation.target.key;
  return relation.on.map((pair) => ({
    column: pair.localColumn,
    value: outcome.value[columns.findIndex((each) => each.id === pair.referencedColumn.id)] ?? null,
  }));
}

/** The columns of a relation that no other one has, or all, if it has none. */
function emptiedColumns(relation: ToOneRelation, { relations }: ResourceSchema): readonly Column[] {
  const others = [...relations.values()].flatMap((each) =>
    each.kind === 'to-one' && each !== relation ? each.on.map(({ localColumn }) => localColumn.id) : [],
  );
  const all = relation.on.map(({ localColumn }) => localColumn);
  const own = all.filter(({ id }) => !others.includes(id));
  return own.length > 0 ? own : all;
}

function misfit(name: string, value: Json, errors: readonly string[]): Error {
  return new Error(
    `valuesOnCreate gives ${JSON.stringify(value)} for "${name}", which does not fit: ${errors.join(' ')}`,
  );
}
