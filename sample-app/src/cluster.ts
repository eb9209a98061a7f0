import cluster from 'node:cluster';
import { clusterSettings } from './cluster-settings.js';
import { prepareDatabase } from './prepare-database.js';
import { wantsRows } from './seed.js';
import { databaseName, endWith, logger, portOf, sayRows, serve } from './serve.js';
import { Supervisor } from './supervisor.js';

/** The application as a cluster of processes behind one port: this file is run by the primary and by each worker. */
async function primary(): Promise<void> {
  const settings = clusterSettings(process.env);
  logger.log(
    `Opening the database ${databaseName(process.env.DATABASE_URL)}${replicaName(process.env.REPLICA_URL)}`,
  );
  const rows = wantsRows(process.env);
  const written = await prepareDatabase(process.env, rows);
  if (rows) sayRows(written);
  process.exitCode = await new Supervisor(settings, process.env.PGAPPNAME ?? 'sample-app').run();
}

/** Its channel to the primary would keep it alive; without it, and without a server, it ends by itself. */
async function worker(): Promise<void> {
  const leave = (): void => {
    cluster.worker?.disconnect();
  };
  try {
    await serve({ port: portOf(process.env), supervised: true, closed: leave });
  } catch (error) {
    endWith(error);
    leave();
  }
}

function replicaName(url: string | undefined): string {
  return url === undefined || url === '' ? '' : `, and for reads ${databaseName(url)}`;
}

(cluster.isPrimary ? primary() : worker()).catch(endWith);
