// @tags core
import { afterEach, describe, expect, test } from '@jest/globals';
import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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

/** The warnings of an application, which responds and closes. */
async function serve(beforeStart: () => void): Promise<readonly string[]> {
  const warnings: string[] = [];
  beforeStart();
  const started = await startApp({
    entities: [Note],
    nest: {
      logger: { log: () => undefined, error: () => undefined, warn: (text: string) => warnings.push(text) },
    },
  });
  for (const restore of restores.splice(0)) restore();
  expect((await started.client.get('/rest/v1/drained/note/')).text).toBe('[]');
  await started.close();
  return warnings.filter((text) => text.includes('HTTP connections'));
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
