export const TIME_UNITS = ['year', 'quarter', 'month', 'week', 'day', 'hour'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The clock of an instant in a zone, as if it were one of UTC, and how many milliseconds it is before UTC. */
function clockOf(instant: number, timeZone: string): { readonly clock: number; readonly offset: number } {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 1, ...rest] = (['year', 'month', 'day', 'hour', 'minute', 'second'] as const).map(
    (type) => parts.get(type) ?? 0,
  );
  const clock = Date.UTC(year, month - 1, ...rest);
  return { clock, offset: clock - Math.floor(instant / 1000) * 1000 };
}

/** The key of the unit in which a date or a date-time is (contract 26.6). Dates have no zone. */
export function beginOfUnit(value: string, unit: TimeUnit, zone: string): string {
  const isDate = !value.includes('T');
  const { clock, offset } = isDate
    ? { clock: Date.parse(`${value}T00:00:00Z`), offset: 0 }
    : clockOf(Date.parse(value), zone);
  const at = new Date(clock);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const dayText = (...date: readonly [number, number, number]): string =>
    new Date(Date.UTC(...date)).toISOString().slice(0, 10);
  switch (unit) {
    case 'year':
      return dayText(year, 0, 1);
    case 'quarter':
      return dayText(year, Math.floor(month / 3) * 3, 1);
    case 'month':
      return dayText(year, month, 1);
    case 'week':
      return dayText(year, month, day - ((at.getUTCDay() + 6) % 7));
    case 'day':
      return dayText(year, month, day);
    case 'hour':
      return `${at.toISOString().slice(0, 13)}:00:00${offsetText(offset / 60_000)}`;
    default:
      return unit satisfies never;
  }
}

function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const twoDigits = (number: number): string => String(number).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(rest)}`;
}
