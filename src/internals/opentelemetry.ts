/** Shared by all copies of @opentelemetry/api with this major version. */
const API = Symbol.for('opentelemetry.js.api.1');
/** The key of the data of the HTTP span in @opentelemetry/core. */
const RPC_METADATA = Symbol.for('OpenTelemetry SDK Context Key RPC_METADATA');

/** The part of OpenTelemetry's context that its HTTP instrumentation reads when a request ends. */
interface TracerContext {
  getValue?(key: symbol): SpanData | undefined;
}

/** The data of an HTTP span, with the route of its name. */
export interface SpanData {
  readonly type?: unknown;
  route?: string;
}

interface Tracing {
  readonly [API]?: { readonly context?: { active?(): TracerContext | undefined } };
}

/** The data of the HTTP span that is active; undefined without OpenTelemetry, outside of a span, and if it is kept in another way. */
export function probeHttpSpan(): SpanData | undefined {
  const { context } = (globalThis as Tracing)[API] ?? {};
  if (typeof context?.active !== 'function') return undefined;
  const active = context.active();
  const data = typeof active?.getValue === 'function' ? active.getValue(RPC_METADATA) : undefined;
  return data?.type === 'http' ? data : undefined;
}
