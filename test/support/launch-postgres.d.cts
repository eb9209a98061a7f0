export interface LaunchedPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

/** See `launch-postgres.cjs`. */
export function launchPostgres(): Promise<
  (LaunchedPostgres & { replica(): Promise<LaunchedPostgres | undefined> }) | undefined
>;
