/** A pseudo-random generator (mulberry32): the values look like those of users, and are the same in every run. */
export class Random {
  constructor(private state: number) {}

  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `low` to `high`, inclusive. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.next() * items.length)] ?? items[0];
  }

  word(): string {
    return Array.from({ length: this.integer(1, 4) }, () => this.pick(SYLLABLES)).join('');
  }

  words(low: number, high: number): string {
    return Array.from({ length: this.integer(low, high) }, () => this.word()).join(' ');
  }

  /** A UUID of version 4. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.integer(0, 15).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  /** An instant between 2015 and 2026, with milliseconds. */
  instant(): string {
    return new Date(this.integer(Date.UTC(2015, 0, 1), Date.UTC(2025, 11, 31))).toISOString();
  }
}

/** Some of them have letters that JSON, URLs and databases encode. */
const SYLLABLES = [
  'ka',
  'lo',
  'mer',
  'tis',
  'ün',
  'gra',
  'pel',
  "o'",
  'sta',
  'vi',
  'ro',
  'dén',
  'qu',
  'za',
] as const;
