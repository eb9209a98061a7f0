import { isRestException } from '../../core/errors/rest-exception.js';

/**
 * The HTTP status of an error: one of this package, or Nest's HttpException, matched by shape because Nest may be loaded
 * twice. Undefined for unforeseen errors.
 */
export function statusOfError(error: unknown): number | undefined {
  if (isRestException(error)) return error.answer.status;
  const like = error as { readonly getStatus?: () => unknown } | null | undefined;
  if (typeof like?.getStatus !== 'function') return undefined;
  const status = like.getStatus();
  return typeof status === 'number' ? status : undefined;
}
