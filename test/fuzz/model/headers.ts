import type { Expected } from './expected.js';
import type { Route } from './routes.js';

/** The headers of every response (contract 7). */
export function commonHeaders(route: Route | undefined, hasBody: boolean): Expected['headers'] {
  return {
    allow: route ? route.allow.join(', ') : '',
    'content-type': hasBody ? 'application/json' : null,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    vary: 'Accept, Cookie',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-powered-by': null,
  };
}
