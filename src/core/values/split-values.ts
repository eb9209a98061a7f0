import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';

/**
 * The values of a list in a URL: commas stand between them. A value that begins with a double quote ends with the next
 * one, and its commas are its own; in quotes `\"` is a quote and `\\` a backslash. One pass, so that no input is slow.
 */
export function splitValues(text: string): Outcome<readonly string[]> {
  const values: string[] = [];
  let at = 0;
  for (;;) {
    const quoted = text[at] === '"' ? readQuoted(text, at) : undefined;
    if (text[at] === '"' && !quoted) return invalid('A quote is not closed.');
    const comma = text.indexOf(',', at);
    const end = quoted?.end ?? (comma < 0 ? text.length : comma);
    values.push(quoted?.value ?? text.slice(at, end));
    if (end === text.length) return valid(values);
    if (text[end] !== ',') return invalid('Write a comma behind a quoted value.');
    at = end + 1;
  }
}

/** The text in the quotes that begin here, and where it goes on behind them; undefined where nothing closes them. */
export function readQuoted(
  text: string,
  begin: number,
): { readonly value: string; readonly end: number } | undefined {
  let value = '';
  for (let at = begin + 1; at < text.length; at++) {
    const letter = text[at] ?? '';
    if (letter === '"') return { value, end: at + 1 };
    const next = text[at + 1];
    if (letter === '\\' && (next === '"' || next === '\\')) {
      value += next;
      at++;
    } else value += letter;
  }
  return undefined;
}
