import { escapeText } from './escape-text.js';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import type { Row } from '../api/page.js';

/** The text of an object's key in a URL (contract 1.4); undefined if a value is missing. */
export function keyTextOf(
  row: Row,
  key: readonly string[] | undefined,
  isEncoded = false,
): string | undefined {
  if (!key) return undefined;
  const values = key.map((name) => row[name]);
  if (values.some((value) => value === null || value === undefined)) return undefined;
  return isEncoded
    ? values.map(String).join(',')
    : values.map((value) => encodeURIComponent(String(value))).join(',');
}

/** The segment of a URL as people read it: `mark-as-read` as `Mark as read`. */
export function readableName(segment: string): string {
  const words = segment.replace(/[-_]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The name of the model of a URL, for people. */
export function modelNameOf({ labels, name }: Pick<RouteDescription, 'labels' | 'name'>): string {
  return labels ? escapeText(labels.one) : classNameOf(name);
}

/** The name of the objects of a list, for people. */
export function listNameOf({ labels, name }: Pick<RouteDescription, 'labels' | 'name'>): string {
  return labels ? escapeText(labels.many) : classNameOf(name);
}

function classNameOf(name: string): string {
  return name
    .replace(/ (List|Instance)$/, '')
    .replaceAll('_', ' ')
    .trim();
}

/** The label of an object by the template of its description; its key without one. */
export function labelOf(row: Row, { label, key }: Pick<RouteDescription, 'label' | 'key'>): string {
  const written = label?.replace(/\{([^{}]*)\}/g, (_whole, name: string) => {
    const value = row[name];
    return value === null || value === undefined ? '' : String(value);
  });
  const text = written?.trim() ?? '';
  return text === '' ? (key ?? []).map((name) => String(row[name] ?? '')).join(', ') : text;
}
