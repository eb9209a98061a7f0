import { invalid, valid } from './parse-result.js';
import type { Outcome } from './parse-result.js';

/**
 * Splits a comma-separated list in a URL. A value in double quotes may contain commas; in quotes `\"` is a quote and `\\` a
 * backslash. One pass, so that the time is linear for any input.
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

/** Reads the quoted text that begins here; `end` is the index after the closing quote. Undefined without one. */
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
