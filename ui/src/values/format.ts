/** Characters of a text that a table shows. */
export const SHORT_TEXT = 80;

/** A date and time in the local zone and language; the text itself if it is not a date. */
export function formatInstant(text: string, language: string): string {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return text;
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(date);
}

/** A day without a time zone. */
export function formatDay(text: string, language: string): string {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!parts) return text;
  const date = new Date(Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])));
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(date);
}

/** The begin of a unit of time, as a group has it: `2026-11-01` of a month as `November 2026`. */
export function formatUnit(key: string, unit: string, language: string): string {
  const [, year = '', month = ''] = /^(\d{4})-(\d{2})/.exec(key) ?? [];
  switch (unit) {
    case 'year':
      return year;
    case 'quarter':
      return `${year} Q${Math.ceil(Number(month) / 3)}`;
    case 'month':
      return new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
        Date.parse(key),
      );
    case 'hour':
      // In the zone of the groups, which may be another one than that of the browser.
      return `${formatDay(key.slice(0, 10), language)}, ${key.slice(11, 16)} ${key.slice(19)}`;
    default:
      return formatDay(key, language);
  }
}

/** The number of bytes of base64. */
export function countBytes(base64: string): number {
  const padding = /=*$/.exec(base64)?.[0].length ?? 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

const UNITS = ['B', 'kB', 'MB', 'GB'] as const;

export function formatBytes(bytes: number, language: string): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 ? 0 : 1;
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value)} ${UNITS[unit] ?? ''}`;
}

/** The beginning of a text, at the boundary of a character. */
export function shorten(text: string, length = SHORT_TEXT): string {
  const characters = [...text.slice(0, 2 * length + 2)];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text;
}
