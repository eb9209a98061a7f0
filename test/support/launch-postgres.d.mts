/** See `launch-postgres.mjs`. */
export function launchPostgres(): Promise<{ readonly url: string; stop(): Promise<void> } | undefined>;
