import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from './root.js';
import type { StyledRequest, Style } from './styles.js';
import { ordersOf } from './workloads.js';
import type { Workload } from './workloads.js';

export const CONNECTIONS = 32;
/** The interval in milliseconds in which autocannon checks for the end of a load, instead of a second, because the loads are short. */
const TICK = 20;

/** The arguments of autocannon's response listener. */
export type LoadResponse = readonly [
  status: number,
  body: string,
  context: object,
  headers: Readonly<Record<string, string>>,
];

/** A request of autocannon. The two functions make it depend on earlier responses. */
export interface LoadRequest extends StyledRequest {
  setupRequest?(request: LoadRequest): LoadRequest;
  onResponse?(...answer: LoadResponse): void;
}

/** The used part of autocannon, which is installed in `bench/`. */
interface LoadClient {
  setRequests(requests: readonly LoadRequest[]): void;
  on(event: 'body', listener: (body: Buffer) => void): void;
  on(event: 'response', listener: (status: number) => void): void;
}
interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly timeout: number;
  readonly amount?: number;
  readonly duration?: number;
  readonly sampleInt?: number;
  setupClient(client: LoadClient): void;
}
interface LoadResult {
  readonly errors: number;
  readonly timeouts: number;
  readonly non2xx: number;
  readonly '2xx': number;
}
type Autocannon = (options: LoadOptions) => Promise<LoadResult>;

export interface Load {
  readonly requests: number;
  readonly seconds: number;
}

let loaded: Autocannon | undefined;

function autocannon(): Autocannon {
  loaded ??= createRequire(join(ROOT, 'bench/package.json'))('autocannon') as Autocannon;
  return loaded;
}

/** Sends exactly `amount` requests and waits for all responses: an aborted request would use CPU without being counted. */
export function loadAmount(
  port: number,
  style: Style,
  { workload, amount }: { readonly workload: Workload; readonly amount: number },
): Promise<Load> {
  return load(port, style, { workload, limit: { amount: Math.max(amount, CONNECTIONS), sampleInt: TICK } });
}

/** For the warm-up, which determines the number of requests per second. */
export function loadSeconds(
  port: number,
  style: Style,
  { workload, seconds }: { readonly workload: Workload; readonly seconds: number },
): Promise<Load> {
  return load(port, style, { workload, limit: { duration: seconds } });
}

/** Repeats one path. */
export function loadPath(port: number, path: string, amount: number): Promise<Load> {
  return run(port, { amount }, () => [{ method: 'GET', path }]);
}

/** Repeats the requests of each connection in their order. */
export function loadRequests(
  port: number,
  amount: number,
  requests: (connection: number) => readonly LoadRequest[],
): Promise<Load> {
  return run(port, { amount: Math.max(amount, CONNECTIONS), sampleInt: TICK }, requests);
}

type Limit = { readonly amount: number; readonly sampleInt?: number } | { readonly duration: number };

function load(
  port: number,
  style: Style,
  { workload, limit }: { readonly workload: Workload; readonly limit: Limit },
): Promise<Load> {
  return run(port, limit, (connection) => requestsOf(style, workload, connection));
}

async function run(
  port: number,
  limit: Limit,
  requestsFor: (connection: number) => readonly LoadRequest[],
): Promise<Load> {
  let connection = 0;
  const failed: string[] = [];
  // The clock of the load client has a resolution of one second.
  const begun = performance.now();
  let last = begun;
  const result = await autocannon()({
    url: `http://127.0.0.1:${port}`,
    connections: CONNECTIONS,
    timeout: 60,
    ...limit,
    setupClient: (client) => {
      client.setRequests(requestsFor(connection++ % CONNECTIONS));
      let body = '';
      client.on('body', (part) => (body = part.subarray(0, 300).toString('utf8')));
      client.on('response', (status) => {
        last = performance.now();
        if (status >= 300) failed.push(`${status} ${body}`);
      });
    },
  });
  if (result.errors + result.timeouts + result.non2xx > 0) {
    throw new Error(
      `of ${result['2xx'] + result.non2xx} answers ${result.non2xx} were no success; ${result.errors} requests had none, ${result.timeouts} of them in time${failed[0] === undefined ? '' : `; the first: ${failed[0]}`}`,
    );
  }
  return { requests: result['2xx'], seconds: (last - begun) / 1000 };
}

function requestsOf(style: Style, workload: Workload, connection: number): StyledRequest[] {
  return ordersOf(workload, connection, CONNECTIONS).map((order) => {
    const request = style.requestFor(order);
    if (!request) throw new Error(`No endpoint for ${workload}`);
    return request;
  });
}
