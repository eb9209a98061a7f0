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

/** The label of an object by the template of its description; its key without one. */
export function labelOf(row: Row, { label, key }: Pick<RouteDescription, 'label' | 'key'>): string {
  const written = label?.replace(/\{([^{}]*)\}/g, (_whole, name: string) => {
    const value = row[name];
    return value === null || value === undefined ? '' : String(value);
  });
  const text = written?.trim() ?? '';
  return text === '' ? (key ?? []).map((name) => String(row[name] ?? '')).join(', ') : text;
}
