import { isWritable } from '../../core/schema/field.js';
import type { ColumnField, Field } from '../../core/schema/field.js';
import type { DataType } from '../../core/schema/data-type.js';
import { storedBoolean } from '../../core/values/stored-booleans.js';

/** The values of the fields that a write sets, and the body from which they were parsed. */
export interface Written {
  readonly values: ReadonlyMap<string, unknown>;
  readonly sent?: Readonly<Record<string, unknown>> | undefined;
}

/** The properties of a class whose validators expect a date as text. */
export type DatesAsTexts = (type: unknown) => ReadonlySet<string>;

/**
 * The view of an entity that is validated: dates are the texts that were sent if the validators expect texts, and columns that
 * are null and not written are undefined, so that they are not validated. The entity itself if there is no difference.
 */
export function validatedView(
  entity: object,
  fields: readonly Field[],
  { written, datesAsTexts }: { readonly written: Written; readonly datesAsTexts: DatesAsTexts },
): object {
  const texts = datesAsTexts(entity.constructor);
  const own = new Map<string, unknown>();
  for (const field of fields) {
    if (!isReplaceable(field) || isLazyRelation(entity, field.name)) continue;
    const value = (entity as Readonly<Record<string, unknown>>)[field.name];
    const replaced = viewValue(field, value, { written, datesAsTexts, isText: texts.has(field.name) });
    if (replaced !== value) own.set(field.name, replaced);
  }
  return own.size === 0 ? entity : withProperties(entity, own);
}

/** The kinds of fields whose value the view may replace. Others, such as links of to-many relations, are not read. */
function isReplaceable(field: Field): boolean {
  const { kind } = field;
  if (kind !== 'column' && kind !== 'to-one' && kind !== 'embedded') return false;
  return isWritable(field) || field.readable;
}

/** A lazy relation: reading it would start a query beside the write, whose promise nothing awaits. */
function isLazyRelation(entity: object, name: string): boolean {
  return Object.getOwnPropertyDescriptor(entity, name)?.get !== undefined;
}

interface ViewOptions {
  readonly written: Written;
  readonly datesAsTexts: DatesAsTexts;
  readonly isText: boolean;
}

function viewValue(field: Field, value: unknown, { written, datesAsTexts, isText }: ViewOptions): unknown {
  const isWritten = written.values.has(field.name);
  switch (field.kind) {
    case 'column':
      if (value === null && !isWritten) return undefined;
      if (field.type.kind === 'boolean') return storedBoolean(value) ?? value;
      return isText ? textOfDate(field, value, isWritten ? written : undefined) : value;
    case 'to-one':
      return value === null && !isWritten ? undefined : value;
    case 'embedded':
      return typeof value === 'object' && value !== null
        ? validatedView(value, field.fields, { written: writtenWithin(written, field.name), datesAsTexts })
        : value;
    default:
      return value;
  }
}

/** The part of a write that sets an embedded object. */
export function writtenWithin({ values, sent }: Written, name: string): Written {
  return {
    values: new Map(Object.entries(values.get(name) ?? {})),
    sent: sent?.[name] as Readonly<Record<string, unknown>> | undefined,
  };
}

/** The text that was sent, or the canonical text if the date was stored before or its text is unknown. */
function textOfDate({ name, type }: ColumnField, value: unknown, written: Written | undefined): unknown {
  if (Array.isArray(value)) {
    const sent = written?.sent?.[name] as readonly unknown[] | undefined;
    const of = type.kind === 'list' ? type.of : type;
    return value.map((item: unknown, index) => textOfItem(item, sent?.[index], of));
  }
  return textOfItem(value, written?.sent?.[name], type);
}

function textOfItem(value: unknown, sent: unknown, type: DataType): unknown {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return value;
  if (typeof sent === 'string') return sent;
  if (type.kind !== 'date') return value.toISOString();
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${String(value.getFullYear()).padStart(4, '0')}-${two(value.getMonth() + 1)}-${two(value.getDate())}`;
}

/** The result inherits from the entity, so that getters and methods use the replaced properties. */
function withProperties(entity: object, own: ReadonlyMap<string, unknown>): object {
  return Object.create(
    entity,
    Object.fromEntries(
      [...own].map(([name, value]) => [
        name,
        { value, enumerable: true, configurable: true, writable: true },
      ]),
    ),
  ) as object;
}
