/** The types of values in documents that filters compare. */
export const JSON_TYPES = ['string', 'number', 'boolean', 'string[]'] as const;

export type JsonType = (typeof JSON_TYPES)[number];

/**
 * Whether a key can be part of a path: in quotes, without an escape, in each database, and in the name of a query parameter. It becomes
 * a literal of statements.
 */
export function isPathKey(key: string): boolean {
  return key !== '' && !/^-|^\s|\s$|["\\?,=!()[\]\p{Cc}\p{Cs}]/u.test(key);
}
