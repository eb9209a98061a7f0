import { Module } from '@nestjs/common';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AllowAny,
  basic,
  CursorPagination,
  IdempotencyRecord,
  LimitOffsetPagination,
  PageNumberPagination,
  ResourceController,
  restify,
  RestifyController,
  RestifyModule,
  RestifyResources,
} from 'nestjs-restify';
import type { CommittedWrite, Pagination, RestifyOptions, Write } from 'nestjs-restify';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import type { EntitySpec, Json, JsonObject, OptionsSpec, PaginationSpec, SchemaSpec } from '../schema.js';
import { openDatabase } from './databases.js';
import type { DatabaseName } from './databases.js';
import { entitiesOf, forgetEntities } from './entities.js';
import type { EntityClass, MadeEntity } from './entities.js';
import { expressionOf } from './permissions.js';

export type PlatformName = 'express' | 'fastify';

export interface Place {
  readonly database: DatabaseName;
  readonly platform: PlatformName;
}

export interface FuzzedApplication {
  readonly port: number;
  readonly dataSource: DataSource;
  /** What is wrong with the committed writes of a schema of which `afterCommit` was told. */
  wrongWrites(schema: SchemaSpec): Promise<string[]>;
  close(): Promise<void>;
}

const SECRET = 'a secret of the fuzzer, 32 letters or more';
const BODY_LIMIT = 100 * 1024;
const KEEP_ALIVE = 600_000;
const PATIENCE = 100_000;

/** One application that serves the schemas of all clients. */
export async function startApplication(
  schemas: readonly SchemaSpec[],
  place: Place,
): Promise<FuzzedApplication> {
  const opened = await openDatabase(place.database);
  const controllers: Type[] = [];
  const wrong = new Map<string, string[]>();
  const entities = schemas.flatMap((schema) => {
    const made = entitiesOf(schema, place.database);
    schema.entities.forEach((entity, index) => {
      const target = made[index];
      if (!target || !entity.registered) return;
      restify(target as EntityClass, registration(entity));
      const { valuesOnCreate, beforeWrite } = entity.options;
      if (valuesOnCreate ?? beforeWrite) controllers.push(controllerOf(target, entity));
      // The others are written by single statements.
      else if (entity.columns.length % 2 === 0) controllers.push(toldController(target, entity, wrong));
    });
    return made;
  });
  const options = {
    ...opened.options,
    entities: [...entities, IdempotencyRecord],
    synchronize: true,
  } as DataSourceOptions;
  const actors = new Map(schemas.flatMap(({ actors: each }) => each.map((actor) => [actor.name, actor])));
  const verify = (name: string, password: string): object | null | Promise<object | null> => {
    const actor = actors.get(name);
    const found = actor && password === name ? { ...actor } : null;
    return actor?.delay === undefined ? found : sleep(actor.delay, found);
  };
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...options, retryAttempts: 0 }),
      RestifyModule.forRoot('rest/v1', {
        permissions: [AllowAny],
        authentication: [basic(verify)],
        authenticationThrottle: false,
        // On a busy machine, a slow database is not unavailable.
        acquireTimeout: PATIENCE,
        statementTimeout: PATIENCE,
        authenticationTimeout: PATIENCE,
      }),
    ],
    controllers,
  })
  class FuzzedModule {}
  const app = await createApp(FuzzedModule, place.platform).catch(async (error: unknown) => {
    await opened.drop();
    throw error;
  });
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return {
    port,
    dataSource: app.get(DataSource),
    wrongWrites: async (schema) => {
      await app.get(RestifyResources).afterCommitEnded();
      return schema.entities.flatMap(({ name }) => wrong.get(name) ?? []);
    },
    close: async () => {
      await app.close();
      await opened.drop();
      forgetEntities(entities);
    },
  };
}

async function createApp(module: new () => object, platform: PlatformName): Promise<INestApplication> {
  const options = { logger: loggerOf(), abortOnError: false } as const;
  const app = await (platform === 'fastify'
    ? import('@nestjs/platform-fastify').then(({ FastifyAdapter }) =>
        NestFactory.create(module, new FastifyAdapter({ bodyLimit: BODY_LIMIT }), options),
      )
    : NestFactory.create(module, options));
  await app.listen(0, '127.0.0.1');
  // On a busy machine a client may take longer than Node's five seconds to send its next request over the same connection.
  (app.getHttpServer() as Server).keepAliveTimeout = KEEP_ALIVE;
  return app;
}

/** With RESTIFY_FUZZ_LOG, prints the errors that the application logs. */
function loggerOf(): false | ['error'] {
  return process.env.RESTIFY_FUZZ_LOG ? ['error'] : false;
}

/** The hooks of a model. */
function controllerOf(target: MadeEntity, { options: { valuesOnCreate, beforeWrite } }: EntitySpec): Type {
  class Hooks extends ResourceController {
    override valuesOnCreate(): JsonObject {
      return valuesOnCreate ?? {};
    }

    override beforeWrite({ entity, operation }: Write): void {
      if (operation !== 'destroy') Object.assign(entity, beforeWrite);
    }
  }
  RestifyController(target)(Hooks);
  return Hooks;
}

/** A model of which `afterCommit` is told: rows are read before and after each write, and no answer is another one. */
function toldController(target: MadeEntity, { name, key }: EntitySpec, wrong: Map<string, string[]>): Type {
  const isWrong = ({ operation, stored, values }: CommittedWrite): boolean =>
    (operation === 'create') !== (stored === undefined) ||
    (operation === 'destroy' || operation === 'purge') !== (values === undefined) ||
    (stored !== undefined &&
      values !== undefined &&
      key.columns.some((column) => stored[column.name] !== values[column.name]));
  class Told extends ResourceController {
    override afterCommit(writes: readonly CommittedWrite[]): void {
      const found = writes
        .filter(isWrong)
        .map((write) => `${name}: ${JSON.stringify({ ...write, request: null })}`);
      wrong.set(name, [...(wrong.get(name) ?? []), ...found]);
    }
  }
  RestifyController(target)(Told);
  return Told;
}

type Registration = RestifyOptions<Record<string, Json>>;

function registration(entity: EntitySpec): Registration {
  const through = Object.fromEntries(
    Object.entries(entity.through).map(([relation, options]) => [relation, optionsOf(options)]),
  );
  return {
    app: entity.app,
    name: entity.model,
    ...optionsOf(entity.options),
    ...(Object.keys(through).length > 0 ? { through } : {}),
  };
}

function optionsOf(options: OptionsSpec): Record<string, unknown> {
  const { permissions, pagination, bulk, nested, valuesOnCreate: _, beforeWrite: __, ...others } = options;
  return {
    ...others,
    ...(permissions ? { permissions: permissions.map(expressionOf) } : {}),
    ...(pagination ? { pagination: paginationOf(pagination) } : {}),
    ...(bulk ? { bulk } : {}),
    ...(nested ? { nested: nestedOf(nested) } : {}),
  };
}

function nestedOf(nested: NonNullable<OptionsSpec['nested']>): Record<string, Record<string, true>> {
  const verbs = (each: readonly string[]): Record<string, true> =>
    Object.fromEntries(each.map((verb) => [verb, true as const]));
  return Object.fromEntries(Object.entries(nested).map(([name, each]) => [name, verbs(each)]));
}

function paginationOf(spec: PaginationSpec): Pagination {
  const { kind, maxOffset, ...options } = spec;
  switch (kind) {
    case 'number':
      return new PageNumberPagination({ ...options, ...(maxOffset === undefined ? {} : { maxOffset }) });
    case 'offset':
      return new LimitOffsetPagination({ ...options, ...(maxOffset === undefined ? {} : { maxOffset }) });
    case 'cursor':
      return new CursorPagination({ ...options, secret: SECRET });
    default:
      return kind satisfies never;
  }
}
