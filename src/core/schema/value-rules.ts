import type { Json } from '../errors/rest-exception.js';

/** The rules of the application's validators for the values of a property, as far as a JSON Schema can express them. */
export interface ValueRules {
  /** True if null is rejected even if the column is nullable. */
  readonly refusesNull: boolean;
  /** Whether a new object must have a value, even if the column has a default. */
  readonly isDefined?: boolean;
  /** Length of strings in code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Regular expressions without flags, or with `u`. */
  readonly patterns: readonly RegExp[];
  readonly format?: 'email' | 'url' | 'uuid';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly values?: readonly Json[];
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The only type of JSON that is admitted. */
  readonly admits?: 'object' | 'array' | 'string' | 'number' | 'boolean';
  /** The rules of each item of a list. */
  readonly items?: ValueRules;
}

/** The validation rules of a class by property, and the properties whose objects are validated by their own class. */
export interface ClassRules {
  readonly values: ReadonlyMap<string, ValueRules>;
  readonly nested: ReadonlySet<string>;
}

export type ClassRulesReader = (type: unknown) => ClassRules;

/** A property of a class that an action of the application receives as its body. */
export interface BodyProperty {
  /** The type of its description (contract 19.1): `string`, `integer`, `nested object`. */
  readonly type: string;
  readonly required: boolean;
  readonly rules: ValueRules;
  /** The properties of a nested object. */
  readonly children?: BodyProperties;
}

export type BodyProperties = ReadonlyMap<string, BodyProperty>;

/** The properties of a class that have validation decorators. */
export type BodyReader = (type: unknown) => BodyProperties;

/**
 * The validators of a class: none, class-validator's own alone, or also functions of the application, which may load other
 * rows.
 */
export type ClassValidators = 'none' | 'built-in' | 'own';
