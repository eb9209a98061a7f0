import type { ApiDocument, ApiOperation, ApiParameter, Schema } from './api-document.js';
import { makeValue, typesOf } from './make-value.js';
import type { Making } from './make-value.js';

export type Query = readonly (readonly [name: string, value: string])[];

/** Texts that are neither numbers nor booleans nor dates. */
const WRONG_TEXTS = ['many', '1.5.2', '0x10', '--3', '2022-13-45', '{}', 'tr ue'];

const GROUPS = /`(or|and)\(/;

/** Some of the query parameters of an operation, with valid values. */
export function makeQuery(operation: ApiOperation, making: Making): Query {
  const { random } = making;
  const open = operation.parameters.filter((each) => each.in === 'query');
  const required = open.filter((each) => each.required);
  const share = random.pick([0, 0.05, 0.15, 0.4]);
  const chosen = random.shuffled(open.filter((each) => !each.required && random.chance(share))).slice(0, 4);
  return [...required, ...chosen].flatMap((parameter) =>
    written(parameter, valueOf(parameter, open, making)),
  );
}

function valueOf(parameter: ApiParameter, others: readonly ApiParameter[], making: Making): unknown {
  if (GROUPS.test(parameter.description ?? '')) return groupOf(others, making);
  return makeValue(parameter.schema, making, nameOfField(parameter.name));
}

/** The field of a parameter: `question` for `question__in`. */
function nameOfField(parameter: string): string {
  return parameter.split('__')[0] ?? parameter;
}

/** A filter group, in the format that the description of the parameter shows. */
function groupOf(others: readonly ApiParameter[], making: Making): string {
  const simple = others.filter(
    ({ schema, description }) =>
      typesOf(schema).includes('integer') && /equals this value\.$/.test(description ?? ''),
  );
  const term = (): string => {
    const parameter = making.random.pick(simple);
    return `${parameter.name}=${making.random.below(10)}`;
  };
  if (simple.length === 0) return '';
  return making.random.pick([`or(${term()},not(${term()}))`, `and(${term()},${term()})`, `not(${term()})`]);
}

/** Lists are repeated parameters or comma-separated, as documented. */
export function written({ name, explode }: ApiParameter, value: unknown): Query {
  if (!Array.isArray(value)) return [[name, String(value)]];
  if (explode === false) return [[name, value.map(String).join(',')]];
  return value.map((each) => [name, String(each)] as const);
}

/** A parameter with an invalid value; undefined if every text is valid for all of them. */
export function breakQuery(
  operation: ApiOperation,
  making: Making,
): readonly [name: string, value: string] | undefined {
  const strict = operation.parameters.filter(
    (each) => each.in === 'query' && isStrict(making.document, each.schema),
  );
  if (strict.length === 0) return undefined;
  return [making.random.pick(strict).name, making.random.pick(WRONG_TEXTS)];
}

function isStrict(document: ApiDocument, given: Schema): boolean {
  const schema = document.resolve(given);
  const types = typesOf(schema);
  if (types.includes('array')) return isStrict(document, (schema.items ?? {}) as Schema);
  if (types.includes('integer') || types.includes('number') || types.includes('boolean')) return true;
  return types.includes('string') && ['date', 'date-time', 'uuid'].includes(String(schema.format));
}
