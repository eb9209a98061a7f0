// @tags nest
import { isDeepStrictEqual } from 'node:util';
import { ExpressAdapter } from '@nestjs/platform-express';
import { describe, expect, test } from '@jest/globals';
import { Action, Pk, Restify, RestifyController } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { problemsOf } from '../boot/refused-start.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings } from '../support/start-app.js';

@Restify('layered')
@Entity('layered_book')
class Book {
  @PrimaryColumn()
  id: string;

  @Column()
  title: string;
}

@Restify('layered')
@Entity('layered_author')
class Author {
  @PrimaryColumn()
  id: string;
}

@RestifyController(Book)
class BookController {
  @Action({ detail: false })
  recent(): object {
    return { recent: true };
  }

  @Action({ detail: true })
  look(@Pk() key: string): object {
    return { key };
  }
}

/** Express with another router, as this package sees it. */
class OtherExpress extends ExpressAdapter {
  constructor(private readonly change: (router: object) => object) {
    super();
  }

  override getInstance = ((): object => {
    const { change } = this;
    return new Proxy(this.instance as object, {
      get: (target, name): unknown => {
        const value: unknown = Reflect.get(target, name);
        return name === 'router' ? change(value as object) : value;
      },
    });
  }) as ExpressAdapter['getInstance'];
}

function withoutStack(router: object): object {
  return new Proxy(router, {
    get: (target, name): unknown => {
      const value: unknown = name === 'stack' ? undefined : Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** A router that appends two layers for each call. */
function withPairs(router: object): object {
  const prototype = Reflect.getPrototypeOf(router) as { use(this: object, ...handlers: unknown[]): unknown };
  const paired: object = Object.create(prototype, {
    use: {
      value: function use(this: object, ...handlers: unknown[]) {
        prototype.use.call(this, ...handlers);
        return prototype.use.call(this, ...handlers);
      },
    },
  }) as object;
  return new Proxy(router, { getPrototypeOf: () => paired });
}

/** A router whose layers compare paths by another function. */
function withoutMatch(router: object): object {
  return new Proxy(router, {
    get: (target, name): unknown => {
      const value: unknown = Reflect.get(target, name);
      return name === 'stack' ? hideMatches(value as object[]) : value;
    },
  });
}

function hideMatches(layers: object[]): object[] {
  return new Proxy(layers, {
    get: (target, at): unknown => {
      const value: unknown = Reflect.get(target, at);
      return typeof value === 'object' && value !== null ? hideMatch(value) : value;
    },
  });
}

const ASKED = new WeakSet();

/** Hidden when it is looked for, because Express itself needs it afterwards. */
function hideMatch(layer: object): object {
  return new Proxy(layer, {
    get: (target, name): unknown => {
      const { route } = target as {
        readonly route?: { readonly path: string; readonly methods: { readonly get?: boolean } };
      };
      const isAction = route?.path.endsWith('/recent') === true && route.methods.get === true;
      if (name !== 'match' || !isAction || ASKED.has(target)) return Reflect.get(target, name);
      ASKED.add(target);
      return undefined;
    },
  });
}

const SETTINGS: AppSettings = { entities: [Book, Author], controllers: [BookController] };

const REQUESTS = [
  ['GET', ''],
  ['GET', 'layered/book/'],
  ['GET', 'layered/book/1/'],
  ['GET', 'layered/book/recent/'],
  ['GET', 'layered/book/Recent/'],
  ['GET', 'layered/book/1/look/'],
  ['GET', 'layered/author/'],
  ['GET', 'layered/author/2/'],
  ['GET', 'layered/publisher/'],
  ['OPTIONS', 'layered/book/'],
  ['DELETE', 'layered/book/'],
  ['POST', 'layered/author/'],
] as const;

/** The responses of an application, and the warnings of its log. */
async function serve(
  adapter?: AppSettings['adapter'],
): Promise<{ readonly responses: readonly unknown[]; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const started = await startApp({
    ...SETTINGS,
    undescribed: 'all',
    ...(adapter ? { adapter } : {}),
    nest: {
      logger: {
        log: () => undefined,
        error: () => undefined,
        warn: (text: string) => warnings.push(text),
      },
    },
  });
  try {
    await started.dataSource.getRepository(Book).save([
      { id: '1', title: 'Emma' },
      { id: 'Recent', title: 'News' },
    ]);
    const responses: unknown[] = [];
    for (const [method, path] of REQUESTS) {
      const response = await fetch(`http://127.0.0.1:${started.port}/rest/v1/${path}`, { method });
      const { date: _date, ...headers } = Object.fromEntries(response.headers);
      responses.push([
        method,
        path,
        response.status,
        headers,
        (await response.text()).replaceAll(`:${started.port}/`, '/'),
      ]);
    }
    return { responses, warnings };
  } finally {
    await started.close();
  }
}

describe('the router of Express', () => {
  test('has the known form, without a warning', async () => {
    expect((await serve()).warnings.filter((text) => text.includes('express'))).toEqual([]);
  });

  test('of another form is a warning with its version, and changes no response', async () => {
    const [usual, other] = [await serve(), await serve(() => new OtherExpress(withPairs))];
    expect(other.warnings.filter((text) => text.includes('express'))).toEqual([
      expect.stringMatching(
        /^express 5\.\d+\.\d+ keeps its routes in another way than this package knows, so that it searches them one by one/,
      ),
    ]);
    expect(other.responses).toEqual(usual.responses);
  });

  test('that compares paths in another way is a warning with its version, and hides the objects whose key is an action in another case', async () => {
    const [usual, other] = [await serve(), await serve(() => new OtherExpress(withoutMatch))];
    expect(other.warnings.filter((text) => text.includes('express'))).toEqual([
      expect.stringMatching(/^express 5\.\d+\.\d+ compares paths in another way than this package knows/),
    ]);
    const changed = other.responses.filter((each, index) => !isDeepStrictEqual(each, usual.responses[index]));
    expect(changed).toEqual([
      ['GET', 'layered/book/Recent/', 404, expect.anything(), '{"detail":"Not found."}'],
    ]);
  });

  test('without its routes is refused at start, with its version', async () => {
    expect(await problemsOf({ ...SETTINGS, adapter: () => new OtherExpress(withoutStack) })).toEqual([
      expect.stringMatching(
        /^the HTTP adapter: express 5\.\d+\.\d+ keeps its routes in another way than this package knows\. Install the version/,
      ),
    ]);
  });
});
