import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RestResponse } from '../request/response/rest-response.js';
import { FIXED_HEADERS, isAborted, mergeVary, writeResponse } from './write-response.js';

const PIECE = 'x'.repeat(64 * 1024);
const MANY = 1000;

/** Pieces that tell how many were made, and whether they were closed. */
class Pieces implements AsyncIterable<string> {
  made = 0;
  closed = false;

  constructor(
    private readonly count: number,
    private readonly piece: (index: number) => string,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      for (let index = 0; index < this.count; index++) {
        await Promise.resolve();
        this.made++;
        yield this.piece(index);
      }
    } finally {
      this.closed = true;
    }
  }
}

interface Served {
  readonly port: number;
  /** What became of the first call of `writeResponse`: undefined when it resolved, else its error. */
  readonly sent: Promise<unknown>;
}

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(
  response: RestResponse,
  {
    allow = 'GET, HEAD, OPTIONS',
    before,
  }: { allow?: string; before?: (target: ServerResponse) => void } = {},
): Promise<Served> {
  const { promise: sent, settle } = settling();
  const server = createServer((_request, target) => {
    before?.(target);
    Promise.resolve(writeResponse(target, response, allow)).then(() => {
      settle(undefined);
    }, settle);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, sent };
}

function settling(): { promise: Promise<unknown>; settle: (outcome: unknown) => void } {
  let settle: (outcome: unknown) => void = () => undefined;
  const promise = new Promise<unknown>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}

/** The response as soon as its headers are there; nothing of its body has been read. */
function begin(port: number, method = 'GET'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, agent: false }, resolve);
    outgoing.on('error', reject);
    outgoing.end();
  });
}

interface Received {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** Whether the body came to its end. */
  readonly whole: boolean;
}

function finish(incoming: IncomingMessage): Promise<Received> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const done = (): void => {
      resolve({
        status: incoming.statusCode,
        headers: incoming.headers,
        text: Buffer.concat(chunks).toString('utf8'),
        whole: incoming.complete,
      });
    };
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => undefined);
    incoming.on('close', done);
  });
}

async function receive(port: number, method = 'GET'): Promise<Received> {
  return finish(await begin(port, method));
}

/** The count once it has stood still for a while. */
async function settledCount(pieces: Pieces): Promise<number> {
  for (let before = -1; before !== pieces.made;) {
    before = pieces.made;
    await pause(200);
  }
  return pieces.made;
}

function stream(pieces: AsyncIterable<string>): RestResponse {
  return { status: 200, body: { kind: 'stream', pieces } };
}

const TEXT: RestResponse = { status: 200, body: { kind: 'text', text: '{"a":"\u00e9\u{1f600}"}' } };

describe('headers', () => {
  test('are all those of contract 7.1', async () => {
    const { port, sent } = await serve(TEXT);
    const { status, headers, text } = await receive(port);
    expect([status, text]).toEqual([200, '{"a":"\u00e9\u{1f600}"}']);
    expect(headers).toMatchObject({
      allow: 'GET, HEAD, OPTIONS',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'same-origin',
      vary: 'Accept, Cookie',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(await sent).toBeUndefined();
  });

  test('of the response itself are sent', async () => {
    const { port } = await serve({
      ...TEXT,
      status: 201,
      headers: { Location: 'http://h/rest/v1/polls/question/1/', 'Retry-After': '5' },
    });
    const { status, headers } = await receive(port);
    expect([status, headers.location, headers['retry-after']]).toEqual([
      201,
      'http://h/rest/v1/polls/question/1/',
      '5',
    ]);
  });

  test('that the application has set are kept, Vary is added to, and X-Powered-By is taken away', async () => {
    const { port } = await serve(TEXT, {
      before: (target) => {
        target.setHeader('x-frame-options', 'SAMEORIGIN');
        target.setHeader('Referrer-Policy', 'no-referrer');
        target.setHeader('Vary', ['Origin', 'cookie']);
        target.setHeader('X-Powered-By', 'Express');
        target.setHeader('X-Request-Id', '7');
      },
    });
    const { headers } = await receive(port);
    expect(headers).toMatchObject({
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'no-referrer',
      vary: 'Origin, cookie, Accept',
      'x-request-id': '7',
      'x-content-type-options': 'nosniff',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  test('name an empty Allow where the URL is no route', async () => {
    const { port } = await serve({ ...TEXT, status: 404 }, { allow: '' });
    const { status, headers } = await receive(port);
    expect([status, headers.allow]).toEqual([404, '']);
  });

  test('of an answer without a body name no content', async () => {
    const { port, sent } = await serve({ status: 204 });
    const { status, headers, text } = await receive(port);
    expect([status, text]).toEqual([204, '']);
    expect(headers).not.toHaveProperty('content-type');
    expect(headers).not.toHaveProperty('content-length');
    expect(headers).toMatchObject({
      allow: 'GET, HEAD, OPTIONS',
      vary: 'Accept, Cookie',
      'x-frame-options': 'DENY',
    });
    expect(await sent).toBeUndefined();
  });

  test('are not changed after a response was sent', async () => {
    const { port, sent } = await serve(TEXT, {
      before: (target) => {
        target.writeHead(418, { 'Content-Type': 'text/plain' });
        target.end('teapot');
      },
    });
    const { status, headers, text } = await receive(port);
    expect([status, headers['content-type'], text]).toEqual([418, 'text/plain', 'teapot']);
    expect(headers).not.toHaveProperty('allow');
    expect(await sent).toBeUndefined();
  });
});

describe('HEAD', () => {
  test('has the headers of GET and no body', async () => {
    const { port } = await serve(TEXT);
    const [head, get] = [await receive(port, 'HEAD'), await receive(port)];
    expect([head.status, head.text]).toEqual([200, '']);
    expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' });
  });

  test('makes no piece of a stream', async () => {
    const pieces = new Pieces(3, String);
    const { port, sent } = await serve(stream(pieces));
    const { status, headers, text } = await receive(port, 'HEAD');
    expect([status, headers['content-type'], text, pieces.made]).toEqual([200, 'application/json', '', 0]);
    expect(await sent).toBeUndefined();
  });
});

describe('a stream', () => {
  test('is sent whole and in order', async () => {
    const pieces = new Pieces(
      1000,
      (index) => `${index === 0 ? '[' : ','}"\u00e9${index}"${index === 999 ? ']' : ''}`,
    );
    const { port, sent } = await serve(stream(pieces));
    const { status, headers, text, whole } = await receive(port);
    expect([status, whole, headers['content-type'], headers['x-frame-options']]).toEqual([
      200,
      true,
      'application/json',
      'DENY',
    ]);
    expect(JSON.parse(text)).toEqual(Array.from({ length: 1000 }, (_, index) => `\u00e9${index}`));
    expect(await sent).toBeUndefined();
    expect(pieces.closed).toBe(true);
  });

  test('does not wait for a response whose `write` returns nothing, as on serverless platforms', async () => {
    const { port, sent } = await serve(stream(new Pieces(5, String)), {
      before: (target) => {
        const write = target.write.bind(target) as (piece: string) => boolean;
        Object.assign(target, {
          write: (piece: string) => {
            write(piece);
          },
        });
      },
    });
    expect(await receive(port)).toMatchObject({ status: 200, text: '01234', whole: true });
    expect(await sent).toBeUndefined();
  });

  test('ends its source if Node does not take a piece', async () => {
    const pieces = new Pieces(5, (index) => (index < 2 ? 'text' : ({} as string)));
    const { port, sent } = await serve(stream(pieces));
    const received = await receive(port).catch(() => ({ whole: false }));
    expect(await sent).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    expect([received.whole, pieces.made, pieces.closed]).toEqual([false, 3, true]);
  });

  test('of empty pieces has an empty body', async () => {
    const { port, sent } = await serve(stream(new Pieces(5, () => '')));
    const { text, whole } = await receive(port);
    expect([text, whole, await sent]).toEqual(['', true, undefined]);
  });

  test('waits for a slow reader, and goes on with it', async () => {
    const pieces = new Pieces(MANY, () => PIECE);
    const { port, sent } = await serve(stream(pieces));
    const incoming = await begin(port);
    const made = await settledCount(pieces);
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(MANY / 2);
    const { text, whole } = await finish(incoming);
    expect([text.length, whole, pieces.made]).toEqual([MANY * PIECE.length, true, MANY]);
    expect(await sent).toBeUndefined();
  });

  test('ends when the client goes while the server waits for it', async () => {
    const pieces = new Pieces(MANY, () => PIECE);
    const { port, sent } = await serve(stream(pieces));
    const incoming = await begin(port);
    incoming.on('error', () => undefined);
    const made = await settledCount(pieces);
    incoming.destroy();
    expect(await sent).toBeUndefined();
    expect(pieces.closed).toBe(true);
    expect(pieces.made).toBeLessThanOrEqual(made + 1);
  });

  test('ends when the client goes while a piece is made', async () => {
    const { promise: gone, settle: leave } = settling();
    let closed = false;
    async function* endless(): AsyncGenerator<string> {
      try {
        yield '[';
        await gone;
        for (;;) {
          await pause(10);
          yield '1,';
        }
      } finally {
        closed = true;
      }
    }
    const { port, sent } = await serve(stream(endless()), {
      before: (target) => {
        target.on('close', leave);
      },
    });
    const incoming = await begin(port);
    incoming.on('error', () => undefined);
    incoming.destroy();
    expect(await sent).toBeUndefined();
    expect(closed).toBe(true);
  });

  test('that fails after it has begun closes the connection, so that no client takes a part for the whole', async () => {
    const cause = new Error('the database went away');
    const { promise: seen, settle: see } = settling();
    let closed = false;
    async function* failing(): AsyncGenerator<string> {
      try {
        yield '[1';
        await seen;
        throw cause;
      } finally {
        closed = true;
      }
    }
    const { port, sent } = await serve(stream(failing()));
    const incoming = await begin(port);
    incoming.once('data', see);
    const { status, text, whole } = await finish(incoming);
    expect([status, text, whole]).toEqual([200, '[1', false]);
    expect([await sent, closed]).toEqual([cause, true]);
  });

  test('that fails closes a connection that cannot be reset', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'restify-socket-'));
    const path = join(folder, 'socket');
    const cause = new Error('the database went away');
    const { promise: sent, settle } = settling();
    const server = createServer((_request, target) => {
      const pieces = new Pieces(2, (index) => {
        if (index === 1) throw cause;
        return 'part';
      });
      Promise.resolve(writeResponse(target, stream(pieces), 'GET')).then(settle, settle);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const socket = connect(path);
    socket.write('GET / HTTP/1.0\r\n\r\n');
    socket.resume();
    // A Unix socket has no reset: by HTTP/1.1 the last chunk is missing.
    await new Promise((resolve) => socket.once('close', resolve));
    expect(await sent).toBe(cause);
    await rm(folder, { recursive: true });
  });

  test('that fails while the reader is slow breaks the connection off', async () => {
    const cause = new Error('the database went away');
    const pieces = new Pieces(MANY, (index) => {
      if (index === MANY - 1) throw cause;
      return PIECE;
    });
    const { port, sent } = await serve(stream(pieces));
    const incoming = await begin(port);
    await settledCount(pieces);
    const { whole } = await finish(incoming);
    expect([whole, await sent]).toEqual([false, cause]);
  });

  test('to a client that has disconnected before it begins renders at most one piece', async () => {
    const pieces = new Pieces(MANY, () => PIECE);
    const { promise: sent, settle } = settling();
    const server = createServer((_request, target) => {
      target.on('close', () => {
        Promise.resolve(writeResponse(target, stream(pieces), 'GET')).then(() => {
          settle(undefined);
        }, settle);
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const outgoing = request({
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      agent: false,
    });
    outgoing.on('error', () => undefined);
    outgoing.end();
    server.once('request', () => outgoing.destroy());
    expect(await sent).toBeUndefined();
    expect(pieces.made).toBeLessThanOrEqual(1);
  });
});

describe('over HTTP/2, a stream', () => {
  interface Exchange {
    /** What became of `writeResponse`. */
    readonly sent: Promise<unknown>;
    /** Takes the body up to its end, or cancels it, and returns the error code of HTTP/2 and the text. */
    readonly receive: (
      cancel?: boolean,
    ) => Promise<{ readonly code: number | undefined; readonly text: string }>;
    readonly isGone: () => boolean;
    readonly close: () => void;
  }

  /** As a library responds whose requests are those of Node's compatibility layer. */
  async function exchange(pieces: AsyncIterable<string>): Promise<Exchange> {
    const { promise: sent, settle } = settling();
    let isGone = (): boolean => false;
    const server = createHttp2Server((_request, response) => {
      const target = response as unknown as ServerResponse;
      isGone = () => isAborted(target);
      Promise.resolve(writeResponse(target, stream(pieces), 'GET')).then(() => {
        settle(undefined);
      }, settle);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return {
      sent,
      isGone: () => isGone(),
      close: () => {
        session.destroy();
        server.close();
      },
      receive: (cancel = false) =>
        new Promise((resolve) => {
          const incoming = session.request({ ':path': '/' });
          let text = '';
          incoming.on('error', () => undefined);
          const leave = (): void => {
            incoming.close(8);
          };
          if (cancel) incoming.once('response', () => setTimeout(leave, 300));
          else incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
          incoming.on('close', () => {
            resolve({ code: incoming.rstCode, text });
          });
        }),
    };
  }

  test('is sent whole', async () => {
    const { sent, receive, isGone, close } = await exchange(new Pieces(3, String));
    expect([await receive(), await sent, isGone()]).toEqual([{ code: 0, text: '012' }, undefined, false]);
    close();
  });

  test('that fails after it has begun ends with an error', async () => {
    const cause = new Error('the database went away');
    const { sent, receive, close } = await exchange(
      new Pieces(3, (index) => {
        if (index === 2) throw cause;
        return String(index);
      }),
    );
    expect([(await receive()).code, await sent]).toEqual([2, cause]);
    close();
  });

  test('ends when the client cancels it while the server waits for it', async () => {
    const pieces = new Pieces(MANY, () => PIECE);
    const { sent, receive, isGone, close } = await exchange(pieces);
    expect((await receive(true)).code).toBe(8);
    expect([await sent, pieces.closed, isGone()]).toEqual([undefined, true, true]);
    expect(pieces.made).toBeLessThan(MANY / 2);
    close();
  });
});

test('the fixed headers are those of contract 7.1', () => {
  expect(Object.fromEntries(FIXED_HEADERS)).toEqual({
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
});

test.each<[before: string | readonly string[] | number | undefined, after: string]>([
  [undefined, 'Accept, Cookie'],
  ['', 'Accept, Cookie'],
  [' , ', 'Accept, Cookie'],
  ['Origin', 'Origin, Accept, Cookie'],
  ['Origin, Accept-Encoding', 'Origin, Accept-Encoding, Accept, Cookie'],
  ['Accept, Cookie', 'Accept, Cookie'],
  ['Cookie', 'Cookie, Accept'],
  ['Cookie, Accept', 'Cookie, Accept'],
  ['accept,COOKIE', 'accept, COOKIE'],
  ['Accept-Language', 'Accept-Language, Accept, Cookie'],
  [['Origin', 'Accept'], 'Origin, Accept, Cookie'],
  [['Origin, X-Tenant', 'Cookie'], 'Origin, X-Tenant, Cookie, Accept'],
  [[], 'Accept, Cookie'],
  ['*', '*'],
  ['Origin, *', '*'],
])('Vary %j becomes %j', (before, after) => {
  expect(mergeVary(before)).toBe(after);
});
