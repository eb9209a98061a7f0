import { Logger, Module } from '@nestjs/common';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AllowAny, RestifyModule, RestifyOpenApi } from 'nestjs-restify';
import type { AddressInfo, Server } from 'node:net';
import type { DataSourceOptions } from 'typeorm';
import { ClientsModule } from '../../sample-app/src/clients.module.js';
import { openDatabase } from './open-database.js';
import type { DatabaseName } from './full-columns.js';
import { fullEntities, NoteController } from './full-model.js';
import type { Subject } from './oracle.js';
import { WILD_ENTITIES } from './wild-model.js';
import type { OracleActor } from './send-step.js';

export interface SubjectOptions {
  readonly model: 'sample' | 'full' | 'wild';
  readonly database: DatabaseName;
  readonly platform: 'express' | 'fastify';
}

export interface StartedSubject extends Subject {
  readonly app: INestApplication;
}

/** The callers. The document has the authentication scheme only. */
const ACTORS: Readonly<Record<SubjectOptions['model'], readonly OracleActor[]>> = {
  sample: [actor('admin', true), actor('admin', true), actor('clerk', false), actor('planner', false)],
  full: [actor('admin', true), actor('ada', false), actor('bob', false)],
  wild: [actor('admin', true)],
};

function actor(name: string, mayAll: boolean): OracleActor {
  return {
    name,
    mayAll,
    headers: { authorization: `Basic ${Buffer.from(`${name}:${name}`).toString('base64')}` },
  };
}

/** Starts a new application with a new database. */
export async function startSubject(options: SubjectOptions): Promise<StartedSubject> {
  // @nestjs/typeorm logs a warning for the data source of each earlier application.
  Logger.overrideLogger(false);
  const database = await openDatabase(options.database);
  try {
    const app = await create(options, database);
    await app.listen(0, '127.0.0.1');
    return {
      app,
      port: ((app.getHttpServer() as Server).address() as AddressInfo).port,
      document: documentOf(app),
      actors: ACTORS[options.model],
      close: async () => {
        await app.close();
        await database.drop();
      },
    };
  } catch (error) {
    await database.drop();
    throw error;
  }
}

async function create(
  { model, database, platform }: SubjectOptions,
  opened: OpenedDatabase,
): Promise<INestApplication> {
  const module = MODULES[model](opened.options, database);
  const before = process.env.DATABASE_URL;
  process.env.DATABASE_URL = opened.url;
  try {
    const nest = { logger: false, abortOnError: false } as const;
    if (platform === 'express') return await NestFactory.create(module, nest);
    const { FastifyAdapter } = await import('@nestjs/platform-fastify');
    return await NestFactory.create(module, new FastifyAdapter(), nest);
  } finally {
    if (before === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before;
  }
}

const MODULES: Readonly<
  Record<SubjectOptions['model'], (options: DataSourceOptions, database: DatabaseName) => Type>
> = { sample: () => ClientsModule, full: fullModule, wild: wildModule };

/** Entities without decorators of this package. */
function wildModule(options: DataSourceOptions): Type {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...options, entities: WILD_ENTITIES, synchronize: true, retryAttempts: 0 }),
      RestifyModule.forRoot('rest/v1', { permissions: [AllowAny] }),
    ],
  })
  class WildModule {}
  return WildModule;
}

function fullModule(options: DataSourceOptions, database: DatabaseName): Type {
  @Module({
    imports: [
      TypeOrmModule.forRoot({
        ...options,
        entities: fullEntities(database),
        synchronize: true,
        retryAttempts: 0,
      }),
      RestifyModule.forRoot('rest/v1', { permissions: [AllowAny] }),
    ],
    controllers: [NoteController],
  })
  class FullModule {}
  return FullModule;
}

function documentOf(app: INestApplication): object {
  const config = new DocumentBuilder().setTitle('Oracle').setVersion('1').setOpenAPIVersion('3.1.0').build();
  const document = app.get(RestifyOpenApi).extend(SwaggerModule.createDocument(app, config));
  // The document as a client receives it.
  return JSON.parse(JSON.stringify(document)) as object;
}

type OpenedDatabase = Awaited<ReturnType<typeof openDatabase>>;
