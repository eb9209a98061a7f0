// Whether the tracer of this process sees the applications of the tests: without it, specs that pass here prove nothing.
import { Controller, Get, Injectable } from '@nestjs/common';
import type { CanActivate } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Action, Pk, Restify, RestifyController } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { WORLD } from '../support/world.js';

interface Span {
  readonly name: string;
  readonly scope: string;
}

/** Set by otel.cjs and sentry.cjs. */
interface Tracers {
  readonly restifyTestSpans?: { list(): readonly Span[]; clear(): void; fastifyPlugin(): unknown };
  readonly restifyTestEnvelopes?: readonly unknown[];
}

@Restify('traced')
@Entity('traced_doc')
class Doc {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;
}

@RestifyController(Doc)
class DocController {
  @Action({ detail: true })
  title(@Pk() pk: number): object {
    return { pk };
  }
}

@Controller('plain')
class PlainController {
  @Get()
  plain(): object {
    return {};
  }
}

@Injectable()
class Pass implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

/** The part of Fastify that registers plugins. */
interface Plugins {
  register(plugin: unknown): unknown;
}

describe(`spans on ${PLATFORM} with ${WORLD.name}`, () => {
  let started: StartedApp;
  const { restifyTestSpans: spans, restifyTestEnvelopes: envelopes } = globalThis as Tracers;

  beforeAll(async () => {
    started = await startApp({
      entities: [Doc],
      controllers: [DocController, PlainController],
      undescribed: 'all',
    });
    spans?.clear();
    await started.client.post('/rest/v1/traced/doc/', { title: 'a' });
    await started.client.get('/rest/v1/traced/doc/1/title/');
    await started.client.get('/plain');
  });

  afterAll(() => started.close());

  test('the process has a tracer', () => {
    expect([spans, envelopes].filter((each) => each !== undefined)).toHaveLength(1);
  });

  if (spans)
    test('requests, and in NestJS 11 the handlers of controllers, have spans', () => {
      const scopes = new Set(spans.list().map(({ scope }) => scope));
      expect([...scopes]).toContain('@opentelemetry/instrumentation-http');
      expect(scopes.has('@opentelemetry/instrumentation-nestjs-core')).toBe(WORLD.name === 'nest-11');
      const names = spans.list().map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining(['POST /rest/v1/traced/doc', 'GET /rest/v1/traced/doc/:pk/title']),
      );
      if (WORLD.name === 'nest-11')
        expect(spans.list().map(({ name }) => name)).toEqual(
          expect.arrayContaining(['plain', expect.stringMatching(/^object_action_title_get /)]),
        );
    });

  if (envelopes)
    test('requests are transactions, with the handlers of controllers in NestJS 11', async () => {
      // A transaction ends behind its response.
      const ended = (): number => JSON.stringify(envelopes).split('"type":"transaction"').length - 1;
      for (let waits = 0; ended() < 3 && waits < 100; waits++) await sleep(50);
      const text = JSON.stringify(envelopes);
      expect(text).toContain('"type":"transaction"');
      expect(text.includes('handler.nestjs')).toBe(WORLD.name === 'nest-11');
    });

  if (spans && PLATFORM === 'fastify')
    test('@fastify/otel, with and without a global guard, changes no response', async () => {
      for (const providers of [[], [{ provide: APP_GUARD, useClass: Pass }]]) {
        const traced = await startApp({
          entities: [Doc],
          controllers: [DocController, PlainController],
          providers,
          undescribed: 'all',
          configure: (app) => {
            (app.getHttpAdapter().getInstance() as Plugins).register(spans.fastifyPlugin());
          },
        });
        spans.clear();
        const { client } = traced;
        expect((await client.post('/rest/v1/traced/doc/', { title: 'a' })).json).toEqual({
          id: 1,
          title: 'a',
        });
        expect((await client.get('/rest/v1/traced/doc/')).json).toEqual([{ id: 1, title: 'a' }]);
        expect((await client.get('/rest/v1/traced/doc/1/title/')).json).toEqual({ pk: 1 });
        expect((await client.get('/rest/v1/traced/doc/9/title/')).status).toBe(404);
        expect((await client.send('PURGE', '/rest/v1/traced/doc/')).status).toBe(405);
        expect(spans.list().map(({ scope }) => scope)).toContain('@fastify/otel');
        await traced.close();
      }
    });
});
