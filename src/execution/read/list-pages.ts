import { PAGE_CHARACTERS, PAGE_ROWS } from '../../core/schema/limits.js';
import { BlockingTime, MAX_BLOCKING_MILLISECONDS, nextTurn } from '../../core/event-loop.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { DONE, TextPieces } from '../../core/values/text-pieces.js';
import type { Records } from '../../sql/statement.js';

/** The tolerated increase of the time per row in a shorter page. Beyond it, the time does not depend on the number of rows. */
const MAX_SLOWDOWN = 1.3;

/** The number of rows of the next page of a resource: fewer if its rows are wide, by a moving average of about a thousand rows. */
export class PageSize {
  private width = 0;
  /** How often the size of a page was halved because it blocked the event loop for too long, in the last list that was read. */
  private paceHalvings = 0;

  get rows(): number {
    return rowsAfterHalvings(this.halvings);
  }

  /** Sizes are halved only, because each size needs its own prepared statement. */
  private get halvings(): number {
    let halvings = 0;
    while (rowsAfterHalvings(halvings) > 1 && rowsAfterHalvings(halvings) * this.width > PAGE_CHARACTERS)
      halvings++;
    return halvings;
  }

  learn(count: number, characters: number): void {
    if (count > 0) this.width += (characters / count - this.width) * Math.min(1, count / PAGE_ROWS);
  }

  /** The sizes of the pages of one list, which begins with the last size of the previous list. */
  pace(): PagePace {
    return new PagePace(this.paceHalvings, {
      widest: () => this.halvings,
      keep: (halvings) => (this.paceHalvings = halvings),
    });
  }
}

/** The size of a page, and how long each of its rows has blocked the event loop. */
interface MeasuredPage {
  readonly halvings: number;
  readonly perRow: number;
}

/**
 * The sizes of the pages of one list: small enough that no page blocks the event loop for long. If the time of a page does not
 * depend on its size, because the database sorts all rows for each page, longer pages are used as long as they take less time
 * per row.
 */
export class PagePace {
  /** The current search: from a page that took too long to shorter ones, or from there to longer ones. */
  private search:
    | { readonly direction: 'shorter' | 'longer'; readonly from: MeasuredPage; readonly isRepeated?: boolean }
    | undefined;
  private isSettled = false;

  constructor(
    private paceHalvings: number,
    private readonly size: { readonly widest: () => number; readonly keep: (halvings: number) => unknown },
  ) {}

  get rows(): number {
    return rowsAfterHalvings(this.halvings);
  }

  private get halvings(): number {
    return Math.max(this.size.widest(), this.paceHalvings);
  }

  /** Adapts the size to how long the last page has blocked the event loop. */
  learn(milliseconds: number): void {
    if (!this.isSettled) this.size.keep((this.paceHalvings = this.next(milliseconds)));
  }

  private next(milliseconds: number): number {
    const { search, halvings } = this;
    const page = { halvings, perRow: milliseconds / rowsAfterHalvings(halvings) };
    if (search?.direction === 'longer') return this.longer(page, search.from);
    this.search = undefined;
    if (milliseconds * 2 < MAX_BLOCKING_MILLISECONDS) return Math.max(0, this.paceHalvings - 1);
    if (milliseconds <= MAX_BLOCKING_MILLISECONDS) return this.paceHalvings;
    const from = search?.from ?? page;
    if (page.perRow > from.perRow * MAX_SLOWDOWN) {
      // Repeated once, because the machine may have been busy with other work.
      if (search?.isRepeated !== true) {
        this.search = { direction: 'shorter', from, isRepeated: true };
        return halvings;
      }
      this.search = { direction: 'longer', from: page };
      return halvings - 1;
    }
    if (rowsAfterHalvings(halvings) === 1) return this.paceHalvings;
    this.search = { direction: 'shorter', from };
    return halvings + 1;
  }

  /** Searches longer pages until the time per row no longer improves; the list continues with the last size that improved it. */
  private longer(page: MeasuredPage, from: MeasuredPage): number {
    const improves = page.perRow * MAX_SLOWDOWN < from.perRow;
    if (improves && page.halvings > this.size.widest()) {
      this.search = { direction: 'longer', from: page };
      return page.halvings - 1;
    }
    this.isSettled = true;
    return improves ? page.halvings : from.halvings;
  }
}

function rowsAfterHalvings(halvings: number): number {
  return Math.max(1, Math.floor(PAGE_ROWS / 2 ** halvings));
}

/** The approximate size of records in characters. Values other than texts and bytes count as 8. */
export function charactersOf(records: Records): number {
  let characters = 0;
  for (const record of records)
    for (const value of record)
      characters += typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 8;
  return characters;
}

/** The rows of one page of a list as comma-separated JSON, and the cursor of its end. */
export interface ListPage {
  readonly text: string;
  readonly count: number;
  /** The cursor values of the last row if the page is full. */
  readonly last: readonly unknown[];
}

type ReadListPage = (after: readonly unknown[], limit: number) => MaybePromise<ListPage | undefined>;

/** The texts of a list from its first, full page on; each page is read in a turn of the event loop of its own. */
export function iteratePages(first: ListPage, pace: PagePace, readPage: ReadListPage): AsyncIterable<string> {
  return new TextPieces([first.text], remainingPages(first.last, pace, readPage));
}

function remainingPages(
  last: readonly unknown[],
  pace: PagePace,
  readPage: ReadListPage,
): AsyncIterator<string> {
  /** The cursor values of the last row that was read; undefined at the end. */
  let after: readonly unknown[] | undefined = last;
  let blocking: BlockingTime | undefined;
  return {
    async next() {
      const from = after;
      if (!from) return DONE;
      // An error ends the iteration.
      after = undefined;
      if (blocking) pace.learn(blocking.milliseconds);
      await nextTurn();
      blocking = new BlockingTime();
      const limit = pace.rows;
      const page = await readPage(from, limit);
      if (!page) return DONE;
      if (page.count === limit) after = page.last;
      return { done: false, value: page.text };
    },
  };
}
