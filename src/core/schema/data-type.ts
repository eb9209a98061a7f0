/**
 * What a value is, independent of the database. Decided at boot from the column; drives parsing of bodies and
 * filters, the answer to OPTIONS, and the way in and out of the database.
 *
 * Each kind has one canonical form, which is its JSON form of contract 2.4: a datetime is the text
 * `2022-10-02T09:23:28.297Z`, a bigint or decimal is text, binary is base64.
 */
export type DataType =
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'bigint'; readonly min: bigint; readonly max: bigint }
  /** `exact` where the database keeps so many digits only, and rounds the rest without a word. */
  | {
      readonly kind: 'decimal';
      readonly precision?: number;
      readonly scale?: number;
      readonly exact?: number;
      readonly unsigned?: boolean;
    }
  /** `single` where the column keeps 32 bits. */
  | { readonly kind: 'float'; readonly single?: boolean; readonly unsigned?: boolean }
  | { readonly kind: 'boolean' }
  /** `maxBytes` of UTF-8. `loose` where the database's own `=` takes other texts for it too, by blanks at the end or by case. */
  | {
      readonly kind: 'string';
      readonly maxLength?: number;
      readonly maxBytes?: number;
      readonly trim: boolean;
      readonly loose?: boolean;
    }
  | { readonly kind: 'date' }
  | { readonly kind: 'time'; readonly digits: number }
  /** `digits` of the fraction that are shown, 3 to 6; `kept` where the column keeps fewer; `zoned` where it keeps an instant by itself. */
  | { readonly kind: 'datetime'; readonly digits: number; readonly kept?: number; readonly zoned: boolean }
  /** Text of ISO 8601, `P1Y2M3DT4H5M6.789S`, with so many digits of a second. */
  | { readonly kind: 'interval'; readonly digits: number }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'enum'; readonly values: readonly (string | number)[] }
  | { readonly kind: 'set'; readonly values: readonly string[] }
  /** `packed` where the database keeps it in a form of its own, and has to be asked for its text. */
  | { readonly kind: 'json'; readonly packed?: boolean }
  | { readonly kind: 'list'; readonly of: DataType; readonly storage: 'text' | 'array' }
  /** Lengths in bytes. */
  | { readonly kind: 'binary'; readonly minLength?: number; readonly maxLength?: number };

export type DataKind = DataType['kind'];

/** The type of one kind: `TypeOf<'integer'>`. */
export type TypeOf<Kind extends DataKind> = Extract<DataType, { kind: Kind }>;

/** Kinds whose values compare, order and go into a URL as one plain text. */
export function isScalar(type: DataType): boolean {
  switch (type.kind) {
    case 'json':
    case 'list':
    case 'set':
    case 'binary':
      return false;
    case 'integer':
    case 'bigint':
    case 'decimal':
    case 'float':
    case 'boolean':
    case 'string':
    case 'date':
    case 'time':
    case 'datetime':
    case 'interval':
    case 'uuid':
    case 'enum':
      return true;
    default:
      return type satisfies never;
  }
}
