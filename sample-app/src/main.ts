import { DataSource } from 'typeorm';
import { seed, isSeeded } from './seed.js';
import { databaseName, endWith, logger, portOf, logSeeding, serve } from './serve.js';

/** Runs the application in one process. */
async function main(): Promise<void> {
  logger.log(`Opening the database ${databaseName(process.env.DATABASE_URL)}`);
  const app = await serve({
    port: portOf(process.env),
    prepare: async (starting) => {
      if (isSeeded(process.env)) logSeeding(await seed(starting.get(DataSource)));
    },
  });
  logger.log(`Listening on ${await app.getUrl()}/ (its index names every model)`);
}

main().catch(endWith);
