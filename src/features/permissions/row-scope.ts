import type { AccessContext, Grant, Permission } from '../../core/contracts/permission.js';

/** The permission of a controller's `scope`: grants everything on some of the rows, and so only adds a row condition. */
export class RowScope implements Permission {
  constructor(readonly decide: (context: AccessContext) => Promise<Grant>) {}
}
