import { Logger } from '@nestjs/common';
import type { INestApplication, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import { seed } from './seed.js';

const logger = new Logger('SampleApp');

/** A failure to start is logged once, below, and is no stack trace of Nest's. */
const QUIET_FAILURE: NestApplicationOptions = { abortOnError: false };

async function main(): Promise<void> {
  const port = Number(process.env.PORT ?? '3000');
  const url = process.env.DATABASE_URL;
  logger.log(`Opening the database ${databaseName(url)}`);
  const app = await NestFactory.create(AppModule, QUIET_FAILURE);
  stopOn(['SIGTERM', 'SIGINT'], app);
  try {
    if (url === undefined || url === '') {
      const seeded = await seed(app.get(DataSource));
      logger.log(seeded ? 'Wrote a few rows to begin with' : 'Found the rows of an earlier start');
    }
    await app.listen(port, '127.0.0.1');
    logger.log(`Listening on ${await app.getUrl()}/ (its index names every model)`);
  } catch (error) {
    // What the pool keeps open would keep the process alive.
    await app.close();
    throw error;
  }
}

/** Requests that run are finished and new ones refused; then the database is closed, and the process ends with 0. */
function stopOn(signals: readonly NodeJS.Signals[], app: INestApplication): void {
  for (const signal of signals) {
    process.once(signal, () => {
      logger.log(`${signal}: closing`);
      app.close().then(
        () => {
          logger.log('Closed');
        },
        (error: unknown) => {
          logger.error(error);
          process.exitCode = 1;
        },
      );
    });
  }
}

/** Without the password that a URL may hold. */
function databaseName(url: string | undefined): string {
  if (url === undefined || url === '') return 'sample-app.sqlite';
  return url.replace(/\/\/[^@/]*@/, '//***@');
}

main().catch((error: unknown) => {
  logger.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
