import { locationHeader } from '../request/resource-urls.js';
import { valueResponse } from '../request/response/rest-response.js';
import type { RestContext } from '../request/rest-context.js';
import type { Stage } from '../request/stage.js';

/** Header of responses that an earlier request with the same `Idempotency-Key` created. */
const REPLAYED_HEADER = { 'Idempotency-Replayed': 'true' };

/** Responds with the result as JSON, unless an earlier stage has responded. */
export function respondWithResult(status: 200 | 201): Stage {
  return (context) => {
    context.response ??= valueResponse(
      context.result?.status ?? status,
      context.result?.value,
      resultHeaders(context),
    );
  };
}

export function resultHeaders(context: RestContext): Readonly<Record<string, string>> {
  const { result } = context;
  return {
    ...(result?.key ? locationHeader(result.key, context) : {}),
    ...result?.headers,
    ...(result?.isReplayed === true ? REPLAYED_HEADER : {}),
  };
}
