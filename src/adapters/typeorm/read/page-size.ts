import { PAGE_CHARACTERS, PAGE_ROWS } from '../../../core/schema/limits.js';
import { MAX_BLOCKING_MILLISECONDS } from '../../../core/event-loop.js';
import type { Records } from '../../../sql/statement.js';

/** A row of a shorter page may take this many times as long: where it takes longer, it is not the rows that take the time. */
const WORTH = 1.3;

/** How many rows the next page of a resource has: fewer where its rows are wide, as far as the last thousand of them tell. */
export class PageSize {
  private width = 0;
  /** How often a page was halved because it held the process for too long, in the list that was read last. */
  private paced = 0;

  get rows(): number {
    return rowsOf(this.halvings);
  }

  /** Halves, because each number is a statement of its own. */
  private get halvings(): number {
    let halvings = 0;
    while (rowsOf(halvings) > 1 && rowsOf(halvings) * this.width > PAGE_CHARACTERS) halvings++;
    return halvings;
  }

  learn(count: number, characters: number): void {
    if (count > 0) this.width += (characters / count - this.width) * Math.min(1, count / PAGE_ROWS);
  }

  /** The sizes of the pages of one list, which begins as the last one of the resource went on. */
  pace(): PagePace {
    return new PagePace(this.paced, {
      widest: () => this.halvings,
      keep: (halvings) => (this.paced = halvings),
    });
  }
}

/** A page of so many halvings, and how long each of its rows has held the process. */
interface Measured {
  readonly halvings: number;
  readonly perRow: number;
}

/**
 * The sizes of the pages of one list: as small as it takes for none to hold the process for long. Where the time of a page is
 * not that of its rows, because the database sorts all rows for each page, they are as long as is worth their time.
 */
export class PagePace {
  /** From a page that took too long to shorter ones, or from one that was too short to longer ones. */
  private search:
    | { readonly way: 'shorter' | 'longer'; readonly from: Measured; readonly isRepeated?: boolean }
    | undefined;
  private settled = false;

  constructor(
    private paced: number,
    private readonly size: { readonly widest: () => number; readonly keep: (halvings: number) => unknown },
  ) {}

  get rows(): number {
    return rowsOf(this.halvings);
  }

  private get halvings(): number {
    return Math.max(this.size.widest(), this.paced);
  }

  /** How long the last page has held the process. */
  learn(milliseconds: number): void {
    if (!this.settled) this.size.keep((this.paced = this.next(milliseconds)));
  }

  private next(milliseconds: number): number {
    const { search, halvings } = this;
    const page = { halvings, perRow: milliseconds / rowsOf(halvings) };
    if (search?.way === 'longer') return this.longer(page, search.from);
    this.search = undefined;
    if (milliseconds * 2 < MAX_BLOCKING_MILLISECONDS) return Math.max(0, this.paced - 1);
    if (milliseconds <= MAX_BLOCKING_MILLISECONDS) return this.paced;
    const from = search?.from ?? page;
    if (page.perRow > from.perRow * WORTH) {
      // Once more: the machine may have been busy with something else.
      if (search?.isRepeated !== true) {
        this.search = { way: 'shorter', from, isRepeated: true };
        return halvings;
      }
      this.search = { way: 'longer', from: page };
      return halvings - 1;
    }
    if (rowsOf(halvings) === 1) return this.paced;
    this.search = { way: 'shorter', from };
    return halvings + 1;
  }

  /** Until it does not pay any more: then the list goes on with pages of the size before. */
  private longer(page: Measured, from: Measured): number {
    const pays = page.perRow * WORTH < from.perRow;
    if (pays && page.halvings > this.size.widest()) {
      this.search = { way: 'longer', from: page };
      return page.halvings - 1;
    }
    this.settled = true;
    return pays ? page.halvings : from.halvings;
  }
}

function rowsOf(halvings: number): number {
  return Math.max(1, Math.floor(PAGE_ROWS / 2 ** halvings));
}

/** About: what is no text is short. */
export function charactersOf(records: Records): number {
  let characters = 0;
  for (const record of records)
    for (const value of record)
      characters += typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 8;
  return characters;
}
