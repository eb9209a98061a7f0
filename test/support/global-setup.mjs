import { findServers } from './find-servers.mjs';
import { launchServers } from './launch-servers.mjs';

/** Once for a run of Jest. Of `npm test` the servers are there already: `scripts/run-tests.mjs` starts them once for both worlds. */
export default async function setUp() {
  globalThis.stopRestifyTestServers = await launchServers();
  await findServers();
}
