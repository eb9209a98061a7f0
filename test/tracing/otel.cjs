'use strict';
// Loaded by --require into a test process: OpenTelemetry's auto-instrumentation, as an application starts it, with an exporter that
// keeps the finished spans in globalThis.restifyTestSpans.
const { createRequire } = require('node:module');
const { join } = require('node:path');

const load = createRequire(join(__dirname, 'packages/package.json'));
const { NodeSDK, tracing } = load('@opentelemetry/sdk-node');
const { getNodeAutoInstrumentations } = load('@opentelemetry/auto-instrumentations-node');

const { FastifyOtelInstrumentation } = load('@fastify/otel');

const exporter = new tracing.InMemorySpanExporter();
new NodeSDK({
  traceExporter: exporter,
  spanProcessors: [new tracing.SimpleSpanProcessor(exporter)],
  instrumentations: [getNodeAutoInstrumentations()],
  autoDetectResources: false,
}).start();

globalThis.restifyTestSpans = {
  fastifyPlugin: () => new FastifyOtelInstrumentation().plugin(),
  list: () =>
    exporter.getFinishedSpans().map(({ name, instrumentationScope, attributes, events }) => ({
      name,
      scope: instrumentationScope.name,
      attributes,
      events,
    })),
  clear: () => exporter.reset(),
};
