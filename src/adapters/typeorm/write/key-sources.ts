import type { FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import type { FieldValues } from '../../../core/query/plan.js';
import type { ColumnField, Field } from '../../../core/schema/field.js';
import type { ToOneRelation } from '../../../core/schema/relation.js';
import { toFieldValues } from '../../../core/values/duplicate-references.js';
import type { KeySource } from './decide-columns.js';
import type { ReferencedValues } from '../../../execution/read/key-lookups.js';

/** The keys in a body, and the rows that were found for them. */
export interface Keys {
  readonly values: FieldValues;
  readonly referenced: ReferencedValues;
  /** The wrong values of the body, by field. */
  readonly errors?: FieldErrors | undefined;
  readonly sent?: Readonly<Record<string, unknown>> | undefined;
}

/** The keys of a body, by a relation or by its plain column, including those in embedded objects. */
export function keySources(
  fields: readonly Field[],
  { values, referenced, ...body }: Keys,
  within: readonly string[] = [],
): readonly KeySource[] {
  return fields.flatMap((field): readonly KeySource[] => {
    const value = values.get(field.name);
    const path = [...within, field.name];
    if (value === undefined) return wrongKey(field, path, body);
    if (field.kind === 'embedded')
      return keySources(field.fields, { values: toFieldValues(value), referenced }, path);
    const relation = relationOf(field);
    if (!relation) return [];
    if (value === null) return [{ path, relation, values: null }];
    const found = referenced.get(path.join('.'));
    const known =
      found && new Map(relation.on.map(({ localColumn }, at) => [localColumn.id, found[at] ?? null]));
    return [{ path, relation, values: known }];
  });
}

/** A key of the body that is no key at all has no value. */
function wrongKey(
  field: Field,
  path: readonly string[],
  { errors, sent }: Pick<Keys, 'errors' | 'sent'>,
): readonly KeySource[] {
  const relation = relationOf(field);
  const isWrong = errors?.[field.name] !== undefined && sent?.[field.name] !== undefined;
  return relation && isWrong ? [{ path, relation, values: undefined }] : [];
}

function relationOf(field: Field): ToOneRelation | undefined {
  if (field.kind === 'to-one') return field.relation;
  return field.kind === 'column' ? field.refers : undefined;
}

/** A column of the object's own key in a body. */
export function ownKeySource({ name, column }: ColumnField, { values }: Keys): readonly KeySource[] {
  const value = values.get(name) as Json | undefined;
  return value === undefined
    ? []
    : [{ path: [name], relation: undefined, values: new Map([[column.id, value]]) }];
}
