import cluster from 'node:cluster';
import { clusterSettings } from './cluster-settings.js';
import { prepareDatabase } from './prepare-database.js';
import { isSeeded } from './seed.js';
import { databaseName, endWith, logger, portOf, logSeeding, serve } from './serve.js';
import { Supervisor } from './supervisor.js';

/** Runs the application as a cluster of processes on one port. The primary and each worker run this file. */
async function primary(): Promise<void> {
  const settings = clusterSettings(process.env);
  logger.log(
    `Opening the database ${databaseName(process.env.DATABASE_URL)}${replicaName(process.env.REPLICA_URL)}`,
  );
  const rows = isSeeded(process.env);
  const written = await prepareDatabase(process.env, rows);
  const exitCode = new Supervisor(settings, process.env.PGAPPNAME ?? 'sample-app').run();
  // Logged once signals are handled, because a reader of the log may send one.
  if (rows) logSeeding(written);
  process.exitCode = await exitCode;
}

/** Runs a worker, which disconnects from the primary at its end, because the IPC channel would keep the process alive. */
async function worker(): Promise<void> {
  const disconnect = (): void => {
    cluster.worker?.disconnect();
  };
  try {
    await serve({ port: portOf(process.env), supervised: true, closed: disconnect });
  } catch (error) {
    endWith(error);
    disconnect();
  }
}

function replicaName(url: string | undefined): string {
  return url === undefined || url === '' ? '' : `, and for reads ${databaseName(url)}`;
}

(cluster.isPrimary ? primary() : worker()).catch(endWith);
