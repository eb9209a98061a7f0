import { Agent, request } from 'node:http';
import type { Answer, Known, Step } from './step.js';
import { resolveBody, resolveText } from './step.js';

/** A caller: the headers, and whether requests may be forbidden. */
export interface OracleActor {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether nothing is forbidden to the caller. */
  readonly mayAll: boolean;
}

/** A request as it is sent. */
export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string | undefined;
  /** The parameters and the body before serialization. */
  readonly query: Step['query'];
  readonly body: unknown;
}

export class Connection {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(
    private readonly port: number,
    private readonly actors: ReadonlyMap<string, OracleActor>,
  ) {}

  /** Replaces the tokens of a step. */
  prepare(step: Step, known: Known): Sent {
    const path = resolveText(step.path, known);
    const query = step.query.map(([name, value]) => [name, resolveText(value, known)] as const);
    const search = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    const body = resolveBody(step.body, known);
    const payload = step.raw ?? (step.body === undefined ? undefined : JSON.stringify(body));
    const headers = Object.fromEntries(
      Object.entries(step.headers).map(([name, value]) => [name, resolveText(value, known)]),
    );
    return {
      method: step.method,
      target: `${path}${search.length > 0 ? `?${search.join('&')}` : ''}`,
      headers: {
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.actors.get(step.actor)?.headers,
        ...headers,
      },
      payload,
      query,
      body,
    };
  }

  send({ method, target, headers, payload }: Sent): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = {
        ...headers,
        ...(payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) }),
      };
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: this.port,
          agent: this.agent,
          method,
          path: target,
          headers: sent,
          timeout: 60_000,
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              text,
              json: parsed(text),
            });
          });
        },
      );
      outgoing.on('timeout', () =>
        outgoing.destroy(new Error(`No answer to ${method} ${target} within a minute`)),
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** The request as a curl command. */
export function curlOf({ method, target, headers, payload }: Sent): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    'curl -i',
    ...(method === 'GET' ? [] : ['-X', method]),
    quoted(`$URL${target}`),
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', quoted(`${name}: ${value}`)]),
    ...(payload === undefined ? [] : ['-d', quoted(payload)]),
  ].join(' ');
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
