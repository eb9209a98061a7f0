import type { Grant, Denial, DecisionWatch } from '../../core/contracts/permission.js';

/**
 * Detects a permission that grants only some rows to some callers and denies others access without hiding rows: those
 * could refer to every row as a parent or as a key.
 */
export class DenialWatch implements DecisionWatch {
  private grantsSomeRows = false;
  private deniesWithoutHiding = false;
  private hasWarned = false;

  constructor(
    private readonly name: string,
    private readonly warn: (text: string) => void,
  ) {}

  /** References are limited by the decision on GET: a denial of another method hides no row. */
  record(decision: Grant | Denial, method: string): void {
    if (this.hasWarned) return;
    if (decision.kind === 'grant') this.grantsSomeRows ||= decision.rows !== 'all';
    else
      this.deniesWithoutHiding ||=
        method === 'GET' && decision.reason === 'forbidden' && decision.hides === undefined;
    if (!this.grantsSomeRows || !this.deniesWithoutHiding) return;
    this.hasWarned = true;
    this.warn(
      `${this.name} grants some callers some rows, and refuses others by deny(), which hides no row: they can name every row` +
        ' as the parent in a nested URL and as a key in a body.' +
        " Return deny({ hides: 'rows' }), or deny({ hides: 'nothing' }) where this is intended." +
        " RestifyModule.forRoot(prefix, { refusalsHide: 'rows' }) makes it the default of a prefix.",
    );
  }
}
