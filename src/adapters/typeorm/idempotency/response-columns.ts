import { ANSWER_PART } from '../../../core/schema/limits.js';

/** Escapes all characters beyond ASCII, so that the JSON does not depend on the character set of the database, and can be divided anywhere. */
export function asciiJson(json: string): string {
  return json.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Divides a text into parts that fit in a column, at least one. */
export function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < text.length; at += ANSWER_PART)
    parts.push(text.slice(at, at + ANSWER_PART));
  return parts;
}
