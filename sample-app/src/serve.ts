import { Logger } from '@nestjs/common';
import type { INestApplication, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SwaggerModule } from '@nestjs/swagger';
import { apiDocument } from './api-document.js';
import { AppModule } from './app.module.js';
import { ClientsModule } from './clients.module.js';

export const logger = new Logger('SampleApp');

export const HOST = '127.0.0.1';

/** A failed start is logged once, by `endWith`, without the stack trace of Nest. */
const QUIET_FAILURE: NestApplicationOptions = { abortOnError: false };
const SUPERVISED: NestApplicationOptions = { ...QUIET_FAILURE, logger: ['fatal', 'error', 'warn'] };

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

export interface ServeOptions {
  readonly port: number;
  /** Called before the application listens. */
  readonly prepare?: (app: INestApplication) => Promise<void>;
  /** Whether the process is a worker of a cluster: it logs warnings and errors only, and a second signal does not end it during the shutdown. */
  readonly supervised?: true;
  /** Called when the application has closed after a signal. */
  readonly closed?: () => void;
}

/** Starts the application. On SIGTERM and SIGINT it rejects new requests, completes the running ones, and closes the database. */
export async function serve({ port, prepare, supervised, closed }: ServeOptions): Promise<INestApplication> {
  const app = await NestFactory.create(
    process.env.CLIENTS === 'yes' ? ClientsModule : AppModule,
    supervised ? SUPERVISED : QUIET_FAILURE,
  );
  SwaggerModule.setup('docs', app, () => apiDocument(app));
  let closing: Promise<void> | undefined;
  const close = (signal: NodeJS.Signals): void => {
    closing ??= closeApp(app, signal).finally(closed);
  };
  for (const signal of SIGNALS) process[supervised ? 'on' : 'once'](signal, close);
  try {
    await prepare?.(app);
    await app.listen(port, HOST);
  } catch (error) {
    // The open connections of the pool would keep the process alive.
    await app.close();
    throw error;
  }
  // A signal before `listen` has closed no port.
  if (closing) await app.close();
  return app;
}

async function closeApp(app: INestApplication, signal: NodeJS.Signals): Promise<void> {
  logger.log(`${signal}: closing`);
  await app.close().then(() => {
    logger.log('Closed');
  }, endWith);
}

/** Logs the error, and sets the exit code 1. */
export function endWith(error: unknown): void {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

/** The URL of the database without its password, for logs. */
export function databaseName(url: string | undefined): string {
  if (url === undefined || url === '') return 'sample-app.sqlite';
  return url.replace(/\/\/[^@/]*@/, '//***@');
}

export function logSeeding(written: boolean): void {
  logger.log(written ? 'Wrote sample rows' : 'Found the rows of an earlier start');
}

export function portOf({ PORT: port = '3000' }: { readonly PORT?: string | undefined }): number {
  return Number(port);
}
