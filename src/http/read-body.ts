import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { pipeline } from 'node:stream';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { ReceivedBody } from '../request/http-exchange.js';

/**
 * Whether a request has a body: a length, or chunked encoding (RFC 9112, 6.3). In HTTP/2 a body needs neither, and may turn
 * out to have no bytes.
 */
export function hasBody(request: IncomingMessage): boolean {
  return hasAnnouncedBody(request) || hasUnannouncedBody(request);
}

/** Whether a request of HTTP/2 may have a body that no header announces: HTTP libraries call no parser without a header. */
export function hasUnannouncedBody(request: IncomingMessage): boolean {
  const { stream } = request as { readonly stream?: ServerHttp2Stream };
  return stream?.endAfterHeaders === false && request.headers['content-length'] === undefined;
}

function hasAnnouncedBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The supported content codings, the same as Express's. */
const DECODERS: Readonly<Record<string, (() => Transform) | undefined>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The supported codings as a value of `Accept-Encoding`. */
const DECODED_CODINGS = Object.keys(DECODERS).join(', ');

export const NOT_UTF8 = 'the body is not UTF-8';

/** The coding of a `Content-Encoding` header. */
export function parseContentCoding(header: string | undefined): string {
  const coding = header?.trim().toLowerCase();
  return coding === undefined || coding === '' ? 'identity' : coding;
}

/**
 * The body of a request whose content coding is not supported (contract 5.1); undefined for other requests. A parser of the
 * application may decode more codings than these, depending on the version of Node.
 */
export function findUnsupportedCoding({
  headers,
}: IncomingMessage): Extract<ReceivedBody, { kind: 'coded' }> | undefined {
  const coding = parseContentCoding(headers['content-encoding']);
  return coding === 'identity' || Object.hasOwn(DECODERS, coding)
    ? undefined
    : { kind: 'coded', coding, decoded: DECODED_CODINGS };
}

/** Reads and decodes an unread body. Never rejects. */
export async function readDecodedBody(
  source: Readable,
  request: IncomingMessage,
  limit: number,
): Promise<Exclude<ReceivedBody, { kind: 'value' }>> {
  const unsupported = findUnsupportedCoding(request);
  const decoder = unsupported
    ? undefined
    : DECODERS[parseContentCoding(request.headers['content-encoding'])]?.();
  const received = await readBody(decoder ? pipeline(source, decoder, () => undefined) : source, limit);
  return received.kind === 'none' ? received : (unsupported ?? received);
}

const BYTE_ORDER_MARK = '\ufeff';

/** The text of bytes that are UTF-8, without a byte order mark in front of it, which Express's parser removes, too. */
export function toText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

/** Decodes bytes as text. */
export function decodeText(bytes: Buffer): Extract<ReceivedBody, { kind: 'none' | 'text' | 'broken' }> {
  if (!isUtf8(bytes)) return { kind: 'broken', reason: NOT_UTF8 };
  const text = toText(bytes);
  return text === '' ? { kind: 'none' } : { kind: 'text', text };
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
      resolve(decodeText(Buffer.concat(chunks)));
    });
    source.on('error', () => {
      resolve({ kind: 'broken', reason: 'the body could not be read' });
    });
  });
}
