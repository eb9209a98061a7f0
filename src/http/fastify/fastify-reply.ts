import { Readable } from 'node:stream';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { JSON_MEDIA_TYPE } from '../../core/contracts/renderer.js';
import type { HasSerializer } from '../../internals/fastify.js';
import type { RestResponse } from '../../request/response/rest-response.js';
import { breakOff, mergeVary, setConnectionHeader, setResponseHeaders } from '../write-response.js';
import type { HeaderTarget } from '../write-response.js';
import type { FastifyReply } from './fastify-types.js';

/**
 * Marks a response that is passing through the application's hooks, which Fastify does not count as sent. Stored on the
 * reply: a weak collection with an entry for each request would slow down every garbage collection of the young
 * generation.
 */
const HANDED_OVER = Symbol('restify.handedOver');

/** The original `send` of a watched reply. */
const SEND = Symbol('restify.send');

/** Marks a JSON text as the payload: Fastify adds a charset to its media type. */
const IS_TEXT = Symbol('restify.isText');

/** The media type of a JSON text as Fastify changes it. */
const JSON_WITH_CHARSET = `${JSON_MEDIA_TYPE}; charset=utf-8`;

interface MarkedReply extends FastifyReply {
  [HANDED_OVER]?: boolean;
  [SEND]?: FastifyReply['send'];
  [IS_TEXT]?: boolean;
}

/** Removes the charset in an `onSend` hook (contract 7.1). */
export function restoreMediaType(reply: MarkedReply): void {
  if (reply[IS_TEXT] !== true) return;
  reply[IS_TEXT] = false;
  if (reply.getHeader('content-type') === JSON_WITH_CHARSET) reply.header('content-type', JSON_MEDIA_TYPE);
}

/** Detects a response by other code, such as a guard or an action: a second response would be sent otherwise. */
export function watchReply(reply: MarkedReply): void {
  reply[SEND] = reply.send;
  reply.send = sendWatched;
}

/**
 * One function for all replies: a closure for each would keep its request alive through a young-generation collection.
 */
function sendWatched(this: MarkedReply, ...payload: Parameters<FastifyReply['send']>): unknown {
  this[HANDED_OVER] = true;
  return this[SEND]?.call(this, ...payload);
}

/** Resets the mark after Fastify has failed to send a response, and requests an error response. */
export function reopenReply(reply: MarkedReply): void {
  reply[HANDED_OVER] = false;
}

/** How an instance of Fastify, and those of its plugins, tell whether a reply has a serializer. */
const HAS_SERIALIZER = Symbol('restify.hasSerializer');

interface ProbedInstance {
  readonly [HAS_SERIALIZER]?: HasSerializer;
}

export function setSerializerProbe(instance: object, hasSerializer: HasSerializer): void {
  Object.assign(instance, { [HAS_SERIALIZER]: hasSerializer });
}

/** Whether a text is sent unchanged: a serializer that the application has set for this reply would receive it. False if it is not known. */
function sendsTextUnchanged(reply: FastifyReply): boolean {
  const { server }: { readonly server: ProbedInstance } = reply;
  return server[HAS_SERIALIZER]?.(reply) === false;
}

/** Whether a response has been sent, or is passing through the application's hooks. */
export function isReplySent(reply: MarkedReply): boolean {
  return reply[HANDED_OVER] === true || reply.sent || reply.raw.headersSent;
}

/** Merges the `Vary` headers of Node's response and of Fastify's reply, which would otherwise replace the former. */
export function mergeReplyVary(reply: FastifyReply): string {
  const ofResponse = reply.raw.getHeader('vary');
  const ofReply = reply.getHeader('vary');
  if (ofReply === ofResponse) return mergeVary(ofResponse);
  return mergeVary([
    ...new Set(
      [ofResponse, ofReply].flatMap((each) =>
        String(each ?? '')
          .split(',')
          .map((name) => name.trim()),
      ),
    ),
  ]);
}

/** The headers of a reply and of Node's response below it. */
export class ReplyHeaders implements HeaderTarget {
  constructor(readonly reply: MarkedReply) {}

  getHeader(name: string): string | readonly string[] | number | undefined {
    return name === 'vary' ? mergeReplyVary(this.reply) : this.reply.getHeader(name);
  }

  /** Most headers are set on Node's response when the request begins. */
  hasHeader(name: string): boolean {
    return this.reply.raw.hasHeader(name) || this.reply.hasHeader(name);
  }

  setHeader(name: string, value: string): unknown {
    return this.reply.header(name, value);
  }

  removeHeader(name: string): unknown {
    return this.reply.removeHeader(name);
  }
}

/**
 * Sends through Fastify's reply, so that the application's `onSend` hooks run. Does nothing if a response has already
 * been sent.
 */
export function sendReply(headers: ReplyHeaders, response: RestResponse, allow: string): MaybePromise<void> {
  const { reply } = headers;
  if (isReplySent(reply)) return;
  reply[HANDED_OVER] = true;
  reply.code(response.status);
  setResponseHeaders(headers, response, allow);
  setConnectionHeader(reply.raw, headers);
  const { body } = response;
  if (body?.kind === 'text') {
    reply[IS_TEXT] = headers.getHeader('content-type') === JSON_MEDIA_TYPE && sendsTextUnchanged(reply);
    // A text is written in one call with the headers; bytes need a second one. A custom media type of the application
    // is kept.
    reply.send(reply[IS_TEXT] ? body.text : Buffer.from(body.text));
  } else if (!body) reply.send();
  else return reply.raw.req.method === 'HEAD' ? sendHead(reply, body.pieces) : sendStream(reply, body.pieces);
}

/** HEAD has no body: the first page has shown that there is no error. */
async function sendHead(reply: FastifyReply, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  await pieces[Symbol.asyncIterator]().return?.();
  reply.send();
}

/**
 * Resolves when everything is written, or the client has disconnected. Rejects if a chunk fails; the response is broken off
 * before Fastify, which sees the failure of the stream, closes it.
 */
function sendStream(reply: FastifyReply, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = new ChunkStream(pieces, (error) => {
      reject(error);
      return breakOff(reply.raw);
    });
    stream.once('error', reject);
    stream.once('close', resolve);
    reply.send(stream);
  });
}

/**
 * A readable stream of a body's chunks, for an HTTP library that sends one. Unlike `Readable.from`, it requests no
 * chunk before the previous one is consumed: a buffered chunk for each slow client would survive garbage collections.
 */
export class ChunkStream extends Readable {
  private readonly chunks: AsyncIterator<string | Uint8Array>;

  /** @param beforeFailure runs if a chunk cannot be read, before the stream fails. It never rejects. */
  constructor(
    pieces: AsyncIterable<string | Uint8Array>,
    private readonly beforeFailure: (error: Error) => Promise<void>,
  ) {
    super({ objectMode: true, highWaterMark: 0 });
    this.chunks = pieces[Symbol.asyncIterator]();
  }

  override _read(): void {
    this.chunks.next().then(
      (next) => {
        this.push(next.done === true ? null : next.value);
      },
      async (failure: unknown) => {
        const error = failure as Error;
        await this.beforeFailure(error);
        this.destroy(error);
      },
    );
  }

  /** Ends the iterator, so that it releases its connection. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const ended = this.chunks.return?.() ?? Promise.resolve();
    ended.then(
      () => {
        done(error);
      },
      (failure: unknown) => {
        done(error ?? (failure as Error));
      },
    );
  }
}
