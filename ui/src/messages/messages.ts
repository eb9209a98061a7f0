import type { PageMessages } from '../../../src/core/contracts/browsable.js';
import { de } from './de.js';
import { en } from './en.js';
import type { MessageName, Messages } from './en.js';

const CATALOGUES: Readonly<Record<string, Messages>> = { en, de };

/** The language of the page: the first of the browser's languages that has a catalogue, or texts of the application. */
export function chooseLanguage(languages: readonly string[], given: PageMessages = {}): string {
  const codes = languages.map((each) => each.toLowerCase().split('-')[0] ?? '');
  return codes.find((code) => Object.hasOwn(CATALOGUES, code) || Object.hasOwn(given, code)) ?? 'en';
}

let messages: Messages = en;

/** @param given texts of the application, which replace those of the catalogue. */
export function setLanguage(language: string, given: PageMessages = {}): void {
  messages = { ...en, ...given.en, ...CATALOGUES[language], ...given[language] };
}

/** The text of a message, with values in place of the names in braces. */
export function text(name: MessageName, values: Readonly<Record<string, string | number>> = {}): string {
  return messages[name].replace(/\{(\w+)\}/g, (_whole, key: string) => String(values[key] ?? ''));
}

/** The message of a name that is known only at run time, such as a lookup; undefined if there is none. */
export function findText(name: string): string | undefined {
  return Object.hasOwn(messages, name) ? messages[name as MessageName] : undefined;
}
