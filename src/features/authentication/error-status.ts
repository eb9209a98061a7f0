import { isRestException } from '../../core/errors/rest-exception.js';

/** The status that an error asks for: one of this package, or an HttpException of Nest, which may be loaded twice. Undefined for anything unforeseen. */
export function statusOfError(error: unknown): number | undefined {
  if (isRestException(error)) return error.answer.status;
  const like = error as { readonly getStatus?: () => unknown } | null | undefined;
  if (typeof like?.getStatus !== 'function') return undefined;
  const status = like.getStatus();
  return typeof status === 'number' ? status : undefined;
}
