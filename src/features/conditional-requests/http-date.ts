const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
const TIME_PATTERN = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})';

/** The three formats of RFC 9110, 5.6.7: the one that is generated, and two obsolete ones. */
const FORMS: readonly RegExp[] = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${TIME_PATTERN} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\\d{2}) ${TIME_PATTERN} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${TIME_PATTERN} (?<year>\\d{4})$`),
];

/** An HTTP date as epoch milliseconds; undefined for an invalid one, which is ignored (RFC 9110, 13.1.3). */
export function parseHttpDate(text: string, now: number): number | undefined {
  for (const form of FORMS) {
    const found = form.exec(text.trim())?.groups;
    if (found) return toInstant(found, now);
  }
  return undefined;
}

function toInstant(
  { day, month, year = '', hour, minute, second }: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const index = MONTHS.indexOf(month as (typeof MONTHS)[number]);
  if (
    index < 0 ||
    Number(day) < 1 ||
    Number(day) > 31 ||
    Number(hour) > 23 ||
    Number(minute) > 59 ||
    Number(second) > 60
  )
    return undefined;
  return Date.UTC(
    year.length === 2 ? wholeYear(Number(year), now) : Number(year),
    index,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
}

/** A two-digit year more than 50 years in the future is one of the past. */
function wholeYear(digits: number, now: number): number {
  const current = new Date(now).getUTCFullYear();
  const year = Math.floor(current / 100) * 100 + digits;
  return year > current + 50 ? year - 100 : year;
}

/** Truncated to whole seconds. */
export function httpDate(instant: number): string {
  return new Date(instant).toUTCString();
}
