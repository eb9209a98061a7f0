import type { Json } from '../errors/rest-exception.js';
import type { TypeOf, DataKind, DataType } from '../schema/data-type.js';
import { parseDatetime } from './dates.js';
import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';
import { parseBoolean, parseValue } from './parse-value.js';
import { unstorableText } from './texts.js';

function withoutExactness({ exact: _, ...type }: TypeOf<'decimal'>): TypeOf<'decimal'> {
  return type;
}

/** Parses an instant for a comparison without truncation: digits beyond the column's are kept unless they are 0. */
function parseInstant(text: string, type: TypeOf<'datetime'>): Outcome<string> {
  const outcome = parseDatetime(text, { kind: 'datetime', zoned: type.zoned, digits: 6 });
  if (outcome.errors) return outcome;
  const cut = new RegExp(`(\\.\\d{${type.digits}})0*Z$`);
  return valid(outcome.value.replace(cut, '$1Z'));
}

const FORM_MESSAGES: Partial<Record<DataKind, string>> = {
  integer: 'Enter a number.',
  bigint: 'Enter a number.',
  decimal: 'Enter a number.',
  float: 'Enter a number.',
  date: 'Enter a valid date.',
  time: 'Enter a valid time.',
  datetime: 'Enter a valid date/time.',
  interval: 'Enter a valid duration.',
};

function parseByType(text: string, type: DataType): Outcome<Json> {
  switch (type.kind) {
    case 'datetime':
      return parseInstant(text, type);
    case 'boolean':
      return parseBoolean(text.toLowerCase());
    case 'decimal':
      // A number with more digits than the database stores is valid in a comparison.
      return parseValue(text, withoutExactness(type));
    default:
      return parseValue(text, type);
  }
}

/**
 * Parses a value of a filter in a URL; errors are django-filter's messages (contract 4.4). Strings are not trimmed, because
 * `=` is exact.
 */
export function parseText(text: string, type: DataType): Outcome<Json> {
  const unstorable = unstorableText(text);
  if (unstorable !== undefined) return invalid(unstorable);
  if (type.kind === 'string') return valid(text);
  const outcome = parseByType(text, type);
  if (!outcome.errors) return outcome;
  const message = FORM_MESSAGES[type.kind];
  return message === undefined || outcome.errors[0]?.startsWith('Ensure') ? outcome : invalid(message);
}
