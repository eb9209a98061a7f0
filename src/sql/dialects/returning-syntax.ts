import type { DataType } from '../../core/schema/data-type.js';

/**
 * How a stored value is compared with a new one: the `value` itself, its `text`, the `instant` in milliseconds, `json` or
 * `jsonb` in any order of keys and with the texts of numbers, or `json-text` without insignificant blanks.
 */
export type ValueComparison = 'value' | 'text' | 'instant' | 'json' | 'jsonb' | 'json-text';

/** The operands of a comparison, as SQL. */
export interface ComparedValue {
  readonly column: string;
  readonly placeholder: string;
  readonly type: DataType;
}

/** The syntax of statements that write a row and return it (`INSERT … RETURNING`, `UPDATE … RETURNING`). */
export interface ReturningSyntax {
  /**
   * A query that returns 1 for an ordinary table without triggers, rules, generated columns and child tables. `path` is
   * quoted, `name` is not.
   */
  plainTable(name: string, path: string): { readonly sql: string; readonly parameters: readonly unknown[] };
  /** A query that returns 1 for a view. */
  view(name: string, path: string): { readonly sql: string; readonly parameters: readonly unknown[] };
  /** Whether a stored value differs from a parameter. NULL differs from every other value. */
  differs(comparison: ValueComparison, operands: ComparedValue): string;
  /** An expression that fails for an integer that the driver rounds; undefined if it rounds none. */
  readonly failIfRounded: ((column: string) => string) | undefined;
  /**
   * A system column that changes with each update of a row, its comparison with a parameter, and whether this transaction has
   * written the row; undefined if the database has none.
   */
  readonly rowVersion:
    | {
        read(alias: string): string;
        equals(alias: string, placeholder: string): string;
        isOwn(alias: string): string;
      }
    | undefined;
}
