import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Server } from 'node:net';

export type Platform = 'express' | 'fastify';

/** A Nest application without a log, on a free port of the loopback. */
export async function startNest(module: Type, platform: Platform, configure?: (app: INestApplication) => void): Promise<{ readonly app: INestApplication; readonly server: Server }> {
  const options = { logger: false as const, abortOnError: false };
  const app: INestApplication = platform === 'fastify' ? await NestFactory.create(module, new FastifyAdapter(), options) : await NestFactory.create(module, options);
  configure?.(app);
  await app.listen(0, '127.0.0.1');
  return { app, server: app.getHttpServer() as Server };
}
