import { findServers } from './find-servers.mjs';
import { launchServers } from './launch-servers.mjs';

/** Starts the servers of a run of Jest. In `npm test`, `scripts/run-tests.mjs` has already started them for both worlds. */
export default async function setUp() {
  globalThis.stopRestifyTestServers = await launchServers();
  await findServers();
}
