// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import type { PageResponse, PageRequest, Pagination, Renderer } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** What the parts of an application answer, whom no type holds back. */
let headers: Record<string, unknown> = {};
let pieces: readonly unknown[] = [];
let isClosed = false;

class Given implements Renderer {
  readonly format = 'given';
  readonly mediaType = 'text/x-given';

  headers(): Record<string, string> {
    return headers as Record<string, string>;
  }

  async *render(): AsyncGenerator<string> {
    isClosed = false;
    try {
      for (const piece of pieces) yield (await Promise.resolve(piece)) as string;
    } finally {
      isClosed = true;
    }
  }
}

class Told implements Pagination {
  parameters(): readonly string[] {
    return [];
  }

  page(): PageRequest {
    return { window: { kind: 'offset', limit: 2, offset: 0 } };
  }

  present(): PageResponse {
    return { headers: headers as Record<string, string> };
  }
}

@Restify({ app: 'given', renderers: [new Given()] })
@Entity('given_row')
class Row {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'given', pagination: new Told() })
@Entity('given_page')
class Page {
  @PrimaryGeneratedColumn()
  id: number;
}

describe('what no HTTP library sends', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Row, Page] });
  });
  afterAll(() => started.close());

  const FAILED = [500, 'application/json', '{"detail":"A server error occurred."}'];
  const ask = async (path: string): Promise<readonly unknown[]> => {
    const answer = await started.client.get(`/rest/v1/given/${path}`);
    return [answer.status, answer.headers['content-type'], answer.text];
  };

  test.each([
    [{ 'X-A': 'a\r\nSet-Cookie: b' }],
    [{ 'X-A': '\u{1f600}' }],
    [{ 'X-A': undefined }],
    [{ 'X A': 'a' }],
    [{ '': 'a' }],
  ])('a header that cannot be sent is answered with 500: %j', async (given) => {
    headers = given;
    pieces = ['one'];
    expect(await ask('row/?format=given')).toEqual(FAILED);
    expect(await ask('page/')).toEqual(FAILED);
    expect((await started.client.send('HEAD', '/rest/v1/given/page/')).status).toBe(500);
  });

  test.each([[[undefined]], [[5]], [[null]], [[{}, 'two']], [['one', 5, 'three']]])(
    'one of the first two pieces that is not text is answered with 500, and the renderer is closed: %j',
    async (given) => {
      headers = {};
      pieces = given;
      expect(await ask('row/?format=given')).toEqual(FAILED);
      expect(isClosed).toBe(true);
    },
  );

  test('what is right is sent', async () => {
    headers = { 'X-A': 'a' };
    pieces = ['one', 'two', 'three'];
    expect(await ask('row/?format=given')).toEqual([200, 'text/x-given', 'onetwothree']);
    expect(await ask('page/')).toEqual([200, 'application/json', '[]']);
  });
});
