import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Launching from '../../test/support/launch-mariadb.cjs';
import { ROOT } from '../root.js';

/** A server, which `stop` ends if it was started here. */
export interface MariadbServer {
  readonly url: URL;
  stop(): Promise<void>;
}

/** The server of the tests, or one that is started from installed binaries. */
export async function findMariadb(): Promise<MariadbServer> {
  const { launchMariadb } = createRequire(import.meta.url)(
    join(ROOT, 'test/support/launch-mariadb.cjs'),
  ) as typeof Launching;
  const given = process.env.RESTIFY_TEST_MARIADB;
  const launched = given === undefined ? await launchMariadb() : undefined;
  const uri = given ?? launched?.url;
  if (uri === undefined) throw new Error('MariaDB is not installed, and RESTIFY_TEST_MARIADB is not set');
  return {
    url: new URL(uri.replace(/^mariadb:/, 'mysql:')),
    stop: async () => {
      await launched?.stop();
    },
  };
}
