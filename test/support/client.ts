import { globalAgent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; undefined if it is empty. */
  readonly json: unknown;
}

export interface RequestOptions {
  /** Sent as JSON, with its Content-Type. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Validates every response, and throws if it is wrong. */
export type LookAtAnswer = (call: { readonly method: string; readonly path: string }, answer: Answer) => void;

/** An HTTP client that sends paths verbatim, without normalization or escaping. */
export class Client {
  /** `startApp` passes a `look` that validates responses against the application's document. */
  constructor(
    readonly port: number,
    private readonly look?: LookAtAnswer,
  ) {}

  get(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.send('GET', path, options);
  }

  post(path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.send('POST', path, { ...options, body });
  }

  put(path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.send('PUT', path, { ...options, body });
  }

  patch(path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.send('PATCH', path, { ...options, body });
  }

  delete(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.send('DELETE', path, options);
  }

  /** Closes keep-alive connections, for which a closing server would wait. */
  endIdle(): void {
    for (const [address, sockets] of Object.entries(globalAgent.freeSockets)) {
      if (!address.startsWith(`127.0.0.1:${this.port}:`)) continue;
      for (const socket of sockets ?? []) socket.destroy();
    }
  }

  send(method: string, path: string, { body, raw, headers = {} }: RequestOptions = {}): Promise<Answer> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const sent: Record<string, string | number> = { ...headers };
    if (payload !== undefined) {
      sent['content-length'] = Buffer.byteLength(payload);
      if (body !== undefined) sent['content-type'] ??= 'application/json';
    }
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { host: '127.0.0.1', port: this.port, method, path, headers: sent },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            const answer = {
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              text,
              json: parsed(text),
            };
            try {
              this.look?.({ method, path }, answer);
              resolve(answer);
            } catch (error) {
              reject(error instanceof Error ? error : new Error(String(error)));
            }
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
