import { expect, test } from '@jest/globals';
import { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ChunkStream } from './fastify-reply.js';

/** Pieces, and what was asked of them. */
function watched(
  pieces: readonly string[],
  failure?: Error,
): { readonly asked: string[]; readonly given: AsyncGenerator<string> } {
  const asked: string[] = [];
  async function* given(): AsyncGenerator<string> {
    try {
      for (const piece of pieces) {
        asked.push(piece);
        yield await Promise.resolve(piece);
      }
      if (failure) throw failure;
    } finally {
      asked.push('end');
    }
  }
  return { asked, given: given() };
}

/** Takes a piece, and no more until it is told to go on. */
class SlowClient extends Writable {
  readonly taken: string[] = [];
  goOn = (): void => undefined;

  constructor() {
    super({ highWaterMark: 1, decodeStrings: false });
  }

  override _write(piece: string, _encoding: string, done: () => void): void {
    this.taken.push(piece);
    this.goOn = done;
  }
}

const doNothing = (): Promise<void> => Promise.resolve();

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('gives all pieces in their order, and ends', async () => {
  const { asked, given } = watched(['[1', ',2', ']']);
  const all: string[] = [];
  for await (const piece of new ChunkStream(given, doNothing)) all.push(String(piece));
  expect(all).toEqual(['[1', ',2', ']']);
  expect(asked).toEqual(['[1', ',2', ']', 'end']);
});

test('renders the next piece only after a slow client has received the last one', async () => {
  const { asked, given } = watched(['a', 'b', 'c']);
  const client = new SlowClient();
  const sent = pipeline(new ChunkStream(given, doNothing), client);
  for (const before of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
    for (let turns = 0; turns < 10; turns++) await turn();
    expect([asked, client.taken]).toEqual([before, before]);
    client.goOn();
  }
  await sent;
  expect(asked).toEqual(['a', 'b', 'c', 'end']);
});

test('fails as its pieces do', async () => {
  const { asked, given } = watched(['a'], new Error('gone'));
  const stream = new ChunkStream(given, async () => {
    await turn();
    asked.push(`before, destroyed: ${stream.destroyed}`);
  });
  stream.resume();
  await expect(finished(stream)).rejects.toThrow('gone');
  expect(asked).toEqual(['a', 'end', 'before, destroyed: false']);
});

test('stops the renderer when the client disconnects', async () => {
  const { asked, given } = watched(['a', 'b', 'c']);
  const stream = new ChunkStream(given, doNothing);
  await new Promise<void>((resolve) =>
    stream.once('data', () => {
      resolve();
    }),
  );
  stream.destroy();
  await finished(stream).catch(() => undefined);
  expect(asked.at(-1)).toBe('end');
  expect(asked).not.toContain('c');
});
