import { launchMariadb } from './launch-mariadb.cjs';
import { launchPostgres } from './launch-postgres.cjs';

/**
 * Starts servers without durability for a test run, which are much faster than others, and sets their URLs in `RESTIFY_TEST_…`
 * unless they are set. Without installed binaries none is started, and `find-servers.mjs` looks at the default ports.
 *
 * @returns {Promise<() => Promise<void>>} a function that stops them
 */
export async function launchServers() {
  const servers = await Promise.all([
    process.env.RESTIFY_TEST_MARIADB || process.env.RESTIFY_TEST_MYSQL
      ? undefined
      : tryToLaunch(launchMariadb, 'RESTIFY_TEST_MARIADB'),
    process.env.RESTIFY_TEST_POSTGRES ? undefined : tryToLaunch(launchPostgres, 'RESTIFY_TEST_POSTGRES'),
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
