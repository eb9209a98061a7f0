// The examples of docs/reference/observability.md, with the packages that they name.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Module } from '@nestjs/common';
import type { DynamicModule, INestApplication, LoggerService, Type } from '@nestjs/common';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import type { ErrorListener } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import ts from 'typescript';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { WORLD } from '../support/world.js';
import { importExample, listExamples, PROJECT, removeExamples, writeExamples } from './examples.js';

interface Span {
  readonly name: string;
  readonly events: readonly { readonly name: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Set by otel.cjs and sentry.cjs. */
interface Tracers {
  readonly restifyTestSpans?: { list(): readonly Span[]; clear(): void };
  readonly restifyTestEnvelopes?: unknown[];
  readonly restifyTestFlush?: () => Promise<unknown>;
}

const {
  restifyTestSpans: spans,
  restifyTestEnvelopes: envelopes,
  restifyTestFlush: flush,
} = globalThis as Tracers;

@Restify('observed')
@Entity('observed_doc')
class Doc {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;
}

let started: StartedApp | undefined;

async function startWith(
  onError: Type<ErrorListener> | undefined,
  configure: (app: INestApplication) => void = () => undefined,
): Promise<StartedApp> {
  started = await startApp({
    entities: [Doc],
    restify: { ...(onError && { onError }) },
    compare: false,
    configure,
  });
  await started.client.post('/rest/v1/observed/doc/', { title: 'a' });
  return started;
}

async function failOnce({ client, dataSource }: StartedApp): Promise<void> {
  await dataSource.query('DROP TABLE observed_doc');
  const response = await client.get('/rest/v1/observed/doc/1/', { headers: { 'X-Request-Id': 'r-7' } });
  expect(response.status).toBe(500);
}

afterEach(async () => {
  await started?.close();
  started = undefined;
});
afterAll(removeExamples);

describe(`examples of docs/reference/observability.md on ${PLATFORM} with ${WORLD.name}`, () => {
  if (spans)
    test('errors are exceptions of their span', async () => {
      const { SpanErrors } = await importExample('span-errors.ts');
      const app = await startWith(SpanErrors as Type<ErrorListener>);
      spans.clear();
      await failOnce(app);
      const failed = spans.list().filter(({ events }) => events.some(({ name }) => name === 'exception'));
      expect(failed).toHaveLength(1);
      expect(failed[0]?.attributes).toMatchObject({
        'restify.model': 'observed.doc',
        'restify.operation': 'retrieve',
      });
    });

  if (envelopes)
    test('errors are events of Sentry', async () => {
      const { SentryErrors } = await importExample('sentry-errors.ts');
      const app = await startWith(SentryErrors as Type<ErrorListener>);
      envelopes.length = 0;
      await failOnce(app);
      await flush?.();
      const events = envelopes.filter((each) => JSON.stringify(each).includes('"type":"event"'));
      expect(events).toHaveLength(1);
      expect(JSON.stringify(events[0])).toMatch(/no such table.*"operation":"retrieve"/);
    });

  test('requests are counted by the pattern of their URL', async () => {
    const example = await importExample(`metrics-on-${PLATFORM}.ts`);
    const measure = example.measureRequests as (app: INestApplication) => void;
    const { client } = await startWith(undefined, measure);
    await client.get('/rest/v1/observed/doc/1/');
    await client.get('/rest/v1/observed/doc/1/');
    const { register } = createRequire(join(PROJECT, 'test/tracing/packages/package.json'))(
      'prom-client',
    ) as {
      readonly register: { metrics(): Promise<string> };
    };
    expect(await register.metrics()).toMatch(
      /http_request_seconds_count\{method="GET",route="\/rest\/v1\/observed\/doc\/:pk",status="200"\} 2\n/,
    );
  });

  if (envelopes)
    test('nestjs-pino logs the fields of an error', async () => {
      const lines: string[] = [];
      const stream = new Writable({
        write(chunk, _encoding, done) {
          lines.push(String(chunk));
          done();
        },
      });
      const { LoggerModule, Logger } = (await import(
        createRequire(join(PROJECT, 'test/tracing/packages/package.json')).resolve('nestjs-pino')
      )) as {
        readonly LoggerModule: { forRoot(options: object): DynamicModule };
        readonly Logger: Type<LoggerService>;
      };
      @Module({ imports: [LoggerModule.forRoot({ pinoHttp: { stream } })] })
      class Pino {}
      started = await startApp({
        entities: [Doc],
        imports: [Pino],
        nest: { bufferLogs: true },
        compare: false,
        configure: (app) => {
          app.useLogger(app.get(Logger));
        },
      });
      await started.client.post('/rest/v1/observed/doc/', { title: 'a' });
      await failOnce(started);
      const failed = lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ level }) => level === 50);
      expect(failed[0]).toMatchObject({
        context: 'Restify',
        msg: 'GET /rest/v1/observed/doc/1/ failed (observed.doc, retrieve)',
        err: { type: 'QueryFailedError', message: expect.stringContaining('no such table') },
      });
    });

  if (spans && WORLD.name === 'nest-12' && PLATFORM === 'express')
    test('type-check against their packages', () => {
      const folder = writeExamples();
      const names = [...listExamples().keys()].filter((name) => name !== 'app.module.ts');
      const { options } = ts.parseJsonConfigFileContent(
        ts.readConfigFile(join(PROJECT, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config,
        ts.sys,
        PROJECT,
      );
      const program = ts.createProgram(
        names.map((name) => join(folder, name)),
        { ...options, noEmit: true, skipLibCheck: true },
      );
      const problems = ts
        .getPreEmitDiagnostics(program)
        .filter(({ file }) => file?.fileName.startsWith(folder));
      expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual(
        [],
      );
    });
});
