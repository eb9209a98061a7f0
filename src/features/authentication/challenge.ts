import type { AuthenticationScheme } from '../../core/contracts/authentication.js';

const CHALLENGES = new WeakMap<readonly AuthenticationScheme[], string | undefined>();

/** The challenges of all schemes in use that have one, in their order (RFC 9110, 11.6.1). */
export function challengeOf(schemes: readonly AuthenticationScheme[]): string | undefined {
  if (!CHALLENGES.has(schemes)) {
    const challenges = new Set(schemes.flatMap(({ challenge }) => challenge ?? []));
    CHALLENGES.set(schemes, challenges.size === 0 ? undefined : [...challenges].join(', '));
  }
  return CHALLENGES.get(schemes);
}
