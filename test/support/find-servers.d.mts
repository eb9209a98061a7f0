export function findServers(): Promise<void>;
