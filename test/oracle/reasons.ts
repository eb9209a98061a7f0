import type { Answer } from './step.js';

/**
 * The messages of a 400 that depend on the stored rows instead of the body: a valid body may be rejected
 * with these only (contract 5.9, contract 5.11).
 */
const OF_THE_STATE = [
  // `Item 0:` in the keys that a body removes.
  /^(Item \d+: )?Invalid pk ".*" - object does not exist\.$/s,
  /^This field must be unique\.$/,
  /^The fields .+ must make a unique set\.$/,
  /^An object with these values exists already\.$/,
  /^A related object does not exist\.$/,
  /^An object cannot stand below itself\.$/,
  /^This object is in the list already\.$/,
];

/** Constraints that no schema can express, each documented in docs/. */
const BEYOND_SCHEMAS: readonly (readonly [name: string, message: RegExp])[] = [
  ['values of a composite key in a filter', /^Enter \d+ values with commas between them\.$/],
  ['digits of a number', /^Ensure that there are no more than \d+ (decimal places|digits in total)\.$/],
  // The formats of JSON Schema accept less than the validator.
  ['a validator of URLs', /^\w+ must be a URL address$/],
  ['limits of a query (docs/reference/limits.md)', /^Ensure there are no more than \d+ terms\.$/],
  [
    'which parameters of aggregates belong together, and names of time zones',
    /^(Only with "\w+"\.|Not with "\w+"\.|Name ".*" once\.|There is no such time zone: |Groups cannot be ordered by |A sum is too large |There are more than \d+ groups\.|".*" has dates outside of )/s,
  ],
  [
    'which objects a bulk write is about',
    /^(Name the objects: by "keys", or by filters\.|These filters leave no object out\.)$/,
  ],
];

/** All messages of an error body. */
export function messagesOf(json: unknown): readonly string[] {
  if (typeof json === 'string') return [json];
  if (Array.isArray(json)) return json.flatMap(messagesOf);
  if (typeof json !== 'object' || json === null) return [];
  return Object.values(json).flatMap(messagesOf);
}

/** Whether a 400 depends on the stored rows only. */
export function isOfTheState({ json }: Answer): boolean {
  const messages = messagesOf(json);
  return messages.length > 0 && messages.every((message) => OF_THE_STATE.some((each) => each.test(message)));
}

/** The names of the constraints beyond schemas that a 400 reports, apart from the state; undefined if it reports anything else. */
export function beyondSchemas({ json }: Answer): readonly string[] | undefined {
  // `_end` must be greater than `_start`, and excludes `_page`: no schema compares two parameters (contract 18).
  if (typeof json === 'object' && json !== null && /^(_end|_page)$/.test(Object.keys(json).join()))
    return ['the window of json-server'];
  const names = messagesOf(json)
    .filter((message) => !OF_THE_STATE.some((each) => each.test(message)))
    .map((message) => BEYOND_SCHEMAS.find(([, pattern]) => pattern.test(message))?.[0]);
  return names.every((name) => name !== undefined) && names.length > 0 ? [...new Set(names)] : undefined;
}
