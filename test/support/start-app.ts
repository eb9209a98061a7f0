import { Module } from '@nestjs/common';
import type { DynamicModule, INestApplication, NestApplicationOptions, Provider, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RestifyModule } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import type { AddressInfo, Server } from 'node:net';
import { DataSource } from 'typeorm';
import type { DataSourceOptions, MixedList, EntitySchema } from 'typeorm';
import { checkAnswersOf, endCheck } from './check-answers.js';
import { Client } from './client.js';
import './compare-paths.js';
import { DATABASES } from './databases.js';
import type { TestDatabase } from './databases.js';
import { PLATFORM } from './platform.js';

/** Those of Fastify that tests use. */
export interface FastifyOptions {
  readonly bodyLimit?: number;
  readonly exposeHeadRoutes?: boolean;
  readonly routerOptions?: {
    readonly ignoreTrailingSlash?: boolean;
    readonly ignoreDuplicateSlashes?: boolean;
    readonly caseSensitive?: boolean;
    readonly maxParamLength?: number;
  };
}

export interface AppSettings {
  readonly entities: MixedList<Type | EntitySchema>;
  /** Default: SQLite in memory. */
  readonly database?: TestDatabase;
  /** Added to the data source's options. */
  readonly dataSource?: Partial<DataSourceOptions>;
  /** Default: `rest/v1`. */
  readonly prefix?: string;
  readonly restify?: RestifyModuleOptions;
  /** In place of `RestifyModule.forRoot`. */
  readonly restifyModules?: readonly DynamicModule[];
  readonly imports?: readonly (DynamicModule | Type)[];
  readonly controllers?: readonly Type[];
  readonly providers?: readonly Provider[];
  readonly nest?: NestApplicationOptions;
  /** Options of Fastify, on which it stands then whatever `PLATFORM` says. */
  readonly fastify?: FastifyOptions;
  /** Whether `X-Forwarded-*` is believed. */
  readonly trustProxy?: boolean;
  /** Statuses of which no document can know, because the application has more to say than its models: a guard before all routes. `all`: it changes everything. */
  readonly undescribed?: 'all' | readonly number[];
  /** Before the application is initialised: global prefix, middleware, guards. */
  configure?(app: INestApplication): void;
}

export interface StartedApp {
  readonly app: INestApplication;
  readonly client: Client;
  readonly dataSource: DataSource;
  readonly port: number;
  close(): Promise<void>;
}

/** As Express has it by default. */
const BODY_LIMIT = 100 * 1024;

/** On the HTTP library that is tested. */
async function createApp(
  module: Type,
  { nest, fastify, trustProxy = false }: AppSettings,
): Promise<INestApplication> {
  const options: NestApplicationOptions = { logger: false, abortOnError: false, ...nest };
  if (PLATFORM === 'fastify' || fastify) {
    const { FastifyAdapter } = await import('@nestjs/platform-fastify');
    return NestFactory.create(
      module,
      new FastifyAdapter({ bodyLimit: BODY_LIMIT, trustProxy, ...fastify }),
      options,
    );
  }
  const app = await NestFactory.create<NestExpressApplication>(module, options);
  app.set('trust proxy', trustProxy);
  return app;
}

/** A real application on a real database and a free port of the loopback. Close it when the test is done. */
export async function startApp(settings: AppSettings): Promise<StartedApp> {
  const database = settings.database ?? DATABASES[0];
  if (!database) throw new Error('No database');
  const opened = await database.open();
  const options = {
    ...opened.options,
    entities: settings.entities,
    synchronize: true,
    ...settings.dataSource,
  } as DataSourceOptions;
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...options, retryAttempts: 0 }),
      ...(settings.restifyModules ?? [
        RestifyModule.forRoot(settings.prefix ?? 'rest/v1', settings.restify ?? {}),
      ]),
      ...(settings.imports ?? []),
    ],
    controllers: [...(settings.controllers ?? [])],
    providers: [...(settings.providers ?? [])],
  })
  class AppModule {}
  let app: INestApplication | undefined;
  try {
    app = await createApp(AppModule, settings);
    settings.configure?.(app);
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    await app?.close();
    await opened.drop();
    throw error;
  }
  const started = app;
  const { port } = (started.getHttpServer() as Server).address() as AddressInfo;
  if (settings.undescribed !== 'all')
    checkAnswersOf(started, { port, undescribed: settings.undescribed ?? [] });
  return {
    app: started,
    client: new Client(port),
    dataSource: started.get(DataSource),
    port,
    close: async () => {
      endCheck(port);
      await started.close();
      await opened.drop();
    },
  };
}
