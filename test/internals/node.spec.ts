// @tags core
import { afterEach, describe, expect, test } from '@jest/globals';
import { IncomingMessage, ServerResponse } from 'node:http';
import { get } from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import { Restify } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';

@Restify('drained')
@Entity('drained_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;
}

const restores: (() => void)[] = [];

afterEach(() => {
  for (const restore of restores.splice(0)) restore();
});

/** Node's responses stand on their sockets under another name. */
function renameMessage(): void {
  const own = Object.getOwnPropertyDescriptor(ServerResponse.prototype, 'assignSocket');
  ServerResponse.prototype.assignSocket = function (socket: Socket) {
    Object.assign(socket, { otherMessage: this });
  };
  restores.push(() => {
    if (own) Object.defineProperty(ServerResponse.prototype, 'assignSocket', own);
  });
}

/** Node's servers hold the classes of requests and responses under strings. */
function hideConstructors(): void {
  const { getOwnPropertySymbols } = Object;
  Object.getOwnPropertySymbols = (object) =>
    getOwnPropertySymbols(object).filter(
      ({ description = '' }) => !['IncomingMessage', 'ServerResponse'].includes(description),
    );
  restores.push(() => {
    Object.getOwnPropertySymbols = getOwnPropertySymbols;
  });
}

/** Node's requests are a class, which cannot initialize an object that exists. */
function makeRequestsClass(): void {
  const toString: (this: unknown) => string = Reflect.get(Function.prototype, 'toString');
  Function.prototype.toString = function (this: unknown) {
    return this === IncomingMessage ? 'class IncomingMessage {}' : toString.call(this);
  };
  restores.push(() => {
    Function.prototype.toString = toString;
  });
}

/** The warnings of an application, which responds and closes. */
async function serve(beforeStart: () => void): Promise<readonly string[]> {
  const warnings: string[] = [];
  beforeStart();
  const started = await startApp({
    entities: [Note],
    nest: {
      logger: { log: () => undefined, error: () => undefined, warn: (line: string) => warnings.push(line) },
    },
  });
  for (const restore of restores.splice(0)) restore();
  expect((await started.client.get('/rest/v1/drained/note/')).text).toBe('[]');
  await started.close();
  return warnings.filter((line) => /^Node \d/.test(line));
}

describe(`the state of HTTP connections (${PLATFORM})`, () => {
  test('has the known form, without a warning', async () => {
    expect(await serve(() => undefined)).toEqual([]);
  });

  test('under another name is a warning with the version of Node, and changes no response', async () => {
    expect(await serve(renameMessage)).toEqual([
      expect.stringMatching(
        /^Node \d+\.\d+\.\d+ keeps the state of HTTP connections in another way than this package knows/,
      ),
    ]);
  });
});

/** TLS without a certificate. */
const PSK = {
  ciphers: 'PSK',
  maxVersion: 'TLSv1.2',
  pskCallback: () => Buffer.alloc(32, 7),
} as const;

/** Sockets with TLS hold the connection below them under another name. */
function renameParent(): void {
  Object.defineProperty(TLSSocket.prototype, '_parent', {
    configurable: true,
    get: () => undefined,
    set: () => undefined,
  });
  restores.push(() => {
    Reflect.deleteProperty(TLSSocket.prototype, '_parent');
  });
}

/** The warnings of an application with TLS, and its response. */
async function serveEncrypted(
  beforeStart: () => void,
): Promise<{ readonly warnings: readonly string[]; readonly body: string }> {
  const warnings: string[] = [];
  beforeStart();
  const started = await startApp({
    compare: false,
    entities: [Note],
    ...(PLATFORM === 'fastify' ? { fastify: { https: PSK } } : {}),
    nest: {
      ...(PLATFORM === 'fastify' ? {} : { httpsOptions: PSK }),
      logger: { log: () => undefined, error: () => undefined, warn: (line: string) => warnings.push(line) },
    },
  });
  for (const restore of restores.splice(0)) restore();
  const url = `https://127.0.0.1:${started.port}/rest/v1/drained/note/`;
  const body = await new Promise<string>((resolve, reject) => {
    const client = { pskCallback: () => ({ psk: Buffer.alloc(32, 7), identity: 'test' }) };
    get(url, { ...PSK, ...client, checkServerIdentity: () => undefined, agent: false }, (response) => {
      resolve(text(response));
    }).once('error', reject);
  });
  await started.close();
  return { warnings: warnings.filter((line) => line.includes('TLS')), body };
}

describe(`the connections below TLS (${PLATFORM})`, () => {
  test('have the known form, without a warning', async () => {
    expect(await serveEncrypted(() => undefined)).toEqual({ warnings: [], body: '[]' });
  });

  test('under another name are a warning with the version of Node, and change no response', async () => {
    expect(await serveEncrypted(renameParent)).toEqual({
      warnings: [
        expect.stringMatching(
          /^Node \d+\.\d+\.\d+ keeps the connections below TLS in another way than this package knows/,
        ),
      ],
      body: '[]',
    });
  });
});

(PLATFORM === 'express' ? describe : describe.skip)('the classes of requests and responses', () => {
  test.each([
    ['under another key', hideConstructors],
    ['of another kind', makeRequestsClass],
  ])('%s are a warning with the version of Node, and change no response', async (_, change) => {
    expect(await serve(change)).toEqual([
      expect.stringMatching(
        /^Node \d+\.\d+\.\d+ creates requests and responses in another way than this package knows/,
      ),
    ]);
  });
});
