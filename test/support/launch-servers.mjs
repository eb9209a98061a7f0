import { connect } from 'node:net';
import { launchMariadb } from './launch-mariadb.cjs';
import { launchPostgres } from './launch-postgres.cjs';

/**
 * Starts dedicated servers for a test run, and sets their URLs in `RESTIFY_TEST_…`: MariaDB unless its URL is set,
 * because a server without durability is much faster; PostgreSQL unless its URL is set or a server responds
 * at the default port. Without installed binaries none is started, and `find-servers.mjs` reports what is missing.
 *
 * @returns {Promise<() => Promise<void>>} a function that stops them
 */
export async function launchServers() {
  const isThere = Boolean(process.env.RESTIFY_TEST_POSTGRES) || (await answers(5432));
  const servers = await Promise.all([
    process.env.RESTIFY_TEST_MARIADB ? undefined : tryToLaunch(launchMariadb, 'RESTIFY_TEST_MARIADB'),
    isThere ? undefined : tryToLaunch(launchPostgres, 'RESTIFY_TEST_POSTGRES'),
  ]);
  return async () => {
    await Promise.all(servers.map((server) => server?.stop()));
  };
}

async function tryToLaunch(launch, variable) {
  try {
    const server = await launch();
    if (server) process.env[variable] = server.url;
    return server;
  } catch (error) {
    console.warn(`A server for ${variable} could not be started: ${error.message}`);
    return undefined;
  }
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (yes) => {
      socket.destroy();
      resolve(yes);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.setTimeout(3000, () => end(false));
  });
}
