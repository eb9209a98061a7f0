import { MAX_PRECONDITION } from '../core/schema/limits.js';
import { amountOf } from './describe-bulk.js';
import { CACHE_CONTROL, ETAG, LAST_MODIFIED } from './describe-errors.js';
import type { DescribedRoute } from './described-route.js';
import type { Parameter, Response } from './open-api-types.js';

/** The header parameters of conditional requests. */
export function conditionParameters(described: DescribedRoute): readonly Parameter[] {
  const { operation, route } = described;
  if (!isConditional(described) || operation === 'create') return [];
  if (operation === 'retrieve')
    return [
      condition('If-None-Match', 'An ETag that the caller has: 304 where the object is still in that state.'),
    ];
  const required = route.resource.conditional?.require === true ? ' One of the conditions must be said.' : '';
  return [
    condition(
      'If-Match',
      `The ETag of the state that is meant: 412 where the object is in another one.${required}`,
    ),
    condition(
      'If-Unmodified-Since',
      'A date behind which the object was not changed, where If-Match is left out: else 412.',
    ),
  ];
}

/** The response headers for the state of an object and for caches. */
export function stateHeaders(described: DescribedRoute): NonNullable<Response['headers']> {
  const {
    operation,
    route: { resource },
  } = described;
  const reads = operation === 'list' || operation === 'retrieve';
  return {
    ...(isConditional(described)
      ? { ETag: ETAG, ...(resource.conditional?.modified ? { 'Last-Modified': LAST_MODIFIED } : {}) }
      : {}),
    ...(reads && resource.cacheControl ? { 'Cache-Control': CACHE_CONTROL } : {}),
  };
}

function isConditional(described: DescribedRoute): boolean {
  const { operation, route } = described;
  return (
    route.resource.conditional !== undefined &&
    operation !== undefined &&
    operation !== 'list' &&
    amountOf(described) !== 'many'
  );
}

function condition(name: string, description: string): Parameter {
  return {
    name,
    in: 'header',
    required: false,
    schema: { type: 'string', maxLength: MAX_PRECONDITION },
    description,
  };
}
