import type { Json } from '../errors/rest-exception.js';

/** What validators of the application say of the values of one property, as far as a schema can say it. */
export interface ValueRules {
  /** Null is refused, whatever the column takes. */
  readonly refusesNull: boolean;
  /** Of texts, in code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Expressions without flags, or with `u`. */
  readonly patterns: readonly RegExp[];
  readonly format?: 'email' | 'url' | 'uuid';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly values?: readonly Json[];
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** The rules of a class by property, and those of its properties whose objects are validated by their own class. */
export interface ClassRules {
  readonly values: ReadonlyMap<string, ValueRules>;
  readonly nested: ReadonlySet<string>;
}

export type AskRules = (type: unknown) => ClassRules;
