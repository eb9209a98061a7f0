import { Module } from '@nestjs/common';
import type { DynamicModule, INestApplication, Provider, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { AddressInfo, Server } from 'node:net';
import { Client } from '../support/client.js';
import '../support/compare-paths.js';
import '../support/compare-writes.js';
import { compareIn } from '../support/comparison.js';

/** A SQLite data source in memory, as an application writes it. */
export const MEMORY = {
  type: 'better-sqlite3',
  database: ':memory:',
  synchronize: true,
  retryAttempts: 0,
} as const;

export interface ModuleSettings {
  readonly imports: readonly (DynamicModule | Type)[];
  readonly controllers?: readonly Type[];
  readonly providers?: readonly Provider[];
  configure?(app: INestApplication): void;
}

export interface RunningApp {
  readonly app: INestApplication;
  readonly client: Client;
  readonly port: number;
  /** `http://127.0.0.1:…`, as links name it. */
  readonly origin: string;
}

/** An application of exactly these modules, in exactly this order. */
export async function startModules(settings: ModuleSettings): Promise<RunningApp> {
  const app = await NestFactory.create(rootModule(settings), { logger: false, abortOnError: false });
  settings.configure?.(app);
  return listening(app);
}

export function rootModule({ imports, controllers = [], providers = [] }: ModuleSettings): Type {
  @Module({ imports: [...imports], controllers: [...controllers], providers: [...providers] })
  class RootModule {}
  return RootModule;
}

export async function listening(app: INestApplication): Promise<RunningApp> {
  compareIn(app);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return { app, client: new Client(port), port, origin: `http://127.0.0.1:${port}` };
}

/** `TypeOrmModule.forRoot` with these entities. */
export function memory(entities: readonly unknown[], name?: string): DynamicModule {
  return TypeOrmModule.forRoot({
    ...MEMORY,
    entities: entities as Type[],
    ...(name === undefined ? {} : { name }),
  });
}
