import type { FieldDescription } from '../core/contracts/field-description.js';
import type { BodyProperties, BodyProperty, BodyReader, ValueRules } from '../core/schema/value-rules.js';
import { labelOf } from './label.js';

export type BodyFields = Readonly<Record<string, FieldDescription>>;

/** The metadata key under which Nest stores the parameters of a handler, and its number for `@Body()`. */
export const ROUTE_ARGUMENTS = '__routeArguments__';
const BODY = '3';

/** The fields of the class that a method declares as its body: `@Body() body: RenameBody`. Undefined without such a class. */
export function compileActionBody(
  controller: object,
  handler: string,
  readBody: BodyReader | undefined,
): BodyFields | undefined {
  const properties = readBody?.(bodyClassOf(controller, handler));
  return properties && properties.size > 0 ? describeProperties(properties) : undefined;
}

/** The type of the parameter with the whole body. */
function bodyClassOf(controller: object, handler: string): unknown {
  const { prototype } = controller as { readonly prototype: object };
  const parameters = Reflect.getMetadata(ROUTE_ARGUMENTS, controller, handler) as
    Readonly<Record<string, { readonly index: number; readonly data?: unknown }>> | undefined;
  const types = Reflect.getMetadata('design:paramtypes', prototype, handler) as
    readonly unknown[] | undefined;
  const body = Object.entries(parameters ?? {}).find(
    ([key, { data }]) => key.split(':')[0] === BODY && data === undefined,
  );
  return body && types?.[body[1].index];
}

function describeProperties(properties: BodyProperties): BodyFields {
  return Object.fromEntries([...properties].map(([name, property]) => [name, describe(name, property)]));
}

function describe(name: string, { type, required, rules, children }: BodyProperty): FieldDescription {
  return {
    type,
    required,
    read_only: false,
    label: labelOf(name),
    ...describeRules(rules),
    ...(children && { children: describeProperties(children) }),
  };
}

function describeRules({
  minLength,
  maxLength,
  minimum,
  maximum,
  values,
}: ValueRules): Partial<FieldDescription> {
  const choices = values?.filter((value) => typeof value === 'string' || typeof value === 'number');
  return {
    ...(minLength !== undefined && { min_length: minLength }),
    ...(maxLength !== undefined && { max_length: maxLength }),
    ...(minimum !== undefined && { min_value: minimum }),
    ...(maximum !== undefined && { max_value: maximum }),
    ...(choices && { choices: choices.map((value) => ({ value, display_name: String(value) })) }),
  };
}
