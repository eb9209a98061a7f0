import { de } from './de.js';
import { en } from './en.js';
import type { MessageName, Messages } from './en.js';

const CATALOGUES: Readonly<Record<string, Messages>> = { en, de };

/** The language of the page: the first of the browser's languages that has a catalogue. */
export function chooseLanguage(languages: readonly string[]): string {
  const codes = languages.map((each) => each.toLowerCase().split('-')[0] ?? '');
  return codes.find((code) => Object.hasOwn(CATALOGUES, code)) ?? 'en';
}

let messages: Messages = en;

export function setLanguage(language: string): void {
  messages = CATALOGUES[language] ?? en;
}

/** The text of a message, with values in place of the names in braces. */
export function text(name: MessageName, values: Readonly<Record<string, string | number>> = {}): string {
  return messages[name].replace(/\{(\w+)\}/g, (_whole, key: string) => String(values[key] ?? ''));
}

/** The message of a name that is known only at run time, such as a lookup; undefined if there is none. */
export function findText(name: string): string | undefined {
  return Object.hasOwn(messages, name) ? messages[name as MessageName] : undefined;
}
