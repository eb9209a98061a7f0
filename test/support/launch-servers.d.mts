/** Stops what it has started. */
export function launchServers(): Promise<() => Promise<void>>;
