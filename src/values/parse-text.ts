import type { Json } from '../errors/rest-error.js';
import type { ValueKind, ValueType } from '../model/value-type.js';
import { invalid, valid } from './outcome.js';
import type { Outcome } from './outcome.js';
import { parseValue } from './parse-value.js';
import { unstorableText } from './texts.js';

const FORM_MESSAGES: Partial<Record<ValueKind, string>> = {
  integer: 'Enter a number.',
  bigint: 'Enter a number.',
  decimal: 'Enter a number.',
  float: 'Enter a number.',
  date: 'Enter a valid date.',
  time: 'Enter a valid time.',
  datetime: 'Enter a valid date/time.',
};

/**
 * A value that stands in a URL, as a filter gives it: canonical, or django-filter's message (contract 4).
 * Texts are taken as they are: `=` is exact, blanks included.
 */
export function parseText(text: string, type: ValueType): Outcome<Json> {
  const unstorable = unstorableText(text);
  if (unstorable !== undefined) return invalid(unstorable);
  if (type.kind === 'string') return valid(text);
  const outcome = parseValue(text, type);
  if (!outcome.errors) return outcome;
  const message = FORM_MESSAGES[type.kind];
  return message === undefined || outcome.errors[0]?.startsWith('Ensure') ? outcome : invalid(message);
}
