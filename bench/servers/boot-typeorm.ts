import { createServer } from 'node:http';
import { DataSource } from 'typeorm';
import { makeEntities } from './boot-entities.js';
import { serve } from './serve.js';

const { BOOT_ENTITIES = '500', BOOT_RELATIONS = '2' } = process.env;

/** TypeORM alone connects: no Nest, no route. */
await serve(async () => {
  const started = performance.now();
  const before = process.cpuUsage();
  const entities = makeEntities(Number(BOOT_ENTITIES), Number(BOOT_RELATIONS));
  await new DataSource({ type: 'better-sqlite3', database: ':memory:', entities }).initialize();
  const milliseconds = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  const rssBytes = process.memoryUsage.rss();
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { server, facts: { milliseconds, cpuMilliseconds: (user + system) / 1000, rssBytes } };
});
