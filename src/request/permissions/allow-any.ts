import { GRANT_ALL } from '../../model/permission.js';
import type { Grant, Permission } from '../../model/permission.js';

/** Everybody may do everything. What holds where nobody names a permission (contract 8). */
export class AllowAny implements Permission {
  decide(): Grant {
    return GRANT_ALL;
  }
}
