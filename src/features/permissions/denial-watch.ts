import type { Grant, Denial } from '../../core/contracts/permission.js';
import type { DecisionWatch } from '../../core/contracts/compiled-permission.js';

/**
 * Detects a permission that grants only some rows to some callers and refuses others without hiding rows: a refused
 * caller could refer to every row as a parent or as a key.
 */
export class DenialWatch implements DecisionWatch {
  private grantsSomeRows = false;
  private refusesBarely = false;
  private told = false;

  constructor(
    private readonly name: string,
    private readonly warn: (text: string) => void,
  ) {}

  /** References are limited by the decision on GET: a refusal of another method hides no row. */
  note(answer: Grant | Denial, method: string): void {
    if (this.told) return;
    if (answer.kind === 'grant') this.grantsSomeRows ||= answer.rows !== 'all';
    else
      this.refusesBarely ||= method === 'GET' && answer.reason === 'forbidden' && answer.hides === undefined;
    if (!this.grantsSomeRows || !this.refusesBarely) return;
    this.told = true;
    this.warn(
      `${this.name} grants some callers some rows, and refuses others by deny(), which hides no row: they can name every row` +
        ' as the parent in a nested URL and as a key in a body.' +
        " Return deny({ hides: 'rows' }), or deny({ hides: 'nothing' }) where that is meant." +
        " RestifyModule.forRoot(prefix, { refusalsHide: 'rows' }) makes it the default of a prefix.",
    );
  }
}
