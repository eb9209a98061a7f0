import { connect } from 'node:net';
import { findServers } from './find-servers.mjs';
import { launchPostgres } from './launch-postgres.cjs';

/**
 * Once for a run of all tests: where PostgreSQL neither is named by `RESTIFY_TEST_POSTGRES` nor answers on its standard
 * port, one is started from installed binaries. Without any the tests on PostgreSQL say so themselves.
 */
export default async function setUp() {
  await startMissingPostgres();
  await findServers();
}

async function startMissingPostgres() {
  if (process.env.RESTIFY_TEST_POSTGRES || (await answers(5432))) return;
  const server = await launchPostgres().catch((error) => {
    console.warn(`PostgreSQL could not be started: ${error.message}`);
    return undefined;
  });
  if (!server) return;
  process.env.RESTIFY_TEST_POSTGRES = server.url;
  globalThis.restifyTestPostgres = server;
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
