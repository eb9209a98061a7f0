export interface LaunchedMariadb {
  readonly url: string;
  stop(): Promise<void>;
}

/** See `launch-mariadb.cjs`. */
export function launchMariadb(): Promise<LaunchedMariadb | undefined>;
