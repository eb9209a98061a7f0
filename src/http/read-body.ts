import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { ReceivedBody } from '../request/parse/parse-body.js';

/** RFC 9112, 6.3: a length, or chunks. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Content codings that are understood, as Express understands them. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** As `Accept-Encoding` lists them. */
export const DECODED_CODINGS = Object.keys(DECODERS).join(', ');

export const NO_UTF8 = 'the body is not UTF-8';

/** Of a `Content-Encoding`. */
export function codingOf(header: string | undefined): string {
  const coding = header?.trim().toLowerCase();
  return coding === undefined || coding === '' ? 'identity' : coding;
}

/** All of a body that nobody has read yet, decoded. Never rejects. */
export async function readDecoded(
  source: Readable,
  header: string | undefined,
  limit: number,
): Promise<Exclude<ReceivedBody, { kind: 'value' }>> {
  const coding = codingOf(header);
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding]?.() : undefined;
  const received = await readBody(decoder ? pipeline(source, decoder, () => undefined) : source, limit);
  return received.kind === 'none' || decoder || coding === 'identity'
    ? received
    : { kind: 'coded', coding, decoded: DECODED_CODINGS };
}

/** As text. */
export function textOf(bytes: Buffer): Extract<ReceivedBody, { kind: 'text' | 'broken' }> {
  return isUtf8(bytes) ? { kind: 'text', text: bytes.toString('utf8') } : { kind: 'broken', reason: NO_UTF8 };
}

function readBody(source: Readable, limit: number): Promise<Exclude<ReceivedBody, { kind: 'value' }>> {
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
      resolve(size === 0 ? { kind: 'none' } : textOf(Buffer.concat(chunks)));
    });
    source.on('error', () => {
      resolve({ kind: 'broken', reason: 'the body could not be read' });
    });
  });
}
