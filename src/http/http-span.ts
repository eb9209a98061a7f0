/** Shared by all copies of @opentelemetry/api with this major version. */
const API = Symbol.for('opentelemetry.js.api.1');
/** The key of the data of the HTTP span in @opentelemetry/core. */
const RPC_METADATA = Symbol.for('OpenTelemetry SDK Context Key RPC_METADATA');

/** The part of OpenTelemetry's context that its HTTP instrumentation reads when a request ends. */
interface TracerContext {
  getValue(key: symbol): { readonly type?: unknown; route?: string } | undefined;
}

interface Tracing {
  readonly [API]?: { readonly context?: { active(): TracerContext } };
}

/**
 * Sets `http.route` of the active HTTP span, which then has the name of the route; does nothing without OpenTelemetry. On
 * Fastify its instrumentation would see the route of the whole model.
 */
export function setRouteOfHttpSpan(route: string): void {
  const metadata = (globalThis as Tracing)[API]?.context?.active().getValue(RPC_METADATA);
  if (metadata?.type === 'http') metadata.route = route;
}
