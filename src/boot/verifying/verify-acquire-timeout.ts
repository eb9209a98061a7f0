import type { DeclarationProblem } from '../../errors/declaration-error.js';
import type { Blueprint } from '../compiling/draft.js';

/** What a timer takes. */
const MAX = 2 ** 31;

/** Nobody waits for ever, and nobody gives up before the wait has begun. */
export function verifyAcquireTimeout({ prefix, acquireTimeout }: Blueprint): readonly DeclarationProblem[] {
  if (acquireTimeout > 0 && acquireTimeout < MAX) return [];
  return [{ where: `RestifyModule.forRoot('${prefix}').acquireTimeout`, what: `${String(acquireTimeout)} is no time to wait`, repair: `Give milliseconds, above 0 and below ${MAX}; without the option they are 10000.` }];
}
