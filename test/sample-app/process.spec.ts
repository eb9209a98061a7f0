// @tags db nest
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DATABASES } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { answer, CompiledSample, listenSomewhere, urlOf } from './sample-process.js';
import type { SampleProcess } from './sample-process.js';

/** A process starts in about a second; compiling the application takes some more. */

let sample: CompiledSample;
beforeAll(async () => {
  sample = await CompiledSample.compile();
}, 180_000);
afterEach(() => sample.killAll());
afterAll(() => sample.remove());

function start(environment: Readonly<Record<string, string>>): Promise<SampleProcess> {
  return sample.start(environment);
}

onEachDatabase('the sample application as a process', (database) => {
  test('creates its tables, logs its steps, serves, and exits with 0 on SIGTERM', async () => {
    const opened = await database.open();
    try {
      const url = urlOf(opened.options);
      const app = await (await start({ DATABASE_URL: url })).listening();
      expect(app.said).toEqual([
        expect.stringMatching(/^Opening the database /),
        `Listening on http://127.0.0.1:${app.port}/ (its index names every model)`,
      ]);
      expect(await answer(app.client.get('/rest/v1/polls/question/'))).toEqual([200, []]);
      const created = await app.client.post('/rest/v1/polls/question/', {
        question_text: 'Up?',
        pub_date: '2022-10-02T09:23:28.297Z',
      });
      expect([created.status, created.json]).toEqual([
        201,
        {
          id: 1,
          question_text: 'Up?',
          pub_date: expect.stringMatching(/^2022-10-02T09:23:28\.297(000)?Z$/),
          choices: '/rest/v1/polls/question/1/choices/',
        },
      ]);
      expect(created.headers.location).toBe(`http://127.0.0.1:${app.port}/rest/v1/polls/question/1/`);
      expect(await answer(app.client.post('/rest/v1/edu/student/', { name: 'Alan' }))).toEqual([
        201,
        expect.objectContaining({ id: 1, name: 'Alan' }),
      ]);
      expect(await answer(app.client.post('/rest/v1/edu/course/', { name: 'Logic' }))).toEqual([
        201,
        expect.objectContaining({ id: 1 }),
      ]);
      expect(await answer(app.client.post('/rest/v1/edu/student/1/course_set/', { course: 1 }))).toEqual([
        201,
        { id: 1, course: 1, student: 1 },
      ]);
      expect(await answer(app.client.post('/rest/v1/edu/student/1/course_set/', { course: 1 }))).toEqual([
        400,
        { non_field_errors: ['The fields course, student must make a unique set.'] },
      ]);
      expect(
        (
          await app.client.post('/rest/v1/lab/student/', {
            name: 'Ada',
            discipline: 'Mathematics',
            program: 'PhD',
          })
        ).status,
      ).toBe(201);
      expect(
        (await app.client.post('/rest/v1/lab/system/', { name: 'Engine', location: 'London', student: 1 }))
          .status,
      ).toBe(201);
      expect(
        await answer(
          app.client.post('/rest/v1/lab/system/', { name: 'Other', location: 'Paris', student: 1 }),
        ),
      ).toEqual([400, { student: ['This field must be unique.'] }]);
      expect(await app.stop()).toBe(0);
      expect(app.said.slice(2)).toEqual(['SIGTERM: closing', 'Closed']);
      expect(app.output).not.toMatch(/ERROR|WARN/);
    } finally {
      await sample.killAll();
      await opened.drop();
    }
  });

  test('under load, finishes on SIGTERM what runs, refuses what is new, and ends with 0', async () => {
    const opened = await database.open();
    try {
      const app = await (await start({ DATABASE_URL: urlOf(opened.options) })).listening();
      const agent = new Agent({ keepAlive: true, maxSockets: 16 });
      const outcomes: (number | string)[] = [];
      const worker = async (name: number): Promise<void> => {
        for (let round = 0; round < 10_000; round += 1) {
          const outcome = await ask(
            app.port,
            agent,
            round % 3 === 0 ? { name: `s${name}-${round}` } : undefined,
          );
          outcomes.push(outcome);
          if (typeof outcome === 'string') return;
        }
      };
      const workers = Array.from({ length: 16 }, (_, name) => worker(name));
      while (outcomes.length < 200) await new Promise((resolve) => setTimeout(resolve, 10));
      expect(await app.stop()).toBe(0);
      await Promise.all(workers);
      agent.destroy();
      expect([...new Set(outcomes.filter((outcome) => typeof outcome === 'number'))].sort()).toEqual([
        200, 201,
      ]);
      // Each worker has ended because nobody listened any more, and not in the middle of an answer.
      expect(
        outcomes
          .filter((outcome) => typeof outcome === 'string')
          .every((code) => code === 'ECONNREFUSED' || code === 'ECONNRESET'),
      ).toBe(true);
      expect(app.said.slice(2)).toEqual(['SIGTERM: closing', 'Closed']);
      expect(app.output).not.toMatch(/ERROR|WARN/);
    } finally {
      await sample.killAll();
      await opened.drop();
    }
  });

  test('keeps the password of the URL out of its log', async () => {
    // Nobody listens there: it is stopped as soon as it has said where it goes.
    const app = await start({
      DATABASE_URL:
        database.name === 'sqlite' ? 'sqlite::memory:' : `${database.name}://ali:sesame@127.0.0.1:1/nowhere`,
    });
    while (app.said.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await app.kill();
    expect(app.said[0]).toBe(
      database.name === 'sqlite'
        ? 'Opening the database sqlite::memory:'
        : `Opening the database ${database.name}://***@127.0.0.1:1/nowhere`,
    );
    expect(app.output).not.toContain('sesame');
  });
});

describe('the sample application on SQLite files', () => {
  test('writes sample rows into sample-app.sqlite in its working directory, and finds them again', async () => {
    const first = await (await start({})).listening();
    expect(first.said).toEqual([
      'Opening the database sample-app.sqlite',
      'Wrote sample rows',
      expect.stringContaining('Listening on'),
    ]);
    expect(await readdir(sample.folder)).toContain('sample-app.sqlite');
    const question = {
      id: 1,
      question_text: "What's new?",
      pub_date: '2022-10-02T09:23:28.297Z',
      choices: '/rest/v1/polls/question/1/choices/',
    };
    expect(await answer(first.client.get('/rest/v1/polls/question/1/'))).toEqual([200, question]);
    expect(await answer(first.client.patch('/rest/v1/polls/choice/1/', { votes: 4 }))).toEqual([
      200,
      { id: 1, choice_text: 'Not much', votes: 4, question: 1 },
    ]);
    expect(await first.stop('SIGINT')).toBe(0);
    expect(first.said.slice(3)).toEqual(['SIGINT: closing', 'Closed']);

    const second = await (await start({ DATABASE_URL: '' })).listening();
    expect(second.said).toEqual([
      'Opening the database sample-app.sqlite',
      'Found the rows of an earlier start',
      expect.stringContaining('Listening on'),
    ]);
    expect(await answer(second.client.get('/rest/v1/polls/question/1/'))).toEqual([200, question]);
    expect(await answer(second.client.get('/rest/v1/polls/choice/1/'))).toEqual([
      200,
      { id: 1, choice_text: 'Not much', votes: 4, question: 1 },
    ]);
    expect(await second.stop()).toBe(0);
  });

  test('shows what it serves in Swagger UI, from a document of OpenAPI 3.1', async () => {
    const app = await (await start({ DATABASE_URL: 'sqlite::memory:' })).listening();
    const page = await app.client.get('/docs');
    expect([page.status, page.headers['content-type'], page.text.includes('swagger-ui')]).toEqual([
      200,
      expect.stringContaining('text/html'),
      true,
    ]);
    const document = (await app.client.get('/docs-json')).json as { openapi: string; paths: object };
    expect([document.openapi, Object.keys(document.paths)]).toEqual([
      '3.1.0',
      expect.arrayContaining(['/rest/v1/polls/question/{pk}', '/rest/v1/club/member/{pk}/rename']),
    ]);
    expect(await app.stop()).toBe(0);
  });

  test('keeps the rows of a file that DATABASE_URL names, and begins with none', async () => {
    const url = `sqlite:${join(sample.folder, 'named.sqlite')}`;
    const first = await (await start({ DATABASE_URL: url })).listening();
    expect(await answer(first.client.get('/rest/v1/library/author/'))).toEqual([200, []]);
    expect(await answer(first.client.post('/rest/v1/library/author/', { name: 'Knuth' }))).toEqual([
      201,
      { id: 1, name: 'Knuth', books: '/rest/v1/library/author/1/books/' },
    ]);
    expect(await first.stop()).toBe(0);
    const second = await (await start({ DATABASE_URL: url })).listening();
    expect(await answer(second.client.get('/rest/v1/library/author/1/'))).toEqual([
      200,
      { id: 1, name: 'Knuth', books: '/rest/v1/library/author/1/books/' },
    ]);
    expect(await second.stop()).toBe(0);
  });

  test('serves its models for clients too where CLIENTS=yes', async () => {
    for (const [environment, status] of [
      [{ CLIENTS: 'yes' }, 200],
      [{}, 404],
    ] as const) {
      const app = await (await start({ DATABASE_URL: 'sqlite::memory:', ...environment })).listening();
      for (const path of ['/admin/v1/polls/question/', '/json/v1/polls/question'])
        expect((await app.client.get(path)).status).toBe(status);
      expect((await app.client.get('/rest/v1/polls/question/')).status).toBe(200);
      expect(await app.stop()).toBe(0);
    }
  });

  test('finishes a running request on SIGTERM', async () => {
    const app = await (await start({ DATABASE_URL: 'sqlite::memory:' })).listening();
    const answers = Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        answer(app.client.post('/rest/v1/library/author/', { name: `Author ${index}` })),
      ),
    );
    await app.client.get('/rest/v1/library/author/');
    const code = await app.stop();
    expect((await answers).map(([status]) => status)).toEqual(Array(20).fill(201));
    expect(code).toBe(0);
  });
});

describe('a sample application that cannot start', () => {
  test('logs an unsupported DATABASE_URL, and exits with 1', async () => {
    const app = await start({ DATABASE_URL: 'oracle://somewhere' });
    expect(await app.exit()).toBe(1);
    expect(app.said.at(-1)).toBe(
      'DATABASE_URL begins with "oracle:", which this application does not know. Use sqlite:, postgres:, mariadb: or mysql:.',
    );
  });

  test.each(DATABASES.filter(({ missing }) => missing === undefined))(
    'logs that the port is in use, and exits with 1, on $name',
    async (database) => {
      const other = await listenSomewhere();
      const opened = await database.open();
      const { port } = other.address() as AddressInfo;
      const app = sample.startAt(port, { DATABASE_URL: urlOf(opened.options) });
      try {
        expect(await app.exit()).toBe(1);
        expect(app.said.at(-1)).toBe(`listen EADDRINUSE: address already in use 127.0.0.1:${port}`);
      } finally {
        await app.kill();
        await new Promise((resolve) => other.close(resolve));
        await opened.drop();
      }
    },
  );
});

/** A read, or a write of a student, over one of the agent's connections: the status of a whole answer, or the socket's code. */
function ask(port: number, agent: Agent, student?: object): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = student ? { 'content-type': 'application/json' } : {};
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        agent,
        headers,
        method: student ? 'POST' : 'GET',
        path: '/rest/v1/edu/student/?ordering=-id&name=s1-0',
      },
      (incoming) => {
        incoming.resume();
        incoming.on('error', () => {
          resolve('broken off in the middle of an answer');
        });
        incoming.on('end', () => {
          resolve(incoming.statusCode ?? 0);
        });
      },
    );
    outgoing.on('error', (error: Error & { code?: string }) => {
      resolve(error.code ?? error.message);
    });
    outgoing.end(student ? JSON.stringify(student) : undefined);
  });
}
