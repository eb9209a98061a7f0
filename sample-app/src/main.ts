import { DataSource } from 'typeorm';
import { seed, wantsRows } from './seed.js';
import { databaseName, endWith, logger, portOf, sayRows, serve } from './serve.js';

/** The application in one process. */
async function main(): Promise<void> {
  logger.log(`Opening the database ${databaseName(process.env.DATABASE_URL)}`);
  const app = await serve({
    port: portOf(process.env),
    prepare: async (starting) => {
      if (wantsRows(process.env)) sayRows(await seed(starting.get(DataSource)));
    },
  });
  logger.log(`Listening on ${await app.getUrl()}/ (its index names every model)`);
}

main().catch(endWith);
