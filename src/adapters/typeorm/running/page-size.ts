import { PAGE_CHARACTERS, PAGE_ROWS } from '../../../model/limits.js';
import type { Records } from '../sql/statement.js';


/** How many rows the next page of a resource has: fewer where its rows are wide, as far as the last thousand of them tell. */
export class PageSize {
  private width = 0;

  get rows(): number {
    let rows = PAGE_ROWS;
    // By halves, because each number is a statement of its own.
    while (rows > 1 && rows * this.width > PAGE_CHARACTERS) rows = Math.floor(rows / 2);
    return rows;
  }

  learn(count: number, characters: number): void {
    if (count > 0) this.width += (characters / count - this.width) * Math.min(1, count / PAGE_ROWS);
  }
}

/** About: what is no text is short. */
export function charactersOf(records: Records): number {
  let characters = 0;
  for (const record of records) for (const value of record) characters += typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 8;
  return characters;
}
