import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { ReceivedBody } from '../../request/parsing/json-body.js';

/** RFC 9112, 6.3: a length, or chunks. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** All of a body that nobody has read yet, as text. Never rejects. */
export function readBody(source: Readable, limit: number): Promise<Exclude<ReceivedBody, { kind: 'value' }>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    source.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      // The rest is still taken off the line, so that the answer can be sent on it.
      else resolve({ kind: 'too-large' });
    });
    source.on('end', () => {
      resolve(size === 0 ? { kind: 'none' } : { kind: 'text', text: Buffer.concat(chunks).toString('utf8') });
    });
    source.on('error', () => {
      resolve({ kind: 'broken', reason: 'the body could not be read' });
    });
  });
}
