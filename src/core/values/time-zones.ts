/** The years for which the offsets of a time zone are known, the last one excluded. */
export const ZONE_YEARS = { from: 1900, to: 2100 } as const;

/** The offsets of a time zone in seconds east of UTC. Times are in seconds since 1970. */
export interface ZoneOffsets {
  /** The name as given by `Intl`. */
  readonly name: string;
  /** The offset before the first change. */
  readonly first: number;
  readonly changes: readonly { readonly at: number; readonly offset: number }[];
}

export const UTC_ZONE: ZoneOffsets = { name: 'UTC', first: 0, changes: [] };

const FROM = Date.UTC(ZONE_YEARS.from, 0, 1) / 1000;
const TO = Date.UTC(ZONE_YEARS.to, 0, 1) / 1000;
/** Shorter than every time between two changes of a zone. */
const STEP = 7 * 24 * 3600;

/** Names of IANA, as in `Europe/Berlin`: the names that `Intl` knows, without offsets such as `+02:00`. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;

/** By the name that `Intl` gives: their number is limited by the database of zones. */
const KNOWN = new Map<string, ZoneOffsets>();

/** The offsets of a time zone, computed once; undefined for an unknown name. */
export function findZone(name: string): ZoneOffsets | undefined {
  const canonical = ZONE_NAME.test(name) ? canonicalName(name) : undefined;
  if (canonical === undefined) return undefined;
  const known = KNOWN.get(canonical) ?? computeOffsets(canonical);
  KNOWN.set(canonical, known);
  return known;
}

/** Those of the time zone of this process. */
export function processZone(): ZoneOffsets {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const known = KNOWN.get(timeZone) ?? computeOffsets(timeZone);
  KNOWN.set(timeZone, known);
  return known;
}

/** Whether its clock is always that of UTC. */
export function isAtUtc({ first, changes }: ZoneOffsets): boolean {
  return first === 0 && changes.length === 0;
}

/** A zone that is always so many seconds east of UTC. */
export function fixedZone(offset: number): ZoneOffsets {
  return { name: '', first: offset, changes: [] };
}

/** What leads from a clock to that of a zone: both by the time on the first clock. */
export interface ClockShift {
  /** The seconds to be added. */
  readonly shift: ZoneOffsets;
  /** The offset of the zone. */
  readonly offset: ZoneOffsets;
}

/** From the clock of one zone to that of another. A time that occurs twice on the first clock is the first one, as in JavaScript. */
export function shiftBetween(own: ZoneOffsets, zone: ZoneOffsets): ClockShift {
  const shifts: ZoneOffsets['changes'][number][] = [];
  const offsets: ZoneOffsets['changes'][number][] = [];
  for (const { from, to, offset: before } of segmentsOnClock(own))
    for (const each of segmentsOf(zone)) {
      const at = Math.max(from, each.from + before);
      if (at >= Math.min(to, each.to + before)) continue;
      shifts.push({ at, offset: each.offset - before });
      offsets.push({ at, offset: each.offset });
    }
  return { shift: zoneOf(shifts), offset: zoneOf(offsets) };
}

interface Segment {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

/** The times of each offset in UTC. */
function segmentsOf({ first, changes }: ZoneOffsets): readonly Segment[] {
  const all = [{ at: -Infinity, offset: first }, ...changes];
  return all.map(({ at, offset }, index) => ({ from: at, to: all[index + 1]?.at ?? Infinity, offset }));
}

/** The same on the clock of the zone itself. */
function segmentsOnClock(zone: ZoneOffsets): readonly Segment[] {
  const segments = segmentsOf(zone);
  const bound = (at: number, index: number): number =>
    Number.isFinite(at) ? at + Math.max(segments[index]?.offset ?? 0, segments[index - 1]?.offset ?? 0) : at;
  return segments.map(({ from, to, offset }, index) => ({
    from: bound(from, index),
    to: bound(to, index + 1),
    offset,
  }));
}

function zoneOf(changes: ZoneOffsets['changes']): ZoneOffsets {
  const different = changes.filter(({ offset }, index) => offset !== changes[index - 1]?.offset);
  return { name: '', first: different[0]?.offset ?? 0, changes: different.slice(1) };
}

function canonicalName(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Searches the changes between samples, as `Intl` does not list them. */
function computeOffsets(name: string): ZoneOffsets {
  const offsetAt = offsetReader(name);
  const first = offsetAt(FROM);
  const changes: { at: number; offset: number }[] = [];
  let offset = first;
  let before = FROM;
  while (before < TO) {
    const next = Math.min(before + STEP, TO);
    if (offsetAt(next) === offset) before = next;
    else {
      before = findChange(before, next, (at) => offsetAt(at) !== offset);
      offset = offsetAt(before);
      changes.push({ at: before, offset });
    }
  }
  return { name, first, changes };
}

/** The first second after `low` at which the offset is another one. */
function findChange(low: number, high: number, isChanged: (at: number) => boolean): number {
  let [same, changed] = [low, high];
  while (changed - same > 1) {
    const middle = Math.floor((same + changed) / 2);
    if (isChanged(middle)) changed = middle;
    else same = middle;
  }
  return changed;
}

const PARTS = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/;

function offsetReader(timeZone: string): (at: number) => number {
  const numeric = 'numeric';
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  return (at) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (
      PARTS.exec(format.format(at * 1000)) ?? []
    )
      .slice(1)
      .map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - at;
  };
}
