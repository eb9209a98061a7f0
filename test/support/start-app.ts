import { Module } from '@nestjs/common';
import type { DynamicModule, INestApplication, NestApplicationOptions, Provider, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RestifyModule } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import type { AddressInfo, Server } from 'node:net';
import { DataSource } from 'typeorm';
import type { DataSourceOptions, MixedList, EntitySchema } from 'typeorm';
import { Client } from './client.js';
import './compare-paths.js';
import { DATABASES } from './databases.js';
import type { TestDatabase } from './databases.js';

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

/** A real application on a real database and a free port of the loopback. Close it when the test is done. */
export async function startApp(settings: AppSettings): Promise<StartedApp> {
  const database = settings.database ?? DATABASES[0];
  if (!database) throw new Error('No database');
  const opened = await database.open();
  const options = { ...opened.options, entities: settings.entities, synchronize: true, ...settings.dataSource } as DataSourceOptions;
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...options, retryAttempts: 0 }),
      ...(settings.restifyModules ?? [RestifyModule.forRoot(settings.prefix ?? 'rest/v1', settings.restify ?? {})]),
      ...(settings.imports ?? []),
    ],
    controllers: [...(settings.controllers ?? [])],
    providers: [...(settings.providers ?? [])],
  })
  class AppModule {}
  let app: INestApplication | undefined;
  try {
    app = await NestFactory.create(AppModule, { logger: false, abortOnError: false, ...settings.nest });
    settings.configure?.(app);
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    await app?.close();
    await opened.drop();
    throw error;
  }
  const started = app;
  const { port } = (started.getHttpServer() as Server).address() as AddressInfo;
  return {
    app: started,
    client: new Client(port),
    dataSource: started.get(DataSource),
    port,
    close: async () => {
      await started.close();
      await opened.drop();
    },
  };
}
