import { NestFactory } from '@nestjs/core';
import { createRequire } from 'node:module';
import type { AddressInfo, Server } from 'node:net';
import { DataSource } from 'typeorm';
import { ClientsModule } from '../../sample-app/src/clients.module.js';
import { seedFewRows } from '../support/seed-few-rows.js';

/** Finds the clients, which `npm run worlds` has put there. */
const requireHere = createRequire(new URL('packages/package.json', import.meta.url));

/** A package as it comes from npm. Its types need packages that are not installed: who asks says what is in it. */
export function clientPackage(name: string): unknown {
  try {
    return requireHere(name);
  } catch (error) {
    throw new Error(`${name} is not installed: npm run worlds`, { cause: error });
  }
}

export interface RunningSample {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  close(): Promise<void>;
}

/** The sample application with its first rows, in memory, as `CLIENTS=yes npm start` serves it. */
export async function startSample(): Promise<RunningSample> {
  const before = process.env.DATABASE_URL;
  process.env.DATABASE_URL = 'sqlite::memory:';
  try {
    const app = await NestFactory.create(ClientsModule, { logger: false, abortOnError: false });
    await seedFewRows(app.get(DataSource));
    await app.listen(0, '127.0.0.1');
    const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, close: () => app.close() };
  } finally {
    if (before === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before;
  }
}

/** As HTTP Basic has it; in the sample the password is the name. */
export function basicOf(user: string): string {
  return `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`;
}
