import { STATUS_CODES } from 'node:http';
import type { RestErrorResponse } from '../../core/errors/rest-exception.js';
import { PROBLEM_MEDIA_TYPE } from '../../core/media-type.js';
import { jsonResponse } from './rest-response.js';
import type { RestResponse } from './rest-response.js';

/**
 * An error as RFC 9457 has it: `type` is `about:blank`, so `title` says what the status says, and `detail` what happened. Errors
 * of fields stand under `errors`, as they are in a body of contract 6.1.
 */
export function problemResponse({ status, body, headers }: RestErrorResponse): RestResponse {
  const detail = 'detail' in body ? body.detail : undefined;
  const told =
    typeof detail === 'string' ? { detail } : { detail: 'The request has invalid fields.', errors: body };
  return jsonResponse(
    status,
    { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, ...told },
    { ...headers, 'Content-Type': PROBLEM_MEDIA_TYPE },
  );
}
