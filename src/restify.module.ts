import { Global, Inject, Logger, Module } from '@nestjs/common';
import type {
  BeforeApplicationShutdown,
  DynamicModule,
  FactoryProvider,
  NestModule,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleInit,
  Provider,
  Type,
} from '@nestjs/common';
import { HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import { DataSource } from 'typeorm';
import type { Server } from 'node:net';
import { warnOfUnusable, warnOfMissingIndexes } from './nest/late-warnings.js';
import { bootstrapApi, validateOffline } from './nest/bootstrap.js';
import { failFast, readOptions } from './nest/early-validation.js';
import type { FeatureLabel } from './nest/create-compiler-input.js';
import { AwaitedPrefix, checkUnknownEntities } from './nest/unknown-entities.js';
import { GeneratedControllers } from './nest/controller-factory.js';
import type { HttpPlatform } from './http/http-platform.js';
import { applicationConfigOf, globalEnhancers } from './nest/application-config.js';
import { SubstituteInterceptor } from './nest/controller-enhancers.js';
import { describeUnknownSockets, probeHttpSockets, warningsOfTls } from './internals/node.js';
import { OpenSockets } from './http/open-sockets.js';
import { resolvePlatform } from './http/resolve-platform.js';
import { RestifyOperations } from './nest/restify-operations.service.js';
import { RestifyOpenApi } from './nest/restify-openapi.service.js';
import { RestifyResources } from './nest/restify-resources.service.js';
import { runGuard } from './nest/authentication-guards.js';
import { RestifyUrls } from './nest/restify-urls.service.js';
import { RestServer } from './http/rest-server.js';
import {
  RESTIFY_BOUND,
  RESTIFY_EARLY,
  RESTIFY_FEATURE,
  RESTIFY_OPTIONS,
  REST_SERVER,
} from './nest/tokens.js';
import { declarations } from './decorators/metadata-storage.js';
import { DeclarationError } from './core/errors/declaration-error.js';
import { resolveOptions } from './restify.options.js';
import type { RestifyModuleOptions } from './restify.options.js';

/** The argument of `forRootAsync`. Its factory may return the prefix, too. */
export interface RestifyModuleAsyncOptions {
  readonly prefix?: string;
  /** The name of the TypeORM data source, which must be known before anything is injected. */
  readonly dataSource?: string;
  readonly imports?: DynamicModule['imports'];
  readonly inject?: FactoryProvider['inject'];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the application declares the types of its dependencies
  readonly useFactory: (...dependencies: any[]) => AsyncFactoryResult | Promise<AsyncFactoryResult>;
}

export type AsyncFactoryResult = Omit<RestifyModuleOptions, 'dataSource'> & { readonly prefix?: string };

/** Contains all prefixes of one application. Every `forRoot` imports it; Nest creates it once. */
@Global()
@Module({
  providers: [
    {
      provide: REST_SERVER,
      inject: [HttpAdapterHost, ModuleRef],
      useFactory: (host: HttpAdapterHost, moduleRef: ModuleRef) =>
        new RestServer(
          new Logger('Restify'),
          (request, response) => resolvePlatform(host.httpAdapter.getType()).getExchange(request, response),
          { isEnhanced: globalEnhancers(moduleRef), runGuard },
        ),
    },
    RestifyUrls,
    RestifyOperations,
    RestifyResources,
    RestifyOpenApi,
  ],
  exports: [REST_SERVER, RestifyUrls, RestifyOperations, RestifyResources, RestifyOpenApi],
})
export class RestifyCoreModule
  implements NestModule, OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private sockets: OpenSockets | undefined;
  private hasRoutes = false;
  private hasMiddleware = true;

  constructor(
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
    @Inject(REST_SERVER) private readonly server: RestServer,
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
  ) {}

  /** Called by Nest between its body parser and the routes; not without HTTP. */
  configure(): void {
    this.hasRoutes = true;
    SubstituteInterceptor.add(applicationConfigOf(this.moduleRef), this.server);
    const sockets = probeHttpSockets();
    const httpServer: unknown = this.adapterHost.httpAdapter.getHttpServer();
    if (sockets) this.sockets = OpenSockets.of(httpServer, sockets);
    else this.server.log.warn(describeUnknownSockets());
    for (const warning of warningsOfTls(httpServer)) this.server.log.warn(warning);
    this.hasMiddleware = this.platform().hasMiddleware(this.adapterHost.httpAdapter);
    this.platform().registerBeforeRoutes(this.adapterHost.httpAdapter, this.server);
  }

  /** Called by Nest between the routes and its own response to unknown routes, and where there is no HTTP. */
  onModuleInit(): void {
    const unknown = checkUnknownEntities(this.server.unknownEntities, (text) => {
      this.server.log.warn(text);
    });
    const problems = [...this.server.findDeferredProblems(), ...unknown];
    if (problems.length > 0) throw new DeclarationError(problems);
    // An application context, a microservice, a testing module: `RestifyResources` works, and there are no routes.
    if (!this.hasRoutes) return;
    this.platform().registerAfterRoutes(this.adapterHost.httpAdapter, this.server);
    this.server.logServedModels();
  }

  /** Called by Nest when all modules are initialised. Does not wait for the database. */
  onApplicationBootstrap(): void {
    void warnOfMissingIndexes(this.server);
    if (!this.hasRoutes) return;
    const { moduleRef, hasMiddleware } = this;
    (this.adapterHost.httpAdapter.getHttpServer() as Server).once('listening', () => {
      void warnOfUnusable(this.server, { moduleRef, hasMiddleware });
    });
  }

  /** Called by Nest before it closes the server. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.sockets?.drain(this.server.shutdownGrace);
    await this.server.finishCommitCalls();
  }

  private platform(): HttpPlatform {
    return resolvePlatform(this.adapterHost.httpAdapter.getType());
  }
}

/**
 * The complete interface: decorate entities with `@Restify`, import `RestifyModule.forRoot('rest/v1')` once for each
 * prefix, in any order with the other modules.
 */
@Module({})
export class RestifyModule {
  /**
   * Serves the registered entities of a data source below a prefix: `RestifyModule.forRoot('rest/v1', { permissions: [IsAuthenticated] })`. Import it once for
   * each prefix.
   * @throws DeclarationError at start, which names each wrong declaration with its repair
   */
  static forRoot(prefix: string, options: RestifyModuleOptions = {}): DynamicModule {
    return prefixModule(
      {
        provide: RESTIFY_OPTIONS,
        useValue: { prefix, options: readOptions(options) } satisfies PrefixOptions,
      },
      options.dataSource,
    );
  }

  /** As `forRoot`, with options from a factory. */
  static forRootAsync({
    prefix,
    dataSource,
    imports,
    inject,
    useFactory,
  }: RestifyModuleAsyncOptions): DynamicModule {
    const provider: Provider = {
      provide: RESTIFY_OPTIONS,
      inject: inject ?? [],
      useFactory: async (...dependencies: unknown[]): Promise<PrefixOptions> => {
        const result = await useFactory(...dependencies);
        const { prefix: made, ...options } = { ...readOptions(result), prefix: result.prefix };
        return {
          prefix: made ?? prefix ?? '',
          options: dataSource === undefined ? options : { ...options, dataSource },
        };
      },
    };
    return prefixModule(provider, dataSource, imports);
  }

  /** Sets the app label of entities that do not declare one. */
  static forFeature(app: string, entities: readonly object[]): DynamicModule {
    return {
      module: RestifyFeatureModule,
      providers: [{ provide: RESTIFY_FEATURE, useValue: { app, entities } satisfies FeatureLabel }],
    };
  }
}

/** Provides the label of one `forFeature` call. */
@Module({})
export class RestifyFeatureModule {}

interface PrefixOptions {
  readonly prefix: string;
  readonly options: RestifyModuleOptions;
}

type EarlyDependencies = [
  given: PrefixOptions,
  server: RestServer,
  moduleRef: ModuleRef,
  modules: ModulesContainer,
];

type BootDependencies = [
  given: PrefixOptions,
  server: RestServer,
  dataSource: DataSource | undefined,
  moduleRef: ModuleRef,
  modules: ModulesContainer,
];

function prefixModule(
  options: Provider,
  dataSourceName: string | undefined,
  imports: DynamicModule['imports'] = [],
): DynamicModule {
  const controllers = new GeneratedControllers();
  const awaited = new AwaitedPrefix();
  const dataSourceToken =
    dataSourceName === undefined || dataSourceName === 'default' ? DataSource : `${dataSourceName}DataSource`;
  const bound: Provider = {
    provide: RESTIFY_BOUND,
    inject: [
      RESTIFY_OPTIONS,
      REST_SERVER,
      { token: dataSourceToken, optional: true },
      ModuleRef,
      ModulesContainer,
    ],
    useFactory: async (...[given, server, dataSource, moduleRef, modules]: BootDependencies) => {
      if (!dataSource) throw new Error(missingDataSource(dataSourceName));
      const options = resolveOptions(given.prefix, given.options);
      const context = { options, dataSource, server, controllers, awaited, moduleRef, modules };
      await bootstrapApi(context).finally(() => {
        awaited.settle();
      });
      return {
        // Called by Nest when it has closed the server, whose last requests may have written, and before that of the global data source.
        onApplicationShutdown: () => server.finishCommitCalls(),
      } satisfies OnApplicationShutdown;
    },
  };
  const early: Provider = {
    provide: RESTIFY_EARLY,
    inject: [RESTIFY_OPTIONS, REST_SERVER, ModuleRef, ModulesContainer],
    useFactory: async (...[given, server, moduleRef, modules]: EarlyDependencies) => {
      const resolved = resolveOptions(given.prefix, given.options);
      await failFast({
        modules,
        moduleRef,
        dataSource: dataSourceToken,
        judge: (description) =>
          validateOffline(description, { options: resolved, controllers, awaited, modules, server }),
      }).catch((error: unknown) => {
        awaited.settle();
        throw error;
      });
      return true;
    },
  };
  return {
    module: RestifyModule,
    imports: [RestifyCoreModule, ...imports],
    providers: [options, early, bound],
    // Read by Nest when it scans the modules, after all files have been loaded and all decorators have run.
    get controllers(): Type[] {
      return controllers.declareControllers(declarations().values());
    },
  };
}

function missingDataSource(name: string | undefined): string {
  return name === undefined
    ? "RestifyModule.forRoot finds no data source. Import TypeOrmModule.forRoot(…) in the application, or name yours: forRoot(prefix, { dataSource: 'name' })."
    : `RestifyModule.forRoot finds no data source named "${name}". Import TypeOrmModule.forRoot({ name: '${name}', … }), or correct the name.`;
}
