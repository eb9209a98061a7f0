import type { TypeOf, DataType } from '../core/schema/data-type.js';
import type { ValueRules } from '../core/schema/value-rules.js';
import type { Schema } from './open-api-types.js';

/** Adds the constraints of the application's validators to the schema of a body. It is never stricter than they are. */
export function constrainSchema(schema: Schema, type: DataType, rules: ValueRules): Schema {
  switch (type.kind) {
    case 'string':
      return ruledText(schema, type, rules);
    case 'integer':
    case 'float':
      return ruledNumber(schema, rules);
    case 'enum':
      return rules.values
        ? { ...schema, enum: type.values.filter((each) => rules.values?.includes(each)) }
        : schema;
    case 'list':
      return {
        ...ruledList(schema, rules),
        ...(rules.items ? { items: constrainSchema(itemsOf(schema), type.of, rules.items) } : {}),
      };
    case 'set':
      return {
        ...ruledList(schema, rules),
        ...(rules.items
          ? { items: constrainSchema(itemsOf(schema), { ...type, kind: 'enum' }, rules.items) }
          : {}),
      };
    case 'json':
      return ruledJson(schema, rules);
    default:
      return schema;
  }
}

function ruledList(schema: Schema, { minItems, maxItems }: ValueRules): Schema {
  return {
    ...schema,
    ...tighten('minItems', schema, minItems),
    ...tighten('maxItems', schema, maxItems),
  };
}

function itemsOf({ items }: Schema): Schema {
  return items as Schema;
}

/** Of items, only the values are said: a validator of each item applies to a value that is no list, too. */
function ruledJson(schema: Schema, rules: ValueRules): Schema {
  const { admits, values, items } = rules;
  return {
    ...ruledList(schema, rules),
    ...(admits === undefined ? {} : { type: admits }),
    ...(values ? { enum: values.filter((each) => each !== null) } : {}),
    ...(items?.values ? { items: { enum: items.values } } : {}),
  };
}

function ruledNumber(schema: Schema, rules: ValueRules): Schema {
  const { values, exclusiveMinimum, exclusiveMaximum } = rules;
  return {
    ...schema,
    ...tighten('minimum', schema, rules.minimum),
    ...tighten('maximum', schema, rules.maximum),
    ...(exclusiveMinimum === undefined ? {} : { exclusiveMinimum }),
    ...(exclusiveMaximum === undefined ? {} : { exclusiveMaximum }),
    ...(values ? { enum: values.filter((each) => typeof each === 'number') } : {}),
  };
}

/** Formats that accept at least the values of the validator: @IsEmail accepts non-ASCII letters; @IsUrl, which accepts more than any format, has a pattern. */
const FORMATS = { email: 'idn-email', uuid: 'uuid', url: undefined } as const;

function ruledText(schema: Schema, { trim }: TypeOf<'string'>, rules: ValueRules): Schema {
  const { minLength = 0, values } = rules;
  const format = rules.format && FORMATS[rules.format];
  const own = typeof schema.pattern === 'string' && minLength === 0 ? [schema.pattern] : [];
  const patterns = [
    ...own,
    ...(trim && minLength > 0 ? [trimmedLength(minLength)] : []),
    ...rules.patterns.flatMap((each) => (trim ? trimmedPattern(each) : plainPattern(each)) ?? []),
  ];
  const [pattern, ...others] = patterns;
  return {
    ...schema,
    ...tighten('minLength', schema, minLength === 0 ? undefined : minLength),
    ...tighten('maxLength', schema, rules.maxLength),
    ...(format === undefined ? {} : { format }),
    ...(pattern === undefined ? {} : { pattern }),
    ...(others.length > 0 ? { allOf: others.map((each) => ({ pattern: each })) } : {}),
    ...(values ? { enum: values.filter((each) => typeof each === 'string') } : {}),
  };
}

/** The bound, or that of the schema if it admits less. */
function tighten(name: string, schema: Schema, bound: number | undefined): Schema {
  const own = schema[name];
  if (bound === undefined || typeof own !== 'number') return bound === undefined ? {} : { [name]: bound };
  return { [name]: name.startsWith('min') ? Math.max(own, bound) : Math.min(own, bound) };
}

/** A minimum length after trimming (contract 5.7). */
function trimmedLength(length: number): string {
  return length === 1 ? '\\S' : `\\S[\\s\\S]${length === 2 ? '*' : `{${length - 2},}`}\\S`;
}

/**
 * JSON Schema matches regular expressions by code points. An expression without the flag `u` that counts characters has a
 * different meaning for characters of two code units, and is omitted.
 */
function plainPattern({ source, flags }: RegExp): string | undefined {
  if (!flags.includes('u')) {
    if (/\[[^\]]*\\[SWD]/.test(source)) return undefined;
    const bare = source.replace(/\\[^SWD]/g, 'x').replace(/\[(?!\^)[^\]]*\]/g, 'x');
    if (/(?:\.|\[\^[^\]]*\]|\\[SWD])(?![+*?])/.test(bare)) return undefined;
  }
  return isPattern(source) ? source : undefined;
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

/** The expression for a text that is trimmed before validation; undefined if it cannot be derived. */
function trimmedPattern(pattern: RegExp): string | undefined {
  const source = plainPattern(pattern);
  if (source === undefined || /\(\?[=!<]|\\[bB]/.test(source)) return undefined;
  const begins = source.startsWith('^');
  const ends = /(?:^|[^\\])(?:\\\\)*\$$/.test(source);
  if (!begins && !ends) return source;
  const body = source.slice(begins ? 1 : 0, ends ? -1 : undefined);
  const bare = body.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
  if (/[\^$|]/.test(bare)) return undefined;
  const before = begins ? '^\\s*(?=\\S)' : '';
  const after = ends ? '(?<=\\S)\\s*$' : '';
  const whole = `${before}(?:${body})${after}`;
  const blank = new RegExp(source, 'u').test('') ? '|^\\s*$' : '';
  return isPattern(whole + blank) ? whole + blank : undefined;
}
