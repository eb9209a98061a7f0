import type { Json } from '../../core/errors/rest-exception.js';
import type { ClassRules, ValueRules } from '../../core/schema/value-rules.js';

/** The used part of the metadata that a decorator of class-validator records. */
export interface ValidationMetadataLike {
  readonly type: string;
  readonly propertyName: string;
  readonly name?: string | undefined;
  readonly constraints?: readonly unknown[] | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly each?: boolean | undefined;
  readonly validateIf?: unknown;
}

/**
 * The rules that apply to every value: without those of groups and with a condition (`validateIf`). A property with a condition
 * other than `@IsOptional`, such as `@ValidateIf`, has no rules.
 */
export function readRules(metadatas: readonly ValidationMetadataLike[]): ClassRules {
  const byProperty = new Map<string, ValidationMetadataLike[]>();
  for (const each of metadatas)
    byProperty.set(each.propertyName, [...(byProperty.get(each.propertyName) ?? []), each]);
  const values = new Map<string, ValueRules>();
  const nested = new Set<string>();
  for (const [name, all] of byProperty) {
    const conditions = all.filter(({ type }) => type === 'conditionalValidation');
    if (conditions.some((each) => each.name !== 'isOptional')) continue;
    const always = all.filter(isUnconditional);
    const whole = always.filter(({ each }) => each !== true);
    const ofItems = always.filter(({ each }) => each === true);
    if (whole.some(({ type }) => type === 'nestedValidation')) nested.add(name);
    const rules = {
      ...combineMetadata(whole),
      ...(ofItems.length > 0 ? { items: combineMetadata(ofItems) } : {}),
    };
    values.set(name, conditions.length > 0 ? { ...rules, refusesNull: false, isDefined: false } : rules);
  }
  return { values, nested };
}

function isUnconditional({ groups, validateIf }: ValidationMetadataLike): boolean {
  return (groups ?? []).length === 0 && validateIf === undefined;
}

function combineMetadata(metadatas: readonly ValidationMetadataLike[]): ValueRules {
  return metadatas.reduce<ValueRules>(
    (rules, { name = '', constraints = [] }) => {
      const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
      return read ? combineRules(rules, read(constraints)) : rules;
    },
    { refusesNull: false, patterns: [] },
  );
}

type Read = (constraints: readonly unknown[]) => Partial<ValueRules>;

/** By the name that each decorator records. Decorators that are missing here cannot be expressed in a schema. */
const READERS: Readonly<Record<string, Read>> = {
  isLength: ([min, max]) => ({ ...number('minLength', min), ...number('maxLength', max) }),
  minLength: ([min]) => number('minLength', min),
  maxLength: ([max]) => number('maxLength', max),
  isNotEmpty: () => ({ minLength: 1 }),
  matches: ([pattern, modifiers]) =>
    pattern instanceof RegExp && modifiers === undefined && /^g?u?$/.test(pattern.flags)
      ? { patterns: [pattern] }
      : {},
  isEmail: () => ({ format: 'email' }),
  isUrl: () => ({ format: 'url', patterns: [/^[^\s<>]+$/] }),
  isUuid: () => ({ format: 'uuid' }),
  min: ([min]) => number('minimum', min),
  max: ([max]) => number('maximum', max),
  isPositive: () => ({ exclusiveMinimum: 0 }),
  isNegative: () => ({ exclusiveMaximum: 0 }),
  isIn: ([values]) => (Array.isArray(values) ? { values: values as readonly Json[] } : {}),
  isEnum: ([values]) => (isObject(values) ? { values: Object.values(values) as readonly Json[] } : {}),
  arrayMinSize: ([min]) => ({ admits: 'array', ...number('minItems', min) }),
  arrayMaxSize: ([max]) => ({ admits: 'array', ...number('maxItems', max) }),
  arrayNotEmpty: () => ({ admits: 'array', minItems: 1 }),
  isDefined: () => ({ isDefined: true }),
  isString: () => ({ admits: 'string' }),
  isInt: () => ({ admits: 'number' }),
  isNumber: () => ({ admits: 'number' }),
  isBoolean: () => ({ admits: 'boolean' }),
  isObject: () => ({ admits: 'object' }),
  isArray: () => ({ admits: 'array' }),
  isDate: () => ({}),
  isDateString: () => ({}),
  isIso8601: () => ({}),
  isRFC3339: () => ({}),
};

function number(name: keyof ValueRules, value: unknown): Partial<ValueRules> {
  return typeof value === 'number' ? { [name]: value } : {};
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Combines rules that both apply. Each of them rejects null, except a list of values that includes it. */
function combineRules(one: ValueRules, other: Partial<ValueRules>): ValueRules {
  const { values } = one;
  const both = other.values && values ? other.values.filter((each) => values.includes(each)) : other.values;
  return {
    ...one,
    ...other,
    refusesNull: one.refusesNull || other.values?.includes(null) !== true,
    patterns: [...one.patterns, ...(other.patterns ?? [])],
    ...most('minLength', one, other),
    ...most('minimum', one, other),
    ...most('minItems', one, other),
    ...least('maxLength', one, other),
    ...least('maximum', one, other),
    ...least('maxItems', one, other),
    ...((both ?? values) ? { values: both ?? values ?? [] } : {}),
  };
}

type Bound = 'minLength' | 'minimum' | 'minItems' | 'maxLength' | 'maximum' | 'maxItems';

function most(name: Bound, one: ValueRules, other: Partial<ValueRules>): Partial<ValueRules> {
  const bounds = [one[name], other[name]].filter((each) => each !== undefined);
  return bounds.length > 0 ? { [name]: Math.max(...bounds) } : {};
}

function least(name: Bound, one: ValueRules, other: Partial<ValueRules>): Partial<ValueRules> {
  const bounds = [one[name], other[name]].filter((each) => each !== undefined);
  return bounds.length > 0 ? { [name]: Math.min(...bounds) } : {};
}
