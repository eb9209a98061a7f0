import { expect, test } from '@jest/globals';
import { HELD_CHARACTERS } from '../../core/schema/limits.js';
import type { Row } from '../../core/contracts/serializer.js';
import { bufferStream } from './buffer-stream.js';

const row = (id: number): Row => ({ key: [id], values: [] });

async function* pagesThenError(pages: readonly (readonly Row[])[]): AsyncGenerator<readonly Row[]> {
  for (const page of pages) yield await Promise.resolve(page);
  throw new Error('too many');
}

async function taken(texts: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = [];
  try {
    for await (const text of texts) all.push(text);
  } catch {
    all.push('error');
  }
  return all;
}

test('nothing of a short list is given before its end is known', async () => {
  expect(
    await taken(bufferStream(pagesThenError([[row(1)], [row(2), row(3)]]), ({ key }) => ({ id: key[0] }))),
  ).toEqual(['error']);
});

test('of a long one everything is, page by page', async () => {
  const wide = 'x'.repeat(HELD_CHARACTERS / 2);
  const texts = await taken(
    bufferStream(pagesThenError([[row(1)], [row(2)], [row(3)]]), ({ key }) => ({ id: key[0], wide })),
  );
  expect(texts.map((text) => text.slice(0, 7))).toEqual(['{"id":1', '{"id":2', '{"id":3', 'error']);
});

test('a list that ends is given whole, also without rows', async () => {
  async function* pages(): AsyncGenerator<readonly Row[]> {
    yield await Promise.resolve([]);
  }
  expect(await taken(bufferStream(pages(), () => ({})))).toEqual(['']);
});
