import { connect } from 'node:http2';
import type { OutgoingHttpHeaders } from 'node:http2';

/** How a body arrives: HTTP/2 needs no length, and ends a stream with its headers, or with a frame that may be empty. */
export interface Http2Request {
  readonly method: string;
  readonly path: string;
  readonly pieces: readonly (string | Buffer)[];
  readonly headers?: OutgoingHttpHeaders;
  /** Whether the headers end the stream. */
  readonly isEnded?: boolean;
}

export interface Http2Answer {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
}

/** Sends a request over HTTP/2 without TLS. */
export function sendHttp2(
  port: number,
  { method, path, pieces, headers = {}, isEnded = false }: Http2Request,
): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${port}`);
    session.once('error', reject);
    const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: isEnded });
    let status = 0;
    const chunks: Buffer[] = [];
    stream.on('response', (head) => (status = Number(head[':status'])));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('close', () => {
      session.destroy();
      const text = Buffer.concat(chunks).toString();
      resolve({ status, text, json: text === '' ? undefined : (JSON.parse(text) as unknown) });
    });
    for (const piece of pieces) stream.write(piece);
    if (!isEnded) stream.end();
  });
}
