import { describe, expect, test } from '@jest/globals';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import { pagesToJson } from '../../core/values/rows-to-json.js';
import type { ResponseBody } from '../../request/response/rest-response.js';
import { renderTexts } from './list.js';

function row(id: number): Row {
  return { key: [id], values: [id] };
}

function page(...ids: readonly number[]): readonly Row[] {
  return ids.map(row);
}

function represent({ key }: Row): { id: unknown } {
  return { id: key[0] };
}

/** Pages that count how many were requested, and record whether they were closed. An error instead of a page is thrown. */
class Pages implements AsyncIterable<readonly Row[]> {
  asked = 0;
  closed = false;

  constructor(private readonly pages: readonly (readonly Row[] | Error)[]) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Row[]> {
    try {
      for (const each of this.pages) {
        this.asked++;
        await Promise.resolve();
        if (each instanceof Error) throw each;
        yield each;
      }
    } finally {
      this.closed = true;
    }
  }
}

async function textOf(body: ResponseBody): Promise<string> {
  if (body.kind === 'text') return body.text;
  const pieces: string[] = [];
  for await (const piece of body.pieces) pieces.push(String(piece));
  return pieces.join('');
}

async function rendered(...pages: readonly (readonly Row[])[]): Promise<string> {
  return textOf(await renderList(new Pages(pages), represent));
}

/** As an operation and its answer do it together. */
async function renderList(pages: Pages, represent: (row: Row) => Representation): Promise<ResponseBody> {
  return renderTexts(pagesToJson(pages, { represent }));
}

describe('a list', () => {
  test.each<[name: string, pages: readonly (readonly Row[])[], ids: readonly number[]]>([
    ['no page', [], []],
    ['one empty page', [[]], []],
    ['one page', [page(1, 2)], [1, 2]],
    ['two pages', [page(1, 2), page(3)], [1, 2, 3]],
    ['five pages', [page(1), page(2), page(3), page(4), page(5)], [1, 2, 3, 4, 5]],
    ['a full page and an empty one', [page(1, 2), []], [1, 2]],
    ['two full pages and an empty one', [page(1), page(2), []], [1, 2]],
    ['an empty page before a full one', [[], page(1)], [1]],
    ['empty pages in the middle', [page(1), [], [], page(2)], [1, 2]],
    ['empty pages alone', [[], [], []], []],
  ])('of %s is one JSON array', async (_name, pages, ids) => {
    expect(await rendered(...pages)).toBe(JSON.stringify(ids.map((id) => ({ id }))));
  });

  test('of one page is one text', async () => {
    expect(await renderList(new Pages([page(1, 2)]), represent)).toEqual({
      kind: 'text',
      text: '[{"id":1},{"id":2}]',
    });
    expect(await renderList(new Pages([]), represent)).toEqual({ kind: 'text', text: '[]' });
  });

  test('keeps the texts that JSON must escape', async () => {
    const body = await renderList(new Pages([page(1), page(2)]), () => ({
      text: '"\\\u0000\n],\u{1f600}\ud800',
    }));
    expect(JSON.parse(await textOf(body))).toEqual([
      { text: '"\\\u0000\n],\u{1f600}\ud800' },
      { text: '"\\\u0000\n],\u{1f600}\ud800' },
    ]);
  });
});

describe('a long list', () => {
  test('reads a page only when it is consumed', async () => {
    const pages = new Pages([page(1), page(2), page(3), page(4)]);
    const body = await renderList(pages, represent);
    if (body.kind !== 'stream') throw new Error('It is no stream');
    const asked = [pages.asked];
    for await (const _piece of body.pieces) asked.push(pages.asked);
    // The first two are known when it begins; the last piece closes the array.
    expect(asked).toEqual([2, 2, 2, 3, 4, 4]);
    expect(pages.closed).toBe(true);
  });

  test('closes its pages when the client stops reading', async () => {
    const pages = new Pages([page(1), page(2), page(3), page(4)]);
    const body = await renderList(pages, represent);
    if (body.kind !== 'stream') throw new Error('It is no stream');
    for await (const piece of body.pieces) if (piece !== '') break;
    expect([pages.asked, pages.closed]).toEqual([2, true]);
  });
});

describe('an error', () => {
  test.each<[name: string, pages: readonly (readonly Row[] | Error)[]]>([
    ['before the first page', [new Error('broken')]],
    ['before the second page', [page(1), new Error('broken')]],
  ])('%s is thrown before anything is sent', async (_name, pages) => {
    await expect(renderList(new Pages(pages), represent)).rejects.toThrow('broken');
  });

  test('in a later page ends the stream with it, and the pages are closed', async () => {
    const pages = new Pages([page(1), page(2), new Error('broken'), page(4)]);
    const body = await renderList(pages, represent);
    await expect(textOf(body)).rejects.toThrow('broken');
    expect([pages.asked, pages.closed]).toEqual([3, true]);
  });

  test.each<[name: string, pages: readonly (readonly Row[])[]]>([
    ['of one page', [page(1)]],
    ['of two pages', [page(1), page(2)]],
  ])(
    'of a first row that cannot be represented is thrown before anything is sent: %s',
    async (_name, pages) => {
      const fails = (): never => {
        throw new Error('no representation');
      };
      await expect(renderList(new Pages(pages), fails)).rejects.toThrow('no representation');
    },
  );

  test('of a later row that cannot be represented ends the stream with it, and the pages are closed', async () => {
    const pages = new Pages([page(1), page(2), page(3), page(4)]);
    const body = await renderList(pages, ({ key }) => {
      if (key[0] === 3) throw new Error('no representation');
      return { id: key[0] };
    });
    await expect(textOf(body)).rejects.toThrow('no representation');
    expect([pages.asked, pages.closed]).toEqual([3, true]);
  });
});
