// @tags http
import { afterEach, describe, expect, test } from '@jest/globals';
import { Controller, Get, Res } from '@nestjs/common';
import { Restify } from 'nestjs-restify';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Server, ServerResponse } from 'node:http';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { pause, until } from './faulty-server.js';

@Restify('ending')
@Entity('ending_page')
class Page {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'text' })
  body: string;
}

const PAGES = '/rest/v1/ending/page/';
const LARGE = 20_000_000;

/** Node's response, on whichever HTTP library. */
type Reply = ServerResponse & { readonly raw?: ServerResponse; hijack?: () => void };

function rawOf(reply: Reply): ServerResponse {
  reply.hijack?.();
  return reply.raw ?? reply;
}

/** Routes that this package knows nothing of. */
@Controller('own')
class GeneratedRoutes {
  @Get('events')
  events(@Res() reply: Reply): void {
    const response = rawOf(reply);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write('data: x\n\n'), 20);
    response.on('close', () => {
      clearInterval(timer);
    });
  }

  @Get('large')
  large(@Res() reply: Reply): void {
    const response = rawOf(reply);
    response.writeHead(200, { 'content-length': LARGE });
    response.end(Buffer.alloc(LARGE, 'x'));
  }
}

/** A client that writes what it likes, and what became of its connection. */
class RawClient {
  received = '';
  error: string | undefined;
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    socket.on('error', (error: Error & { code?: string }) => (this.error = error.code ?? error.message));
    socket.on('close', () => (this.closed = true));
  }

  static open(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1' }, () => {
        const client = new RawClient(socket);
        clients.push(client);
        resolve(client);
      });
      socket.once('error', reject);
    });
  }

  send(text: string): void {
    this.socket.write(text);
  }

  get(path: string): void {
    this.send(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`);
  }
}

const clients: RawClient[] = [];
let started: StartedApp | undefined;

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await started?.close().catch(() => undefined);
  started = undefined;
});

async function start(shutdownGrace?: number, rows = 3): Promise<StartedApp> {
  started = await startApp({
    compare: false,
    entities: [Page],
    controllers: [GeneratedRoutes],
    restify: shutdownGrace === undefined ? {} : { shutdownGrace },
    undescribed: 'all',
  });
  await started.dataSource.query(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) INSERT INTO ending_page (body) SELECT '${'x'.repeat(200)}' FROM n`,
  );
  return started;
}

/** The application ends; whether it has ended, and when. */
function end({ app }: StartedApp): { ended: boolean; readonly done: Promise<unknown> } {
  const ending = { ended: false, done: Promise.resolve<unknown>(undefined) };
  ending.done = app.close().then(() => (ending.ended = true));
  return ending;
}

async function refused(port: number): Promise<boolean> {
  return RawClient.open(port).then(
    () => false,
    (error: unknown) => (error as { code?: string }).code === 'ECONNREFUSED',
  );
}

/** A grace that no test waits for. */
const LONG = 60_000;

describe('an application that ends', () => {
  test('ends behind a long list over a kept connection, which is whole', async () => {
    const app = await start(undefined, 60_000);
    const client = await RawClient.open(app.port);
    client.socket.pause();
    client.get(PAGES);
    await pause(300);
    const ending = end(app);
    await until(() => refused(app.port));
    expect(ending.ended).toBe(false);
    client.socket.resume();
    await until(() => client.received.endsWith('\r\n0\r\n\r\n'));
    await until(
      () => ending.ended && client.closed,
      () => client.error ?? 'ended',
      3000,
    );
    expect([client.error, client.received.split('"id":').length - 1]).toEqual([undefined, 60_000]);
  });

  test('does not wait for connections that have sent nothing', async () => {
    const app = await start(LONG);
    const silent = await RawClient.open(app.port);
    await pause(50);
    const ending = end(app);
    await until(
      () => ending.ended && silent.closed,
      () => 'ended',
      5000,
    );
  });

  test.each<[name: string, sent: readonly string[]]>([
    ['half a request', [`GET ${PAGES} HTTP/1.1\r\nHost:`]],
    [
      'half a request behind a whole one',
      [`GET ${PAGES}1/ HTTP/1.1\r\nHost: h\r\n\r\n`, `GET ${PAGES} HTTP`],
    ],
    [
      'headers that never end',
      [`GET ${PAGES} HTTP/1.1\r\n`, ...Array.from({ length: 40 }, (_, index) => `X-${index}: 1\r\n`)],
    ],
    [
      'an upload that stands still',
      [
        `POST ${PAGES} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"bo`,
      ],
    ],
  ])('waits for %s up to shutdownGrace', async (_name, sent) => {
    const app = await start(700);
    const client = await RawClient.open(app.port);
    const [first = '', ...more] = sent;
    client.send(first);
    await pause(100);
    if (more.length === 1) client.send(more[0] ?? '');
    await pause(50);
    const begun = performance.now();
    const ending = end(app);
    if (more.length > 1)
      for (const each of more) {
        if (client.closed) break;
        client.send(each);
        await pause(100);
      }
    await until(
      () => ending.ended && client.closed,
      () => 'ended',
      5000,
    );
    expect(performance.now() - begun).toBeGreaterThanOrEqual(600);
  });

  test('waits for an upload that moves, however slowly, and answers it', async () => {
    const app = await start(1000);
    const client = await RawClient.open(app.port);
    const body = JSON.stringify({ body: 'y'.repeat(30) });
    client.send(
      `POST ${PAGES} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    await pause(1200);
    const ending = end(app);
    for (const each of body) {
      client.send(each);
      await pause(80);
    }
    await until(
      () => ending.ended,
      () => 'ended',
      5000,
    );
    expect([
      client.error,
      client.received.slice(0, 12),
      /^connection: close\r$/im.test(client.received),
    ]).toEqual([undefined, 'HTTP/1.1 201', true]);
  });

  test('serves requests on keep-alive connections during shutdown, with Connection: close', async () => {
    const app = await start(LONG, 400);
    const kept = await Promise.all(Array.from({ length: 20 }, () => RawClient.open(app.port)));
    const counts = kept.map(() => ({ sent: 0, answered: 0, told: false }));
    // Each asks again as soon as it is answered, until it is told not to.
    for (const [index, client] of kept.entries()) {
      const count = counts[index];
      if (!count) continue;
      const ask = (): void => {
        client.received = '';
        count.sent += 1;
        client.get(PAGES);
      };
      client.socket.on('data', () => {
        if (!client.received.endsWith('}]')) return;
        count.answered += 1;
        count.told = /^connection: close\r$/im.test(client.received);
        if (!count.told) setImmediate(ask);
      });
      ask();
    }
    await until(() => counts.every(({ answered }) => answered > 2));
    const ending = end(app);
    await until(
      () => ending.ended,
      () => counts,
      10_000,
    );
    await until(() => kept.every(({ closed }) => closed));
    expect(kept.map(({ error }) => error)).toEqual(kept.map(() => undefined));
    expect(counts.filter(({ sent, answered, told }) => sent !== answered || !told)).toEqual([]);
  });

  test('behind a list in progress, responds in the form of the interface, whatever the HTTP library does meanwhile', async () => {
    const app = await start(LONG, 60_000);
    const [client, other] = [await RawClient.open(app.port), await RawClient.open(app.port)];
    for (const each of [client, other]) {
      each.socket.pause();
      each.get(PAGES);
    }
    await pause(300);
    const ending = end(app);
    await until(() => refused(app.port));
    client.get(`${PAGES}1/`);
    other.send(
      `POST ${PAGES} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"body":"x"}`,
    );
    for (const each of [client, other]) each.socket.resume();
    await until(
      () => ending.ended && client.closed && other.closed,
      () => 'ended',
      10_000,
    );
    const [get, post] = [client, other].map(({ received }) =>
      received.slice(received.indexOf('\r\n0\r\n\r\n') + 7),
    );
    // Fastify serves nothing any more, unless `return503OnClosing` is false.
    if (PLATFORM === 'fastify')
      for (const answer of [get, post]) {
        expect(answer).toMatch(/^HTTP\/1\.1 503 /);
        expect(answer).toMatch(/^retry-after: 5\r$/im);
        expect(answer).toMatch(/^content-type: application\/json\r$/im);
        expect(answer).toMatch(/^x-content-type-options: nosniff\r$/im);
        expect(answer).toMatch(/^allow: GET, /im);
        expect(answer).toMatch(/^connection: close\r$/im);
        expect(answer).toMatch(
          /\r\n\r\n\{"detail":"The service is temporarily unavailable\. Try again later\."\}$/,
        );
      }
    else {
      expect(get).toMatch(/^HTTP\/1\.1 200 .*^connection: close\r$/ims);
      expect(post).toMatch(/^HTTP\/1\.1 201 .*^connection: close\r$/ims);
    }
  });

  test('lets an answer that was given reach a client that takes its time', async () => {
    const app = await start(LONG);
    const client = await RawClient.open(app.port);
    client.socket.pause();
    client.get('/own/large');
    await pause(300);
    const ending = end(app);
    await pause(300);
    client.socket.resume();
    await until(() => ending.ended && client.closed);
    expect([client.error, client.received.length - client.received.indexOf('\r\n\r\n') - 4]).toEqual([
      undefined,
      LARGE,
    ]);
  });

  test('leaves the streams of the application, and what is HTTP no more, to the application', async () => {
    const app = await start(200);
    const server = app.app.getHttpServer() as Server;
    server.on('upgrade', (_request, socket: Socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
      socket.on('data', (chunk) => socket.write(chunk));
      socket.on('end', () => socket.end());
      socket.on('error', () => undefined);
    });
    const [events, upgraded] = [await RawClient.open(app.port), await RawClient.open(app.port)];
    events.get('/own/events');
    upgraded.send('GET /own/x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    await until(() => events.received.includes('data: x') && upgraded.received.includes(' 101 '));
    const ending = end(app);
    await until(() => refused(app.port));
    await pause(1000);
    events.received = '';
    upgraded.send('still there');
    await until(() => events.received.includes('data: x') && upgraded.received.endsWith('still there'));
    expect([ending.ended, events.closed, upgraded.closed]).toEqual([false, false, false]);
    events.socket.destroy();
    upgraded.socket.destroy();
    await until(() => ending.ended);
  });
});
