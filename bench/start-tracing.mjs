// Loaded by --import into a server: OpenTelemetry's auto-instrumentation as an application starts it, with spans that are
// exported in batches, to nowhere.
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';

const load = createRequire(new URL('../test/tracing/packages/package.json', import.meta.url));
register(pathToFileURL(load.resolve('@opentelemetry/instrumentation/hook.mjs')));

const { NodeSDK, tracing } = load('@opentelemetry/sdk-node');
const { getNodeAutoInstrumentations } = load('@opentelemetry/auto-instrumentations-node');
const exporter = {
  export: (_spans, done) => done({ code: 0 }),
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};
new NodeSDK({
  spanProcessors: [new tracing.BatchSpanProcessor(exporter)],
  instrumentations: [getNodeAutoInstrumentations()],
  autoDetectResources: false,
}).start();
