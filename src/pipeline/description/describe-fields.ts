import type { FieldDescription, ChoiceDescription } from '../../core/contracts/field-description.js';
import type { RouteDescription, ReadableFieldDescription } from '../../core/contracts/route-description.js';
import { JSON_MEDIA_TYPE } from '../../core/contracts/renderer.js';
import type { TypeOf, DataType } from '../../core/schema/data-type.js';
import type { Field, NestedWrites } from '../../core/schema/field.js';
import type { Operation } from '../../core/schema/operation.js';
import type { Resource } from '../../core/schema/resource.js';
import { patchTypesOf } from '../../core/schema/route.js';
import type { Route } from '../../core/schema/route.js';
import type { ValueRules } from '../../core/schema/value-rules.js';

/** The fields that the caller may read, by name, in the order of bodies. */
export function describeReadableFields(
  fields: readonly Field[],
): Readonly<Record<string, ReadableFieldDescription>> {
  return Object.fromEntries(
    fields.filter(({ readable }) => readable).map((field) => [field.name, describeReadableField(field)]),
  );
}

function describeReadableField(field: Field): ReadableFieldDescription {
  const { label, nullable } = field;
  switch (field.kind) {
    case 'column':
      return { kind: field.type.kind, label, nullable, ...choicesOf(field.type) };
    case 'embedded':
      return { kind: 'embedded', label, nullable, children: describeReadableFields(field.fields) };
    case 'to-one':
    case 'reverse-one':
    case 'link':
    case 'keys':
    case 'computed':
    case 'labels':
    case 'counts':
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

/** Media types other than JSON, for operations that read. */
function rendersOf({ operations, resource }: Route): readonly string[] {
  const operation = operations.get('GET');
  return operation === 'list' || operation === 'retrieve'
    ? resource.renderers.map(({ mediaType }) => mediaType)
    : [];
}

/** What a description says of the URL itself. */
export function describeUrl(
  route: Route,
): Pick<RouteDescription, 'name' | 'description' | 'renders' | 'parses'> {
  const kind = route.kind === 'object' || route.kind === 'through-object' ? 'Instance' : 'List';
  return {
    name: `${route.resource.className} ${kind}`,
    description: route.resource.description,
    renders: [JSON_MEDIA_TYPE, ...rendersOf(route)],
    parses: patchTypesOf(route),
  };
}

/**
 * `given` has the fields set by the URL; `views` the resource as the caller may write it, by method. Fields that the method
 * neither writes nor shows are absent.
 */
export function describeWritableFields(
  route: Route,
  given: ReadonlySet<string>,
  views: ReadonlyMap<'POST' | 'PUT', Resource>,
): RouteDescription['actions'] {
  const actions: Partial<Record<'POST' | 'PUT', Record<string, FieldDescription>>> = {};
  for (const method of ['POST', 'PUT'] as const) {
    const operation = route.operations.get(method);
    const view = views.get(method);
    if (operation && view) actions[method] = describeFields(view.fields, operation, given);
  }
  return actions;
}

/** The fields that a PATCH may change. `view` is the resource as the caller may write it. */
export function describeChange(view: Resource): Readonly<Record<string, FieldDescription>> {
  const fields = view.fields.filter(({ updatable }) => updatable);
  return Object.fromEntries(
    Object.entries(describeFields(fields, 'partialUpdate', NO_FIELDS)).map(([name, field]) => [
      name,
      { ...field, required: false },
    ]),
  );
}

const NO_FIELDS: ReadonlySet<string> = new Set();

function describeFields(
  fields: readonly Field[],
  operation: Operation,
  given: ReadonlySet<string>,
): Record<string, FieldDescription> {
  return Object.fromEntries(
    fields
      .filter((field) => field.readable || isOpen(field, operation))
      .map((field) => [field.name, describeWritableField(field, operation, given)]),
  );
}

function isOpen({ insertable, updatable }: Field, operation: Operation): boolean {
  return operation === 'create' ? insertable : updatable;
}

function describeWritableField(
  field: Field,
  operation: Operation,
  given: ReadonlySet<string>,
): FieldDescription {
  const open = !given.has(field.name) && isOpen(field, operation);
  const base = { required: open && field.required, read_only: !open, label: field.label };
  switch (field.kind) {
    case 'column':
      return {
        type: optionsType(field.type),
        ...base,
        ...limits(field.type),
        ...(field.rules ? ruledLimits(field.type, field.rules) : {}),
      };
    case 'embedded':
      return { type: 'nested object', ...base, children: describeFields(field.fields, operation, given) };
    case 'reverse-one':
    case 'link':
      return { type: field.nested ? typeOfChildren(field.nested) : 'field', ...base };
    case 'to-one':
    case 'computed':
    case 'labels':
    case 'counts':
      return { type: 'field', ...base };
    case 'keys':
      return { type: 'list', ...base };
    default:
      return field satisfies never;
  }
}

function typeOfChildren({ isOne }: NestedWrites): string {
  return isOne ? 'nested object' : 'list';
}

function optionsType(type: DataType): string {
  switch (type.kind) {
    case 'bigint':
    case 'uuid':
    case 'binary':
    case 'interval':
      return 'string';
    case 'enum':
      return 'choice';
    case 'set':
      return 'multiple choice';
    case 'json':
      return 'field';
    default:
      return type.kind;
  }
}

function limits(type: DataType): Partial<FieldDescription> {
  switch (type.kind) {
    case 'string':
      return type.maxLength === undefined ? {} : { max_length: type.maxLength };
    case 'integer':
      return { min_value: type.orZero === true ? 0 : type.min, max_value: type.max };
    case 'enum':
    case 'set':
      return choicesOf(type);
    default:
      return {};
  }
}

/** The limits of the application's validators, where they are narrower than the column's. */
function ruledLimits(type: DataType, rules: ValueRules): Partial<FieldDescription> {
  switch (type.kind) {
    case 'string':
      return ruledTextLimits(type, rules);
    case 'integer':
    case 'float':
      return {
        ...tightestBound('min_value', [limits(type).min_value, rules.minimum, above(type, rules)], Math.max),
        ...tightestBound('max_value', [limits(type).max_value, rules.maximum, below(type, rules)], Math.min),
        ...choices('number', rules),
      };
    case 'enum':
      return rules.values
        ? { choices: limits(type).choices?.filter(({ value }) => rules.values?.includes(value)) ?? [] }
        : {};
    default:
      return {};
  }
}

function ruledTextLimits(type: TypeOf<'string'>, rules: ValueRules): Partial<FieldDescription> {
  const form = rules.format === 'email' || rules.format === 'url' ? { type: rules.format } : {};
  return {
    ...form,
    ...tightestBound('max_length', [type.maxLength, rules.maxLength], Math.min),
    ...tightestBound('min_length', [rules.minLength], Math.max),
    ...choices('string', rules),
  };
}

function above({ kind }: DataType, { exclusiveMinimum }: ValueRules): number | undefined {
  return kind === 'integer' && exclusiveMinimum !== undefined ? exclusiveMinimum + 1 : undefined;
}

function below({ kind }: DataType, { exclusiveMaximum }: ValueRules): number | undefined {
  return kind === 'integer' && exclusiveMaximum !== undefined ? exclusiveMaximum - 1 : undefined;
}

function tightestBound(
  name: 'min_value' | 'max_value' | 'min_length' | 'max_length',
  bounds: readonly (number | undefined)[],
  narrower: (...bounds: number[]) => number,
): Partial<FieldDescription> {
  const known = bounds.filter((each) => each !== undefined);
  return known.length > 0 ? { [name]: narrower(...known) } : {};
}

function choices(kind: 'string' | 'number', { values }: ValueRules): Partial<FieldDescription> {
  if (!values) return {};
  const fit = values.filter((value): value is string | number => typeof value === kind);
  return { type: 'choice', choices: fit.map((value) => ({ value, display_name: String(value) })) };
}
