import { Logger } from '@nestjs/common';
import type { INestApplication, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SwaggerModule } from '@nestjs/swagger';
import { apiDocument } from './api-document.js';
import { AppModule } from './app.module.js';
import { ClientsModule } from './clients.module.js';

export const logger = new Logger('SampleApp');

export const HOST = '127.0.0.1';

/** A failure to start is logged once, by `endWith`, and is no stack trace of Nest's. */
const QUIET_FAILURE: NestApplicationOptions = { abortOnError: false };
const SUPERVISED: NestApplicationOptions = { ...QUIET_FAILURE, logger: ['fatal', 'error', 'warn'] };

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

export interface Serving {
  readonly port: number;
  /** Before it listens. */
  readonly prepare?: (app: INestApplication) => Promise<void>;
  /** One of several, whose steps somebody else tells: it logs warnings and errors alone, and is not ended by a second signal while it obeys the first. */
  readonly supervised?: true;
  /** After a signal, when the application has closed. */
  readonly closed?: () => void;
}

/** The application, which listens. On SIGTERM and SIGINT it finishes the requests that run, refuses new ones, and closes the database. */
export async function serve({ port, prepare, supervised, closed }: Serving): Promise<INestApplication> {
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
    // What the pool keeps open would keep the process alive.
    await app.close();
    throw error;
  }
  // A signal that came before it listened has closed no port.
  if (closing) await app.close();
  return app;
}

async function closeApp(app: INestApplication, signal: NodeJS.Signals): Promise<void> {
  logger.log(`${signal}: closing`);
  await app.close().then(() => {
    logger.log('Closed');
  }, endWith);
}

/** Logs why, and ends with 1 when there is nothing left to do. */
export function endWith(error: unknown): void {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

/** Without the password that a URL may hold. */
export function databaseName(url: string | undefined): string {
  if (url === undefined || url === '') return 'sample-app.sqlite';
  return url.replace(/\/\/[^@/]*@/, '//***@');
}

export function sayRows(written: boolean): void {
  logger.log(written ? 'Wrote a few rows to begin with' : 'Found the rows of an earlier start');
}

export function portOf({ PORT: port = '3000' }: { readonly PORT?: string | undefined }): number {
  return Number(port);
}
