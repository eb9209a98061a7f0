// @tags nest
import { Module } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describe, expect, test } from '@jest/globals';
import { AllowAny, Restify, RestifyModule, RestifyResources, RestifyUrls } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Restify({ app: 'jobs', permissions: [AllowAny] })
@Entity('jobs_doc')
class Doc {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;
}

function moduleOf(options: object = {}): new () => object {
  @Module({
    imports: [
      TypeOrmModule.forRoot({
        type: 'better-sqlite3',
        database: ':memory:',
        entities: [Doc],
        synchronize: true,
        retryAttempts: 0,
      }),
      RestifyModule.forRoot('rest/v1', { unknownEntities: 'ignore', browsable: true, ...options }),
    ],
  })
  class AppModule {}
  return AppModule;
}

/** A transport that receives nothing. */
class Strategy {
  readonly on = (): this => this;
  readonly unwrap = (): undefined => undefined;
  readonly close = (): void => undefined;
  readonly listen = (done: () => void): void => {
    done();
  };
}

type Start = (module: new () => object) => Promise<INestApplicationContext>;
const quiet = { logger: false, abortOnError: false } as const;

const STARTS: readonly (readonly [title: string, start: Start])[] = [
  ['NestFactory.createApplicationContext', (module) => NestFactory.createApplicationContext(module, quiet)],
  [
    'NestFactory.createMicroservice',
    async (module) => {
      const service = await NestFactory.createMicroservice(module, {
        ...quiet,
        strategy: new Strategy() as never,
      });
      await service.listen();
      return service;
    },
  ],
  [
    'init() of a testing module',
    async (module) => {
      const testing = await Test.createTestingModule({ imports: [module] }).compile();
      return testing.init();
    },
  ],
];

describe.each(STARTS)('an application without HTTP, by %s', (_title, start) => {
  test('starts, runs operations and closes', async () => {
    const app = await start(moduleOf());
    const docs = app.get(RestifyResources, { strict: false }).of(Doc).as(null);
    const created = await docs.create({ title: 'a' });
    expect(created).toEqual({ id: 1, title: 'a' });
    expect(await docs.list()).toEqual([{ id: 1, title: 'a' }]);
    expect(app.get(RestifyUrls, { strict: false }).reverse('jobs_doc-list')).toBe('/rest/v1/jobs/doc/');
    await app.close();
  });

  test('does not start with a wrong declaration', async () => {
    await expect(start(moduleOf({ acquireTimeout: -1 }))).rejects.toThrow('nestjs-restify does not start');
  });
});
