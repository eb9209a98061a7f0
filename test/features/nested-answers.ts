import type { Answer } from '../support/client.js';

export const LIST_ALLOW = 'GET, POST, HEAD, OPTIONS';
export const READ_ALLOW = 'GET, HEAD, OPTIONS';
export const OBJECT_ALLOW = 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS';

export const REQUIRED = ['This field is required.'];

/** Status and body together, so that neither is asserted alone. */
export function seen({ status, json }: Answer): readonly [status: number, body: unknown] {
  return [status, json];
}

export const NOT_FOUND = [404, { detail: 'Not found.' }];
export const DELETED = [204, undefined];

export function notAllowed(method: string): readonly [number, unknown] {
  return [405, { detail: `Method "${method}" not allowed.` }];
}

export function noSuchPk(key: string): readonly string[] {
  return [`Invalid pk "${key}" - object does not exist.`];
}

/** The refusal of a pair that is there already; its words are free. */
export function isRefusedPair({ status, json }: Answer): boolean {
  const body = json as Record<string, readonly string[]> | undefined;
  return (
    status === 400 &&
    Object.keys(body ?? {}).join() === 'non_field_errors' &&
    body?.non_field_errors?.length === 1
  );
}

/** The pk of an answer's object. */
export function idOf({ json }: Answer): number {
  return (json as { id: number }).id;
}

/** Texts that are the key of no row with an integer key. */
export const NO_INTEGER_KEYS = [
  'abc',
  '1.5',
  '01',
  '+1',
  '1e0',
  '%201',
  '-',
  '2147483648',
  '99999999999999999999',
  '-99999999999999999999',
  '%00',
  '%ZZ',
  '%',
  '%E0%A4%A',
  '1%00',
  'null',
  'NaN',
  '1,1',
  '__proto__',
];
