/** Stops the servers that `global-setup.mjs` has started. */
export default async function tearDown() {
  await globalThis.stopRestifyTestServers?.();
}
