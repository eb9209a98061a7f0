import { ANSWER_PART } from '../../../core/schema/limits.js';

/** The same JSON without a character that a database could store as another one, or cut in two: surrogates stand escaped each for itself. */
export function asciiJson(json: string): string {
  return json.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One at least, none too long for a column. */
export function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < text.length; at += ANSWER_PART)
    parts.push(text.slice(at, at + ANSWER_PART));
  return parts;
}
