import type { ChoiceDescription } from '../../core/contracts/field-description.js';
import type { ReadableFieldDescription } from '../../core/contracts/route-description.js';
import type { DataType } from '../../core/schema/data-type.js';
import type { Field } from '../../core/schema/field.js';

/** The fields that the caller may read, by name, in the order of bodies. */
export function describeReadableFields(
  fields: readonly Field[],
): Readonly<Record<string, ReadableFieldDescription>> {
  return Object.fromEntries(
    fields.filter(({ readable }) => readable).map((field) => [field.name, describeField(field)]),
  );
}

function describeField(field: Field): ReadableFieldDescription {
  const { label, nullable } = field;
  switch (field.kind) {
    case 'column':
      return { kind: field.type.kind, label, nullable, ...choicesOf(field.type) };
    case 'embedded':
      return { kind: 'embedded', label, nullable, children: describeReadableFields(field.fields) };
    case 'to-one':
    case 'reverse-one':
    case 'link':
    case 'computed':
    case 'labels':
      return { kind: field.kind, label, nullable };
    default:
      return field satisfies never;
  }
}

/** The values of an enumeration; nothing for other types. */
export function choicesOf(type: DataType): { readonly choices?: readonly ChoiceDescription[] } {
  if (type.kind !== 'enum' && type.kind !== 'set') return {};
  return { choices: type.values.map((value) => ({ value, display_name: String(value) })) };
}
