/** The headers of every response, errors included (contract 7.1), in addition to `Allow`, `Content-Type` and `Vary`. */
export const FIXED_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Referrer-Policy', 'same-origin'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
];

const VARY_NAMES = ['Accept', 'Cookie'] as const;
const DEFAULT_VARY = VARY_NAMES.join(', ');

/** Merges the `Vary` header with the one that is already set. */
export function mergeVary(before: string | readonly string[] | number | undefined): string {
  if (before === undefined || before === DEFAULT_VARY) return DEFAULT_VARY;
  const names = (Array.isArray(before) ? before.join(',') : String(before))
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.includes('*')) return '*';
  const lower = new Set(names.map((name) => name.toLowerCase()));
  return [...names, ...VARY_NAMES.filter((name) => !lower.has(name.toLowerCase()))].join(', ');
}
