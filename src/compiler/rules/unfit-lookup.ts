import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { LOOKUP_RULES, LOOKUPS } from '../../core/query/lookups.js';
import type { Lookup } from '../../core/query/lookups.js';
import { isScalar } from '../../core/schema/data-type.js';
import type { DataType } from '../../core/schema/data-type.js';
import type { ResolvedPath } from '../resolve-path.js';

type Reason = Omit<DeclarationProblem, 'where'>;

/** The reason why a lookup does not apply to the target of a path; undefined if it does. */
export function unfitLookup(lookup: string, { leaf, operands }: ResolvedPath): Reason | undefined {
  if (!(LOOKUPS as readonly string[]).includes(lookup))
    return { what: `"${lookup}" is not a lookup`, repair: didYouMean(lookup, LOOKUPS) };
  const known = lookup as Lookup;
  const type = operands[0]?.column.type;
  if (leaf !== 'column' && !LOOKUP_RULES[known].fitsKeys)
    return {
      what: `"${lookup}" does not fit a relation`,
      repair: 'A related key is compared by exact, in, ne or isnull.',
    };
  if (operands.length > 1 && known !== 'exact' && known !== 'isnull')
    return { what: `"${lookup}" does not fit a composite key`, repair: 'Use exact or isnull.' };
  return type === undefined ? undefined : unfitType(known, type);
}

function unfitType(lookup: Lookup, type: DataType): Reason | undefined {
  const { value, isOrdered } = LOOKUP_RULES[lookup];
  if (type.kind === 'boolean' && (value === 'text' || isOrdered))
    return { what: `"${lookup}" does not fit a boolean`, repair: 'Use exact, ne, in or isnull.' };
  if (value === 'text' && type.kind !== 'string')
    return {
      what: `"${lookup}" compares texts, and this is ${type.kind}`,
      repair: 'Use exact, in, gt, gte, lt or lte.',
    };
  if (!isScalar(type) && lookup !== 'isnull')
    return {
      what: `${type.kind} values cannot be compared in a URL`,
      repair: 'Use isnull, or leave it out.',
    };
  return undefined;
}
