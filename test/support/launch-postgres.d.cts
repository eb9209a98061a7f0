/** See `launch-postgres.cjs`. */
export function launchPostgres(): Promise<{ readonly url: string; stop(): Promise<void> } | undefined>;
