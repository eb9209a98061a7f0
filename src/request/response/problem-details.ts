import { STATUS_CODES } from 'node:http';
import type { RestErrorResponse } from '../../core/errors/rest-exception.js';
import { PROBLEM_MEDIA_TYPE } from '../../core/media-type.js';
import { jsonResponse } from './rest-response.js';
import type { RestResponse } from './rest-response.js';

/**
 * An error as problem details of RFC 9457: `type` is `about:blank`, so `title` is the phrase of the status, and `detail`
 * the message. Errors of fields are under `errors`, as in a body of contract 6.1.
 */
export function problemResponse({ status, body, headers }: RestErrorResponse): RestResponse {
  const detail = 'detail' in body ? body.detail : undefined;
  const details =
    typeof detail === 'string' ? { detail } : { detail: 'The request has invalid fields.', errors: body };
  return jsonResponse(
    status,
    { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, ...details },
    { ...headers, 'Content-Type': PROBLEM_MEDIA_TYPE },
  );
}
