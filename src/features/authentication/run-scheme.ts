import type {
  AuthenticationScheme,
  LibraryRequest,
  SchemeOutcome,
} from '../../core/contracts/authentication.js';
import { AuthenticationUnavailable } from '../../core/errors/http-exceptions.js';
import { isRestException } from '../../core/errors/rest-exception.js';
import { isPromise } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';

/**
 * The HTTP status of an error: one of this package, or Nest's HttpException, matched by shape because Nest may be loaded
 * twice. Undefined for unforeseen errors.
 */
export function statusOfError(error: unknown): number | undefined {
  if (isRestException(error)) return error.response.status;
  const like = error as { readonly getStatus?: () => unknown } | null | undefined;
  if (typeof like?.getStatus !== 'function') return undefined;
  const status = like.getStatus();
  return typeof status === 'number' ? status : undefined;
}

/** The request whose credentials a scheme checks. */
interface SchemeInput {
  readonly exchange: { readonly request: LibraryRequest };
  /** The `ExecutionContext` that Nest guards receive. */
  readonly context?: unknown;
}

/** The outcome of a scheme within the time limit; a later outcome is ignored. */
export function runScheme(
  scheme: AuthenticationScheme,
  { exchange: { request }, context }: SchemeInput,
  milliseconds: number,
): MaybePromise<SchemeOutcome> {
  const given = startScheme(scheme, request, context);
  if (!isPromise(given)) return given;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(
        new AuthenticationUnavailable({
          cause: new Error(`${checkOf(scheme)} took too long`),
        }),
      );
    }, milliseconds);
    // The timer must not keep the process alive.
    timer.unref();
    given
      .then(resolve, (error: unknown) => {
        reject(new AuthenticationUnavailable({ cause: error }));
      })
      .finally(() => {
        clearTimeout(timer);
      });
  });
}

function startScheme(
  scheme: AuthenticationScheme,
  request: LibraryRequest,
  context: unknown,
): MaybePromise<SchemeOutcome> {
  try {
    return scheme.authenticate(request, context);
  } catch (error) {
    throw new AuthenticationUnavailable({ cause: error });
  }
}

function checkOf({ name }: AuthenticationScheme): string {
  return name === undefined
    ? 'A guard in the place of authentication'
    : `The check of credentials under "${name}"`;
}
