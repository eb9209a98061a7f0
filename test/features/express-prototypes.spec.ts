// @tags nest
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ExpressAdapter } from '@nestjs/platform-express';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse, createServer, request as sendRequest } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { useExpressPrototypes } from '../../src/http/express/express-prototypes.js';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('born')
@Entity('born_leaf')
class Leaf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

const LEAVES = '/rest/v1/born/leaf/';

interface Made {
  readonly server: Server;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Express {
  (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void;
  readonly request: object;
  readonly response: object;
  use(...handlers: readonly unknown[]): unknown;
}

/** What Node's servers have made, as they made it: who listens is not called yet. */
let made: readonly (readonly [request: unknown, response: unknown])[] = [];

function note(message: unknown): void {
  const { request, response } = message as Made;
  made = [...made, [Object.getPrototypeOf(request), Object.getPrototypeOf(response)]];
}

const OWN = [IncomingMessage.prototype, ServerResponse.prototype] as const;

function newExpress(): Express {
  return new ExpressAdapter().getInstance<Express>();
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** The status of the answer, and 101 for one that upgrades. */
function statusOf(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest({ port, path, headers, agent: false }, (answer) => {
      answer.resume().once('end', () => {
        resolve(answer.statusCode ?? 0);
      });
    });
    sent.once('upgrade', (answer, socket: Socket) => {
      socket.destroy();
      resolve(answer.statusCode ?? 0);
    });
    sent.once('error', reject).end();
  });
}

(PLATFORM === 'express' ? describe : describe.skip)(
  'Express is given requests and responses that have its prototypes already',
  () => {
    let started: StartedApp;
    let express: Express;
    let server: Server;
    let ofExpress: readonly [request: object, response: object];

    beforeEach(async () => {
      started = await startApp({ entities: [Leaf] });
      express = started.app.getHttpAdapter().getInstance() as Express;
      server = started.app.getHttpServer() as Server;
      ofExpress = [express.request, express.response];
      made = [];
      subscribe('http.server.request.start', note);
    });

    afterEach(async () => {
      unsubscribe('http.server.request.start', note);
      await started.close();
    });

    test('while it alone listens', async () => {
      expect((await started.client.post(LEAVES, { name: 'Oak' })).status).toBe(201);
      expect((await started.client.get(`${LEAVES}1/`)).json).toEqual({ id: 1, name: 'Oak' });
      expect((await started.client.get('/elsewhere')).status).toBe(404);
      expect(made).toHaveLength(3);
      expect(
        made.every(([request, response]) => request === express.request && response === express.response),
      ).toBe(true);
    });

    test('they are what they were: of the classes of Node, with nothing of their own that Express gave them', async () => {
      const seen: unknown[] = [];
      const kept = (message: unknown): void => {
        const { request, response } = message as Made;
        seen.push(
          request instanceof IncomingMessage,
          response instanceof ServerResponse,
          request.constructor,
          response.constructor,
          response.req === request,
          Object.keys(request).includes('app'),
        );
      };
      subscribe('http.server.request.start', kept);
      try {
        expect((await started.client.get(LEAVES)).status).toBe(200);
      } finally {
        unsubscribe('http.server.request.start', kept);
      }
      expect(seen).toEqual([true, true, IncomingMessage, ServerResponse, true, false]);
    });

    test('not while another listener handles requests', async () => {
      const seen: unknown[] = [];
      const listener = (request: IncomingMessage): void => {
        seen.push(Object.getPrototypeOf(request));
      };
      server.prependListener('request', listener);
      expect((await started.client.get(LEAVES)).status).toBe(200);
      expect(seen[0] === IncomingMessage.prototype).toBe(true);
      expect(made[0]?.every((prototype, at) => prototype === OWN[at])).toBe(true);
      server.off('request', listener);
      expect((await started.client.get(LEAVES)).status).toBe(200);
      expect(made[1]?.every((prototype, at) => prototype === ofExpress[at])).toBe(true);
    });

    test('not while a handler is between the server and Express', async () => {
      server.removeAllListeners('request');
      const seen: unknown[] = [];
      server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        seen.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
        express(request, response, () => undefined);
      });
      expect((await started.client.get(LEAVES)).status).toBe(200);
      expect(seen.map((prototype, at) => prototype === OWN[at])).toEqual([true, true]);
    });

    test('not while the emit method of the server is wrapped', async () => {
      const seen: unknown[] = [];
      const emit = EventEmitter.prototype.emit.bind(server);
      server.emit = (event: string, ...given: unknown[]): boolean => {
        if (event === 'request') {
          seen.push(Object.getPrototypeOf(given[0]));
          (given[0] as { path?: string }).path = '/seen';
        }
        return emit(event, ...given);
      };
      expect((await started.client.get(LEAVES)).status).toBe(200);
      expect(seen.map((prototype) => prototype === IncomingMessage.prototype)).toEqual([true]);
    });

    test.each(['connect', 'checkContinue', 'checkExpectation', 'dropRequest'])(
      'not while there is a listener for %s',
      async (event) => {
        server.on(event, () => undefined);
        expect((await started.client.get(LEAVES)).status).toBe(200);
        expect(made[0]?.every((prototype, at) => prototype === OWN[at])).toBe(true);
      },
    );

    test('not while there is a listener for upgrades, whose requests Express does not receive', async () => {
      const seen: unknown[] = [];
      server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
        seen.push(Object.getPrototypeOf(request));
        socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: test\r\nConnection: Upgrade\r\n\r\n');
      });
      expect(await statusOf(started.port, '/socket', { Connection: 'Upgrade', Upgrade: 'test' })).toBe(101);
      expect(seen.map((prototype) => prototype === IncomingMessage.prototype)).toEqual([true]);
      expect((await started.client.get(LEAVES)).status).toBe(200);
      expect(made[0]?.every((prototype, at) => prototype === OWN[at])).toBe(true);
    });

    test('a mounted application of Express has its own prototypes, and later handlers those of the outer application', async () => {
      const lower = newExpress();
      const seen: unknown[] = [];
      const look = (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
        seen.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
        next();
      };
      lower.use(look);
      const outer = newExpress();
      outer.use('/below', lower);
      outer.use(look);
      outer.use((_request: IncomingMessage, response: ServerResponse) => response.end('done'));
      const own = createServer(outer);
      useExpressPrototypes(own, outer);
      try {
        expect(await statusOf(await listening(own), '/below')).toBe(200);
        expect(made[0]?.every((prototype, at) => prototype === [outer.request, outer.response][at])).toBe(
          true,
        );
        expect(
          seen.map(
            (prototype, at) =>
              prototype === [lower.request, lower.response, outer.request, outer.response][at],
          ),
        ).toEqual([true, true, true, true]);
      } finally {
        await closed(own);
      }
    });

    test('a server that was created with its own classes keeps them', async () => {
      class OwnMessage extends IncomingMessage {}
      const given = createServer({ IncomingMessage: OwnMessage }, express);
      useExpressPrototypes(given, express);
      const changed = createServer(express);
      useExpressPrototypes(changed, express);
      const place = Object.getOwnPropertySymbols(changed).find(
        (symbol) => String(symbol) === 'Symbol(IncomingMessage)',
      );
      if (!place) throw new Error('Node keeps the class of its requests elsewhere');
      Reflect.set(changed, place, OwnMessage);
      for (const each of [given, changed]) {
        try {
          expect(await statusOf(await listening(each), LEAVES)).toBe(200);
        } finally {
          await closed(each);
        }
      }
      expect(made.map(([request]) => request === OwnMessage.prototype)).toEqual([true, true]);
    });

    test("what is no server of Node's, or no application of Express, is left as it is", () => {
      const other = createServer();
      const before = Object.getOwnPropertyDescriptors(other);
      useExpressPrototypes(other, () => undefined);
      expect(Object.getOwnPropertyDescriptors(other)).toEqual(before);
      for (const target of [undefined, {}, { listeners: () => [], listenerCount: () => 0 }]) {
        const keys = Reflect.ownKeys(target ?? {});
        useExpressPrototypes(target, express);
        expect(Reflect.ownKeys(target ?? {})).toEqual(keys);
      }
    });
  },
);
