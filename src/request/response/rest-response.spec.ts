import { expect, test } from '@jest/globals';
import { JSON_ARRAY } from '../../core/values/text-pieces.js';
import { readBody } from './rest-response.js';

async function* pieces(given: readonly string[], failure?: Error): AsyncGenerator<string> {
  for (const piece of given) yield await Promise.resolve(piece);
  if (failure) throw failure;
}

/** The pieces of the body, until it ends or fails. */
async function taken(given: AsyncIterable<string>, hold: number): Promise<readonly string[]> {
  const all: string[] = [];
  try {
    const body = await readBody(given, { frame: JSON_ARRAY, hold });
    if (body.kind === 'text') return [body.text];
    for await (const piece of body.pieces) all.push(String(piece));
  } catch {
    all.push('error');
  }
  return all;
}

const tooMany = new Error('too many');

test('nothing of a body that is held is given before its end is known', async () => {
  expect(await taken(pieces(['1', '2', '3'], tooMany), 10)).toEqual(['error']);
});

test('of a longer one everything is, piece by piece', async () => {
  expect(await taken(pieces(['1', '2', '3', '4'], tooMany), 3)).toEqual(['[1', ',2', ',3', ',4', 'error']);
});

test('a body that ends is given whole, also if it is empty', async () => {
  expect(await taken(pieces(['1', '2', '3']), 10)).toEqual(['[1', ',2', ',3', ']']);
  expect(await taken(pieces(['']), 10)).toEqual(['[]']);
});

test('pieces without a frame are given as they are, the empty ones too', async () => {
  const body = await readBody(pieces(['a', '', 'b']), {});
  if (body.kind !== 'stream') throw new Error('It is no stream');
  const all: unknown[] = [];
  for await (const piece of body.pieces) all.push(piece);
  expect(all).toEqual(['a', '', 'b']);
});
