import { connect } from 'node:net';
import { launchMariadb } from './launch-mariadb.cjs';
import { launchPostgres } from './launch-postgres.cjs';

/**
 * Starts the servers that a run of tests has of its own, and names them in `RESTIFY_TEST_…`: MariaDB where it is not named
 * yet, since one without durability is far faster than the machine's; PostgreSQL where it is not named yet and none answers
 * at the standard port. Without installed binaries there is none, and `find-servers.mjs` says what is missing.
 *
 * @returns {Promise<() => Promise<void>>} stops them
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
