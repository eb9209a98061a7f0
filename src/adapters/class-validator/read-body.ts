import type { BodyProperties, BodyProperty, ValueRules } from '../../core/schema/value-rules.js';
import { readRules } from './read-rules.js';
import type { ValidationMetadataLike } from './read-rules.js';

/** The metadata of the decorators of a class. */
export type MetadataReader = (type: unknown) => readonly ValidationMetadataLike[];

const NO_RULES: ValueRules = { refusesNull: false, patterns: [] };

/**
 * The properties of a class with validation decorators, as descriptions name their types. A property without a decorator
 * is unknown. `within` has the classes around a nested one: a class within itself has no end.
 */
export function readBody(
  type: unknown,
  metadataOf: MetadataReader,
  within: readonly unknown[] = [],
): BodyProperties {
  const metadatas = typeof type === 'function' ? metadataOf(type) : [];
  const rules = readRules(metadatas).values;
  const around = [...within, type];
  const names = [...new Set(metadatas.map(({ propertyName }) => propertyName))];
  return new Map(
    names.map((name): readonly [string, BodyProperty] => {
      const own = metadatas.filter(({ propertyName }) => propertyName === name);
      const declared = designTypeOf(type, name);
      const children = isNested(own, declared, around) ? readBody(declared, metadataOf, around) : undefined;
      return [
        name,
        {
          type: children ? 'nested object' : typeOf(own, declared),
          required: !own.some(({ type: kind }) => kind === 'conditionalValidation'),
          rules: withItemValues(rules.get(name) ?? NO_RULES),
          ...(children && { children }),
        },
      ];
    }),
  );
}

/** The type that TypeScript has emitted for a property; undefined without `emitDecoratorMetadata`. */
function designTypeOf(type: unknown, name: string): unknown {
  const { prototype } = type as { readonly prototype: object };
  const { getMetadata } = Reflect as { getMetadata?: (key: string, target: object, name: string) => unknown };
  return getMetadata?.('design:type', prototype, name);
}

function isNested(
  metadatas: readonly ValidationMetadataLike[],
  declared: unknown,
  within: readonly unknown[],
): boolean {
  return (
    metadatas.some(({ type, each }) => type === 'nestedValidation' && each !== true) &&
    typeof declared === 'function' &&
    declared !== Object &&
    declared !== Array &&
    !within.includes(declared)
  );
}

/** Of `@IsIn` and `@IsEnum` for each item of a list, the values are those of the items. */
function withItemValues(rules: ValueRules): ValueRules {
  const values = rules.values ?? rules.items?.values;
  return values ? { ...rules, values } : rules;
}

const VALUE_VALIDATORS: ReadonlySet<string> = new Set(['isIn', 'isEnum']);

/** The types of validators that admit values of one type only. */
const TYPES_BY_VALIDATOR: Readonly<Record<string, string>> = {
  isInt: 'integer',
  isPort: 'integer',
  isNumber: 'float',
  isPositive: 'float',
  isNegative: 'float',
  min: 'float',
  max: 'float',
  isBoolean: 'boolean',
  isDate: 'datetime',
  isEmail: 'email',
  isUrl: 'url',
  isArray: 'list',
  arrayMinSize: 'list',
  arrayMaxSize: 'list',
  arrayNotEmpty: 'list',
  arrayUnique: 'list',
  isObject: 'field',
  isString: 'string',
  isLength: 'string',
  minLength: 'string',
  maxLength: 'string',
  matches: 'string',
  isUuid: 'string',
  isDateString: 'string',
  isIso8601: 'string',
};

function typeOf(metadatas: readonly ValidationMetadataLike[], declared: unknown): string {
  const isList = declared === Array || metadatas.some(({ each }) => each === true);
  const hasValues = metadatas.some(({ name = '' }) => VALUE_VALIDATORS.has(name));
  if (hasValues) return isList ? 'multiple choice' : 'choice';
  if (isList) return 'list';
  const named = metadatas.map(({ name = '' }) =>
    Object.hasOwn(TYPES_BY_VALIDATOR, name) ? TYPES_BY_VALIDATOR[name] : undefined,
  );
  // An integer is a number, and an address a text: the narrower type counts.
  for (const narrow of ['integer', 'email', 'url']) if (named.includes(narrow)) return narrow;
  return named.find((each) => each !== undefined) ?? declaredType(declared);
}

function declaredType(declared: unknown): string {
  switch (declared) {
    case String:
      return 'string';
    case Number:
      return 'float';
    case Boolean:
      return 'boolean';
    case Date:
      return 'datetime';
    default:
      return 'field';
  }
}
