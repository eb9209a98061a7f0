import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompilerInput } from '../compiler-input.js';

const VALID_PREFIX = /^(?:[A-Za-z0-9_.~-]+(?:\/[A-Za-z0-9_.~-]+)*)?$/;

/** Verifies that a prefix is a plain path, and unique. */
export function verifyPrefix({ prefix, takenPrefixes }: CompilerInput): readonly DeclarationProblem[] {
  const where = `RestifyModule.forRoot('${prefix}')`;
  if (!VALID_PREFIX.test(prefix))
    return [
      {
        where,
        what: `"${prefix}" is not a valid path`,
        repair: "Write segments of letters, digits, '_', '-' and '.', with slashes between: 'rest/v1'.",
      },
    ];
  return takenPrefixes.includes(prefix)
    ? [{ where, what: 'the prefix is given twice', repair: 'Give each forRoot a prefix of its own.' }]
    : [];
}
