import type { AccessContext, Grant, Permission } from '../../core/contracts/permission.js';

/** A yes to everybody, to some of the rows: what a controller's `scope` makes. It takes no field and no right away. */
export class RowScope implements Permission {
  constructor(readonly decide: (question: AccessContext) => Promise<Grant>) {}
}
