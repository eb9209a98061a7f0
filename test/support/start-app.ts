import { Module } from '@nestjs/common';
import type { DynamicModule, INestApplication, NestApplicationOptions, Provider, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RestifyModule } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import type { AddressInfo, Server } from 'node:net';
import { DataSource } from 'typeorm';
import type { DataSourceOptions, MixedList, EntitySchema } from 'typeorm';
import { AnswerCheck } from './check-answers.js';
import type { Checked } from './check-answers.js';
import { Client } from './client.js';
import './compare-paths.js';
import './compare-writes.js';
import { READS } from './compared-reads.js';
import { compareIn, Comparison } from './comparison.js';
import type { Compared } from './comparison.js';
import { DATABASES } from './databases.js';
import type { TestDatabase } from './databases.js';
import { PLATFORM } from './platform.js';

/** The Fastify options used by tests. */
export interface FastifyOptions {
  readonly http2?: boolean;
  readonly https?: object;
  readonly bodyLimit?: number;
  readonly exposeHeadRoutes?: boolean;
  readonly onProtoPoisoning?: 'error' | 'remove' | 'ignore';
  readonly onConstructorPoisoning?: 'error' | 'remove' | 'ignore';
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
  /** Additional options of the data source. */
  readonly dataSource?: Partial<DataSourceOptions>;
  /** Default: `rest/v1`. */
  readonly prefix?: string;
  readonly restify?: RestifyModuleOptions;
  /** Replaces `RestifyModule.forRoot`. */
  readonly restifyModules?: readonly DynamicModule[];
  readonly imports?: readonly (DynamicModule | Type)[];
  readonly controllers?: readonly Type[];
  readonly providers?: readonly Provider[];
  readonly nest?: NestApplicationOptions;
  /** Options of Fastify, which is then used regardless of `PLATFORM`. */
  readonly fastify?: FastifyOptions;
  /** Creates an adapter of Nest in the place of the two. */
  readonly adapter?: () => AbstractHttpAdapter;
  /** Whether `X-Forwarded-*` headers are trusted. */
  readonly trustProxy?: boolean;
  /** Status codes that the document cannot contain, such as those of a global guard. `all` disables the check. */
  readonly undescribed?: 'all' | readonly number[];
  /**
   * Whether fast-path reads and writes are compared with the general path. Default: true. Use `false` if the timing, order or
   * number of statements matters, and with continuous concurrent writers.
   */
  readonly compare?: boolean;
  /** Called before the application is initialised: global prefix, middleware, guards. */
  configure?(app: INestApplication): void;
}

export interface StartedApp {
  readonly app: INestApplication;
  readonly client: Client;
  readonly dataSource: DataSource;
  readonly port: number;
  /** The counters of the comparison; all zero without it. */
  readonly compared: Compared;
  /** The counters of responses to `client` that were checked against the document. */
  readonly checked: Checked;
  /** @throws if a comparison or check has found a difference, or did not run, even if the tests ignored it. */
  close(): Promise<void>;
}

/** Express's default. */
const BODY_LIMIT = 100 * 1024;

/** Creates the application on the tested HTTP library. */
async function createApp(
  module: Type,
  { nest, fastify, adapter, trustProxy = false }: AppSettings,
): Promise<INestApplication> {
  const options: NestApplicationOptions = { logger: false, abortOnError: false, ...nest };
  if (adapter) return NestFactory.create(module, adapter(), options);
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

function createModule(
  {
    entities,
    dataSource,
    restify,
    prefix = 'rest/v1',
    // A test file declares the entities of several applications.
    restifyModules = [
      RestifyModule.forRoot(prefix, { unknownEntities: 'ignore', missingIndexRows: false, ...restify }),
    ],
    imports = [],
    controllers = [],
    providers = [],
  }: AppSettings,
  connection: Partial<DataSourceOptions>,
): Type {
  const options = { ...connection, entities, synchronize: true, ...dataSource } as DataSourceOptions;
  @Module({
    imports: [TypeOrmModule.forRoot({ ...options, retryAttempts: 0 }), ...restifyModules, ...imports],
    controllers: [...controllers],
    providers: [...providers],
  })
  class AppModule {}
  return AppModule;
}

interface ListeningApp {
  readonly app: INestApplication;
  readonly comparison: Comparison | undefined;
}

async function listen(module: Type, settings: AppSettings): Promise<ListeningApp> {
  let app: INestApplication | undefined;
  try {
    app = await createApp(module, settings);
    const comparison = settings.compare === false ? undefined : compareIn(app);
    settings.configure?.(app);
    await app.listen(0, '127.0.0.1');
    return { app, comparison };
  } catch (error) {
    await app?.close();
    throw error;
  }
}

/** Starts an application with a database, on a free port of the loopback interface. Close it at the end of the test. */
export async function startApp(settings: AppSettings): Promise<StartedApp> {
  const database = settings.database ?? DATABASES[0];
  if (!database) throw new Error('No database');
  const opened = await database.open();
  const module = createModule(settings, opened.options);
  const { app, comparison } = await listen(module, settings).catch(async (error: unknown) => {
    await opened.drop();
    throw error;
  });
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  const check = settings.undescribed === 'all' ? undefined : new AnswerCheck(app, settings.undescribed ?? []);
  const client = new Client(
    port,
    check &&
      ((call, answer) => {
        check.check(call, answer);
      }),
  );
  return {
    app,
    client,
    dataSource: app.get(DataSource),
    port,
    compared: comparison ?? new Comparison(),
    checked: check?.checked ?? { described: 0, refused: 0 },
    close: async () => {
      client.endIdle();
      await app.close();
      await opened.drop();
      refuseFindings(comparison, check);
    },
  };
}

/** Fails the file on a difference or a comparison that did not run, because a test may have ignored the response. */
function refuseFindings(comparison: Comparison | undefined, check: AnswerCheck | undefined): void {
  const missing = READS.filter((name) => comparison && check && comparison[name] < check.read[name]).map(
    (name) =>
      `${check?.read[name] ?? 0} answers to GET should have been compared (${name}), and ${comparison?.[name] ?? 0} were.`,
  );
  const findings = [...(comparison?.differences ?? []), ...(check?.differences ?? []), ...missing];
  if (findings.length > 0) throw new Error(findings.join('\n\n'));
}
