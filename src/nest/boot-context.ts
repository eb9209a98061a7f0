import type { ModuleRef, ModulesContainer } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import type { ResolvedOptions } from '../restify.options.js';
import type { AwaitedPrefix } from './unknown-entities.js';
import type { GeneratedControllers } from './controller-factory.js';
import type { RestServer } from '../http/rest-server.js';

export interface BootContext {
  readonly options: ResolvedOptions;
  readonly dataSource: DataSource;
  readonly server: RestServer;
  readonly controllers: GeneratedControllers;
  readonly awaited: AwaitedPrefix;
  readonly moduleRef: ModuleRef;
  readonly modules: ModulesContainer;
}
