import type { LibraryRequest, VerifyBasic } from '../../core/contracts/authentication.js';
import { parseBasicCredentials } from './basic-credentials.js';

/** The members that Passport adds to the strategy object that it runs for a request. */
interface StrategyActions {
  success(actor: object): void;
  fail(): void;
  error(cause: unknown): void;
}

/** The part of passport-http that is used here; an optional peer dependency. */
export interface PassportHttpLike {
  readonly BasicStrategy: new (options: { realm: string }, verify: () => void) => object;
}

/**
 * The strategy of passport-http with a corrected parser: the original splits the header at every colon, which truncates
 * passwords that contain one, and accepts bytes that are not UTF-8.
 */
export function basicStrategy(
  verify: VerifyBasic,
  { BasicStrategy }: PassportHttpLike,
  realm: string,
): object {
  class WholePasswordStrategy extends BasicStrategy {
    authenticate(this: StrategyActions, request: LibraryRequest): void {
      const credentials = parseBasicCredentials(request.headers.authorization);
      if (!credentials) {
        this.fail();
        return;
      }
      Promise.resolve()
        .then(() => verify(credentials.username, credentials.password))
        .then(
          (actor) => {
            if (actor) this.success(actor);
            else this.fail();
          },
          (error: unknown) => {
            this.error(error ?? new Error('The verify function failed'));
          },
        );
    }
  }
  return new WholePasswordStrategy({ realm }, () => undefined);
}
