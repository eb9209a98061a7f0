import { describePackage } from './installed-version.js';

/** The marks of a client of pg that its pool does not use again. */
interface MarkedClient {
  readonly _queryable?: unknown;
  readonly _ending?: unknown;
}

/** Whether pg's pool would use a client again; undefined if clients are marked in another way. */
export function probeReusable(client: object): boolean | undefined {
  const { _queryable: queryable, _ending: ending } = client as MarkedClient;
  return typeof queryable === 'boolean' && typeof ending === 'boolean' ? queryable && !ending : undefined;
}

/** The warning at start of clients that go back to the pool between two requests. */
export function describeUnknownClient(): string {
  return `${describePackage('pg')} marks connections that are not used again in another way than this package knows, so that each request takes its connection from the pool, also where others wait: this takes longer. Please report it.`;
}
