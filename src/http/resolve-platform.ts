import { expressPlatform } from './express/express-platform.js';
import { fastifyPlatform } from './fastify/fastify-platform.js';
import type { HttpPlatform } from './http-platform.js';

const PLATFORMS: Readonly<Record<string, HttpPlatform>> = {
  express: expressPlatform,
  fastify: fastifyPlatform,
};

/**
 * The platform for the type of Nest's HTTP adapter.
 * @throws Error for an unsupported one.
 */
export function resolvePlatform(type: string): HttpPlatform {
  const platform = Object.hasOwn(PLATFORMS, type) ? PLATFORMS[type] : undefined;
  if (!platform) {
    throw new Error(
      `nestjs-restify serves Express and Fastify applications, and this one has an HTTP adapter of type "${type}". Create it with @nestjs/platform-express or @nestjs/platform-fastify.`,
    );
  }
  return platform;
}
