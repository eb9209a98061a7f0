import type { Json } from '../../../core/errors/rest-exception.js';
import type { Field } from '../../../core/schema/field.js';
import type { CreatePlan, FieldValues, UpdatePlan } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';

/** A foreign key of a body that was not looked up, because its model is not served. */
interface UncheckedKey {
  readonly path: readonly string[];
  readonly value: Json;
}

/**
 * The only unchecked key that a foreign key violation can refer to; undefined if it may be another one, or a value of
 * the application.
 */
export function uncheckedKey(
  plan: CreatePlan | UpdatePlan,
  { relations, fields }: ResourceSchema,
): UncheckedKey | undefined {
  const added = plan.kind === 'create' && plan.added.length > 0;
  if (added || plan.hooks.before || plan.hooks.after) return undefined;
  const columns = new Set(
    [...relations.values()].flatMap((relation) =>
      relation.kind === 'to-one' && !relation.target.registered ? relation.on.map(({ near }) => near.id) : [],
    ),
  );
  const [found, ...more] = valuesOf(plan.values, fields, columns);
  return more.length === 0 ? found : undefined;
}

function valuesOf(
  values: FieldValues,
  fields: readonly Field[],
  columns: ReadonlySet<string>,
): readonly UncheckedKey[] {
  return fields.flatMap((field): readonly UncheckedKey[] => {
    const value = values.get(field.name);
    if (value === null || value === undefined) return [];
    if (field.kind === 'embedded')
      return valuesOf(new Map(Object.entries(value)), field.fields, columns).map((inner) => ({
        ...inner,
        path: [field.name, ...inner.path],
      }));
    return field.kind === 'column' && columns.has(field.column.id)
      ? [{ path: [field.name], value: value as Json }]
      : [];
  });
}
