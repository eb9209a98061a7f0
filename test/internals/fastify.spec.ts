// @tags nest
import { afterEach, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';

@Restify('symbols')
@Entity('symbols_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;
}

const restores: (() => void)[] = [];

afterEach(() => {
  for (const restore of restores.splice(0)) restore();
});

/** Objects of Fastify hold the value of this symbol under another one. */
function renameSymbol(description: string): void {
  const { getOwnPropertySymbols } = Object;
  Object.getOwnPropertySymbols = (object) =>
    getOwnPropertySymbols(object).filter((symbol) => symbol.description !== description);
  restores.push(() => {
    Object.getOwnPropertySymbols = getOwnPropertySymbols;
  });
}

const REQUESTS = [
  ['GET', ''],
  ['POST', 'symbols/note/'],
  ['GET', 'symbols/note/'],
  ['GET', 'symbols/note/1/'],
  ['HEAD', 'symbols/note/1/'],
  ['GET', 'symbols/note/2/'],
  ['OPTIONS', 'symbols/note/'],
  ['DELETE', 'symbols/note/1/'],
] as const;

/** The responses of an application, and the warnings of its log. */
async function serve(
  renamed?: string,
): Promise<{ readonly responses: readonly unknown[]; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  if (renamed !== undefined) renameSymbol(renamed);
  const started = await startApp({
    entities: [Note],
    fastify: {},
    nest: {
      logger: { log: () => undefined, error: () => undefined, warn: (text: string) => warnings.push(text) },
    },
  });
  for (const restore of restores.splice(0)) restore();
  try {
    const responses: unknown[] = [];
    for (const [method, path] of REQUESTS) {
      const response = await fetch(`http://127.0.0.1:${started.port}/rest/v1/${path}`, { method });
      const { date: _date, ...headers } = Object.fromEntries(response.headers);
      const received = JSON.stringify([method, path, response.status, headers, await response.text()]);
      responses.push(received.replaceAll(`:${started.port}/`, '/'));
    }
    return { responses, warnings: warnings.filter((text) => text.includes('fastify')) };
  } finally {
    await started.close();
  }
}

describe('the symbols of Fastify', () => {
  test('are found, without a warning', async () => {
    expect((await serve()).warnings).toEqual([]);
  });

  test.each([
    ['fastify.options', /^fastify 5\.\d+\.\d+ closes in another way than this package knows/],
    ['fastify.serverBindings', /^fastify 5\.\d+\.\d+ closes in another way than this package knows/],
    ['fastify.Reply', /^fastify 5\.\d+\.\d+ keeps the serializers of replies in another way/],
    ['fastify.reply.serializer', /^fastify 5\.\d+\.\d+ keeps the serializers of replies in another way/],
  ])('that have another name than %s are a warning, and change no response', async (name, warning) => {
    const [usual, other] = [await serve(), await serve(name)];
    expect(other.warnings).toEqual([expect.stringMatching(warning)]);
    expect(other.responses).toEqual(usual.responses);
  });
});
