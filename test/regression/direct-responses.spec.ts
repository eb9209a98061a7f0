// @tags db http nest
import { afterEach, describe, expect, test } from '@jest/globals';
import { allow, Restify } from 'nestjs-restify';
import type { FilterBackend, FilterResult, Grant, Permission } from 'nestjs-restify';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Logger, QueryRunner, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

@Restify('alone')
@Entity('alone_plain')
class Plain {
  @PrimaryColumn()
  id: number;
}

let thrown: () => unknown = () => new Error('never');

class Throws implements FilterBackend {
  filter(): FilterResult {
    throw thrown();
  }
}

@Restify({ app: 'alone', filterBackends: [Throws] })
@Entity('alone_broken')
class Broken {
  @PrimaryColumn()
  id: number;
}

class Slow implements Permission {
  async decide(): Promise<Grant> {
    await pause(25);
    return allow();
  }
}

@Restify({ app: 'alone', permissions: [Slow] })
@Entity('alone_slow')
class Waits {
  @PrimaryColumn()
  id: number;
}

/** Whose key no caller reads, and whose links hold it all the same. */
class NoKey implements Permission {
  decide(): Grant {
    return allow({ readable: ['name', 'leaves'] });
  }
}

@Restify({ app: 'alone', permissions: [NoKey] })
@Entity('alone_tree')
class Tree {
  @PrimaryColumn()
  id: number;

  @Column({ type: 'varchar' })
  name: string;

  @OneToMany(() => Leaf, (leaf) => leaf.tree)
  leaves: Relation<Leaf[]>;
}

@Restify('alone')
@Entity('alone_leaf')
class Leaf {
  @PrimaryColumn()
  id: number;

  @ManyToOne(() => Tree, (tree) => tree.leaves)
  tree: Relation<Tree>;
}

const PLAIN = '/rest/v1/alone/plain/';

let started: StartedApp | undefined;

afterEach(async () => {
  await started?.close();
  started = undefined;
});

async function begin(settings: AppSettings): Promise<StartedApp> {
  started = await startApp({ undescribed: 'all', ...settings });
  return started;
}

interface Seen {
  readonly status: number;
  readonly header: unknown;
  readonly kept: boolean;
}

/** Over a connection that is kept: whether it is the one of the request before. */
function ask(
  port: number,
  { path, agent, header }: { readonly path: string; readonly agent: Agent; readonly header: string },
): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, agent }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => {
        resolve({
          status: incoming.statusCode ?? 0,
          header: incoming.headers[header],
          kept: outgoing.reusedSocket,
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

test.each([
  ['a list', PLAIN, 200],
  ['what is refused', `${PLAIN}x/`, 404],
])(
  'middleware that awaits next() and goes on behind it finds no answer sent: %s',
  async (_name, path, status) => {
    const { port } = await begin({
      entities: [Plain],
      configure: (app) => {
        for (const name of ['x-outer', 'x-behind']) {
          app.use(
            async (
              _request: unknown,
              response: { setHeader(name: string, value: string): void },
              next: () => unknown,
            ) => {
              await next();
              response.setHeader(name, 'yes');
            },
          );
        }
      },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      expect(await ask(port, { path, agent, header: 'x-behind' })).toEqual({
        status,
        header: 'yes',
        kept: false,
      });
      expect(await ask(port, { path, agent, header: 'x-outer' })).toEqual({
        status,
        header: 'yes',
        kept: true,
      });
    } finally {
      agent.destroy();
    }
  },
);

describe('what has no text', () => {
  test.each<[name: string, make: () => unknown]>([
    ['an object without a prototype', () => Object.create(null) as unknown],
    ['a symbol', () => Symbol('odd')],
    [
      'an object whose text fails',
      () => ({
        toString: () => {
          throw new Error('no text');
        },
      }),
    ],
  ])('%s that an author throws is answered with 500', async (_name, make) => {
    thrown = make;
    const { client } = await begin({ entities: [Broken] });
    for (let time = 0; time < 2; time++)
      expect((await client.get('/rest/v1/alone/broken/')).status).toBe(500);
  });
});

test('the response of a Fastify hook is kept if it was sent while a permission was checked', async () => {
  const { client } = await begin({
    entities: [Waits, Plain],
    fastify: {},
    configure: (app) => {
      const instance = app.getHttpAdapter().getInstance() as {
        addHook(name: string, hook: (...given: never[]) => void): void;
      };
      instance.addHook(
        'onRequest',
        (
          _request: unknown,
          reply: { sent: boolean; code(status: number): { send(body: object): void } },
          done: () => void,
        ) => {
          setTimeout(() => {
            if (!reply.sent) reply.code(503).send({ late: true });
          }, 5);
          done();
        },
      );
      instance.addHook(
        'onSend',
        (
          _request: unknown,
          _reply: unknown,
          payload: unknown,
          done: (error: null, payload: unknown) => void,
        ) => {
          setTimeout(() => {
            done(null, payload);
          }, 50);
        },
      );
    },
  });
  const answer = await client.get('/rest/v1/alone/waits/');
  expect([answer.status, answer.json]).toEqual([503, { late: true }]);
  // Nothing is left that would end the process.
  await pause(80);
  expect((await client.get('/rest/v1/alone/waits/')).status).toBe(503);
});

onEachDatabase("a logger of the application's", (database) => {
  test('is given a query runner, in the context of its request', async () => {
    const context = new AsyncLocalStorage<string>();
    const logged: (readonly [id: string | undefined, hasRunner: boolean])[] = [];
    const none = (): void => undefined;
    const logger: Logger = {
      logQuery: (_query: string, _parameters?: unknown[], runner?: QueryRunner) =>
        void logged.push([context.getStore(), runner !== undefined]),
      logQueryError: none,
      logQuerySlow: none,
      logSchemaBuild: none,
      logMigration: none,
      log: none,
    };
    const { client, dataSource } = await begin({
      entities: [Plain],
      database,
      dataSource: { logger, poolSize: 1 },
      configure: (app) => {
        app.use(({ url }: { url: string }, _response: unknown, next: () => void) => {
          context.run(url.slice(-1), next);
        });
      },
    });
    await dataSource.getRepository(Plain).insert({ id: 1 });
    logged.length = 0;
    await Promise.all([1, 2, 3, 4].map((id) => client.get(`${PLAIN}?id=${id}`)));
    const ours = logged.filter(([id]) => id !== undefined);
    expect(new Set(ours.map(([id]) => id))).toEqual(new Set(['1', '2', '3', '4']));
    expect(logged.filter(([id, hasRunner]) => id === undefined || !hasRunner)).toEqual([]);
  });
});

test('a link holds the key that the process reads, whether the key is shown or not', async () => {
  const { client, dataSource } = await begin({ entities: [Tree, Leaf] });
  await dataSource.query("INSERT INTO alone_tree (id, name) VALUES (7, 'a'), (9007199254740993, 'b')");
  expect((await client.get('/rest/v1/alone/tree/')).json).toEqual([
    { name: 'a', leaves: '/rest/v1/alone/tree/7/leaves/' },
    { name: 'b', leaves: '/rest/v1/alone/tree/9007199254740992/leaves/' },
  ]);
});
