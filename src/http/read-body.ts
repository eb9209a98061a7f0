import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { ReceivedBody } from '../request/http-exchange.js';

/** Whether a request has a body: a length, or chunked encoding (RFC 9112, 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The supported content codings, the same as Express's. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The supported codings as a value of `Accept-Encoding`. */
export const DECODED_CODINGS = Object.keys(DECODERS).join(', ');

export const NOT_UTF8 = 'the body is not UTF-8';

/** The coding of a `Content-Encoding` header. */
export function parseContentCoding(header: string | undefined): string {
  const coding = header?.trim().toLowerCase();
  return coding === undefined || coding === '' ? 'identity' : coding;
}

/** Reads and decodes an unread body. Never rejects. */
export async function readDecodedBody(
  source: Readable,
  header: string | undefined,
  limit: number,
): Promise<Exclude<ReceivedBody, { kind: 'value' }>> {
  const coding = parseContentCoding(header);
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding]?.() : undefined;
  const received = await readBody(decoder ? pipeline(source, decoder, () => undefined) : source, limit);
  return received.kind === 'none' || decoder || coding === 'identity'
    ? received
    : { kind: 'coded', coding, decoded: DECODED_CODINGS };
}

/** Decodes bytes as text. */
export function decodeText(bytes: Buffer): Extract<ReceivedBody, { kind: 'text' | 'broken' }> {
  return isUtf8(bytes)
    ? { kind: 'text', text: bytes.toString('utf8') }
    : { kind: 'broken', reason: NOT_UTF8 };
}

function readBody(source: Readable, limit: number): Promise<Exclude<ReceivedBody, { kind: 'value' }>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    source.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      // The rest is still consumed, so that the response can be sent on this connection.
      else resolve({ kind: 'too-large' });
    });
    source.on('end', () => {
      resolve(size === 0 ? { kind: 'none' } : decodeText(Buffer.concat(chunks)));
    });
    source.on('error', () => {
      resolve({ kind: 'broken', reason: 'the body could not be read' });
    });
  });
}
