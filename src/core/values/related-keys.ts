import type { Json } from '../errors/rest-exception.js';
import { emptyFieldErrors } from '../errors/rest-exception.js';
import type { FieldErrors } from '../errors/rest-exception.js';
import { MAX_RELATED_KEYS } from '../schema/limits.js';
import type { Key } from '../schema/resource-schema.js';
import { keyText, parseKeyValue } from './keys.js';
import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';
import { pythonTypeName } from './texts.js';

/** A key in a list, and its place there. */
export interface ListedKey {
  readonly key: readonly Json[];
  readonly index: number;
}

/** The related keys of a body, each once: all of them, or those to add and to remove. */
export type RelatedKeys =
  | { readonly kind: 'set'; readonly keys: readonly ListedKey[] }
  | { readonly kind: 'change'; readonly add: readonly ListedKey[]; readonly remove: readonly ListedKey[] };

/** Maximum number of messages for one list. */
const MAX_MESSAGES = 20;

const VERBS = ['add', 'remove'] as const;

export const TOO_MANY_KEYS = `Ensure this field has no more than ${MAX_RELATED_KEYS} elements.`;

/**
 * Parses the value of a field with related keys.
 * @param takesChanges whether it may have the members `add` and `remove`.
 */
export function parseRelatedKeys(
  input: unknown,
  key: Key,
  takesChanges: boolean,
): Outcome<RelatedKeys> | { readonly nested: FieldErrors } {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  if (isObject && takesChanges) return parseChanges(input as Readonly<Record<string, unknown>>, key);
  const keys = parseKeys(input, key);
  return keys.errors ? keys : valid({ kind: 'set', keys: keys.value });
}

function parseChanges(
  input: Readonly<Record<string, unknown>>,
  key: Key,
): Outcome<RelatedKeys> | { readonly nested: FieldErrors } {
  const errors = emptyFieldErrors();
  for (const name of Object.keys(input))
    if (!VERBS.some((verb) => verb === name)) errors[name] = ['Unknown field.'];
  const [add = [], remove = []] = VERBS.map((verb) => {
    const keys = Object.hasOwn(input, verb) ? parseKeys(input[verb], key) : valid([]);
    if (keys.errors) errors[verb] = [...keys.errors];
    return keys.errors ? [] : keys.value;
  });
  const added = new Set(add.map((each) => keyText(each.key)));
  const both = remove.filter((each) => added.has(keyText(each.key)));
  if (both.length > 0 && !errors.remove)
    errors.remove = both.map(({ index }) => itemError(index, 'This key is also among those to add.'));
  return Object.keys(errors).length > 0 ? { nested: errors } : valid({ kind: 'change', add, remove });
}

/** The keys of a list, each once. */
export function parseKeys(input: unknown, key: Key): Outcome<readonly ListedKey[]> {
  if (!Array.isArray(input))
    return invalid(`Expected a list of items but got type "${pythonTypeName(input)}".`);
  if (input.length > MAX_RELATED_KEYS) return invalid(TOO_MANY_KEYS);
  const keys = new Map<string, ListedKey>();
  const errors: string[] = [];
  input.forEach((given: unknown, index) => {
    const outcome = parseKeyValue(given, key);
    if (outcome.errors && errors.length < MAX_MESSAGES)
      errors.push(...outcome.errors.map((message) => itemError(index, message)));
    else if (!outcome.errors && !keys.has(keyText(outcome.value)))
      keys.set(keyText(outcome.value), { key: outcome.value, index });
  });
  return errors.length > 0 ? { errors } : valid([...keys.values()]);
}

/** The message of an item of a list. */
export function itemError(index: number, message: string): string {
  return `Item ${index}: ${message}`;
}
