import type { ParameterKind } from '../contracts/custom-filter.js';
import type { DataType } from '../schema/data-type.js';

const PARAMETER_TYPES: Readonly<Record<ParameterKind, DataType>> = {
  integer: { kind: 'integer', min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER },
  number: { kind: 'float' },
  decimal: { kind: 'decimal' },
  text: { kind: 'string', trim: false },
  boolean: { kind: 'boolean' },
  date: { kind: 'date' },
  datetime: { kind: 'datetime', digits: 3, zoned: true },
  uuid: { kind: 'uuid' },
};

export const PARAMETER_KINDS: readonly string[] = [...Object.keys(PARAMETER_TYPES), 'choice'];

/** The data type of a custom parameter. */
export function parameterType(
  parameter:
    { readonly type: ParameterKind } | { readonly type: 'choice'; readonly choices: readonly string[] },
): DataType {
  return parameter.type === 'choice'
    ? { kind: 'enum', values: parameter.choices }
    : PARAMETER_TYPES[parameter.type];
}
