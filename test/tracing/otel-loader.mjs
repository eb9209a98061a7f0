// Loaded by --import before otel.cjs: lets OpenTelemetry see ES modules.
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';

const { resolve } = createRequire(new URL('packages/package.json', import.meta.url));
// The files of the tests have no spans of their own, and hooks of the test process load them.
register(pathToFileURL(resolve('@opentelemetry/instrumentation/hook.mjs')).href, {
  data: { exclude: [/\.ts$/, /^restify-test:/] },
});
