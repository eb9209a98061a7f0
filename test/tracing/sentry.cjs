'use strict';
// Loaded by --require into a test process: Sentry, as its documentation starts it, with a transport that keeps what it would send in
// globalThis.restifyTestEnvelopes.
const { createRequire } = require('node:module');
const { join } = require('node:path');

const Sentry = createRequire(join(__dirname, 'packages/package.json'))('@sentry/nestjs');

const envelopes = [];
Sentry.init({
  dsn: 'https://public@127.0.0.1/1',
  tracesSampleRate: 1,
  transport: () => ({
    send: (envelope) => {
      envelopes.push(envelope);
      return Promise.resolve({ statusCode: 200 });
    },
    flush: () => Promise.resolve(true),
  }),
});

globalThis.restifyTestEnvelopes = envelopes;
globalThis.restifyTestFlush = () => Sentry.flush();
