import { Agent, request } from 'node:http';

/** A generated request, as plain data that can be replayed. */
export interface FuzzRequest {
  readonly method: string;
  /** Percent-encoded, with the query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The text of the body, if there is one. */
  readonly body?: string;
}

export interface FuzzResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** Keep-alive connections to one application. */
export class Transport {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 16 });

  constructor(private readonly port: number) {}

  send(asked: FuzzRequest): Promise<FuzzResponse> {
    return new Promise((resolve, reject) => {
      const bytes = asked.body === undefined ? undefined : Buffer.from(asked.body);
      const sent = request(
        {
          host: '127.0.0.1',
          port: this.port,
          agent: this.agent,
          method: asked.method,
          path: asked.path,
          headers: {
            ...asked.headers,
            ...(bytes === undefined ? {} : { 'Content-Length': String(bytes.length) }),
          },
        },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('error', reject);
          response.on('end', () => {
            resolve({
              status: response.statusCode ?? 0,
              headers: Object.fromEntries(
                Object.entries(response.headers).map(([name, value]) => [
                  name,
                  Array.isArray(value) ? value.join(', ') : value,
                ]),
              ),
              text: Buffer.concat(pieces).toString('utf8'),
            });
          });
        },
      );
      sent.setTimeout(120_000, () => sent.destroy(new Error(`No answer to ${asked.method} ${asked.path}`)));
      sent.on('error', reject);
      sent.end(bytes);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
