import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { Server } from 'node:net';

export type Platform = 'express' | 'fastify';

/** Starts a Nest application without logging, on a free port of the loopback interface. */
export async function startNest(
  module: Type,
  platform: Platform | AbstractHttpAdapter,
  configure?: (app: INestApplication) => void,
): Promise<{ readonly app: INestApplication; readonly server: Server }> {
  const options = { logger: false as const, abortOnError: false };
  const adapter = platform === 'fastify' ? await createFastifyAdapter() : platform;
  const app: INestApplication =
    typeof adapter === 'string'
      ? await NestFactory.create(module, options)
      : await NestFactory.create(module, adapter, options);
  configure?.(app);
  await app.listen(0, '127.0.0.1');
  return { app, server: app.getHttpServer() as Server };
}

/** Loaded where it is used, so that the start on Express does not include it. */
async function createFastifyAdapter(): Promise<AbstractHttpAdapter> {
  const { FastifyAdapter } = await import('@nestjs/platform-fastify');
  return new FastifyAdapter();
}
