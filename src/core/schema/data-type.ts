/**
 * The type of a value, independent of the database. Derived from the column at boot; determines how bodies and filters are
 * parsed, the response to OPTIONS, and how values are written to and read from the database.
 *
 * Each kind has one canonical form, its JSON form of contract 2.4: a datetime is the string
 * `2022-10-02T09:23:28.297Z`, a bigint or decimal is a string, binary is base64.
 */
export type DataType =
  /** `orZero`: 0 is a value too, below `min`. */
  | { readonly kind: 'integer'; readonly min: number; readonly max: number; readonly orZero?: boolean }
  | { readonly kind: 'bigint'; readonly min: bigint; readonly max: bigint }
  /** `exact`: the number of digits that the database stores; it silently rounds the others. */
  | {
      readonly kind: 'decimal';
      readonly precision?: number;
      readonly scale?: number;
      readonly exact?: number;
      readonly unsigned?: boolean;
    }
  /** `single`: the column stores 32 bits. */
  | { readonly kind: 'float'; readonly single?: boolean; readonly unsigned?: boolean }
  | { readonly kind: 'boolean' }
  /**
   * `maxBytes`: of UTF-8. `loose`: the database's own `=` also matches texts that differ in trailing blanks or case.
   * `collation`: the quoted name of the one by which a unique index or the referenced column compares, if it is not exact;
   * on MariaDB, that of the column, if it is not the schema's.
   * `charset`: the character set, if it has not all characters. `cast`: the SQL type, where comparisons of values need it.
   * `padded`: the database adds blanks behind the texts, which are no part of them.
   */
  | {
      readonly kind: 'string';
      readonly maxLength?: number;
      readonly maxBytes?: number;
      readonly trim: boolean;
      readonly loose?: boolean;
      readonly collation?: string;
      readonly charset?: string;
      readonly cast?: string;
      readonly padded?: true;
    }
  /** `utc`: TypeORM derives the day of a Date in UTC, and not in the time zone of the process. */
  | { readonly kind: 'date'; readonly utc?: boolean }
  | { readonly kind: 'time'; readonly digits: number }
  /** `digits`: of the fraction in responses, 3 to 6; `kept`: those of the column, if fewer; `zoned`: the column stores an instant. */
  | { readonly kind: 'datetime'; readonly digits: number; readonly kept?: number; readonly zoned: boolean }
  /** An ISO 8601 duration, `P1Y2M3DT4H5M6.789S`; `digits`: of the seconds' fraction. */
  | { readonly kind: 'interval'; readonly digits: number }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'enum'; readonly values: readonly (string | number)[] }
  | { readonly kind: 'set'; readonly values: readonly string[] }
  /**
   * `packed`: the database stores a binary format, so that statements convert it to text. `numeric`: it stores a number by itself as
   * a number of its own, of 53 bits. `unsearchable`: it stores texts that its own functions of JSON may refuse.
   */
  | {
      readonly kind: 'json';
      readonly packed?: boolean;
      readonly numeric?: boolean;
      readonly unsearchable?: true;
    }
  | { readonly kind: 'list'; readonly of: DataType; readonly storage: 'text' | 'array' }
  /** Lengths in bytes. */
  | { readonly kind: 'binary'; readonly minLength?: number; readonly maxLength?: number };

export type DataKind = DataType['kind'];

/** The type of one kind: `TypeOf<'integer'>`. */
export type TypeOf<Kind extends DataKind> = Extract<DataType, { kind: Kind }>;

const COMPOSITE_KINDS: ReadonlySet<DataKind> = new Set(['json', 'list', 'set', 'binary']);

/** Whether values of the type can be compared, ordered and written in a URL as one string. */
export function isScalar({ kind }: DataType): boolean {
  return !COMPOSITE_KINDS.has(kind);
}
