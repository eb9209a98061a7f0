/* eslint-disable @typescript-eslint/no-extraneous-class -- controllers and modules that are decorated in a loop */
import { Controller, Module, RequestMapping, RequestMethod, ValidationPipe } from '@nestjs/common';
import type { DynamicModule, Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Restify, RestifyModule } from 'nestjs-restify';
import { DataSource } from 'typeorm';
import { makeEntities, relationNames } from './boot-entities.js';
import type { EntityClass } from './boot-entities.js';
import { serve } from './serve.js';
import { startNest } from './start-nest.js';
import type { Platform } from './start-nest.js';

const {
  BOOT_KIND = 'restify',
  BOOT_PLATFORM = 'express',
  BOOT_ENTITIES = '500',
  BOOT_RELATIONS = '2',
} = process.env;
const count = Number(BOOT_ENTITIES);
const relations = Number(BOOT_RELATIONS);
const platform: Platform = BOOT_PLATFORM === 'fastify' ? 'fastify' : 'express';

/** The generated routes of an entity, without HEAD, which GET includes, and without the rejection of all other methods. */
const SERVED = [
  ...[RequestMethod.GET, RequestMethod.POST, RequestMethod.OPTIONS].map((method) => ({ path: '', method })),
  ...[
    RequestMethod.GET,
    RequestMethod.PUT,
    RequestMethod.PATCH,
    RequestMethod.DELETE,
    RequestMethod.OPTIONS,
  ].map((method) => ({ path: ':pk', method })),
  ...relationNames(relations).flatMap(({ children }) =>
    [RequestMethod.GET, RequestMethod.OPTIONS].map((method) => ({ path: `:pk/${children}`, method })),
  ),
];

/** Hand-written controllers with empty methods. */
function emptyControllers(): Type[] {
  return Array.from({ length: count }, (_, at) => {
    const controller = class {};
    Object.defineProperty(controller, 'name', { value: `Empty${at}Controller` });
    for (const [route, mapping] of SERVED.entries()) {
      const descriptor = { value: () => ({ id: 1 }), writable: true, configurable: true };
      Object.defineProperty(controller.prototype, `answer${route}`, descriptor);
      RequestMapping(mapping)(controller.prototype, `answer${route}`, descriptor);
    }
    Controller(`rest/v1/big/model${at}`)(controller);
    return controller;
  });
}

function typeOrm(entities: EntityClass[]): DynamicModule {
  return TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', entities, retryAttempts: 0 });
}

async function application(): Promise<Type> {
  class BootApp {}
  switch (BOOT_KIND) {
    case 'empty':
      Module({ controllers: emptyControllers() })(BootApp);
      return BootApp;
    case 'empty-typeorm':
      Module({
        imports: [typeOrm(makeEntities(count, relations))],
        controllers: emptyControllers(),
      })(BootApp);
      return BootApp;
    case 'by-hand': {
      const { handwrittenModules } = await import('./boot-by-hand.js');
      const entities = makeEntities(count, relations);
      Module({ imports: [typeOrm(entities), ...handwrittenModules(entities, relations)] })(BootApp);
      return BootApp;
    }
    default: {
      const entities = makeEntities(count, relations);
      for (const entity of entities) Restify('big')(entity);
      Module({ imports: [typeOrm(entities), RestifyModule.forRoot('rest/v1')] })(BootApp);
      return BootApp;
    }
  }
}

/** Creates the only table that requests read, after the measured start. */
async function fillLast(dataSource: DataSource): Promise<void> {
  const table = `model${count - 1}`;
  await dataSource.query(
    `CREATE TABLE ${table} (id integer PRIMARY KEY, name varchar, title varchar, note varchar, rank integer, size integer, weight integer, active boolean${relationNames(
      relations,
    )
      .map(({ parent }) => `, ${parent}_id integer`)
      .join('')})`,
  );
  await dataSource.query(
    `INSERT INTO ${table} (id, name, title, note, rank, size, weight, active) VALUES (1, 'name', 'title', 'note', 1, 2, 3, 1)`,
  );
}

await serve(async () => {
  // Decorators are part of the start: those of hand-written controllers run before Nest starts, ours while it starts.
  const started = performance.now();
  const before = process.cpuUsage();
  const isByHand = BOOT_KIND === 'by-hand';
  const { app, server } = await startNest(await application(), platform, (created) => {
    if (isByHand) created.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
  });
  const milliseconds = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  const rssBytes = process.memoryUsage.rss();
  if (BOOT_KIND === 'restify') await fillLast(app.get(DataSource));
  return { server, facts: { milliseconds, cpuMilliseconds: (user + system) / 1000, rssBytes } };
});
