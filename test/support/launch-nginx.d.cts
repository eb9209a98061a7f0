export type NginxConfiguration =
  | { readonly listen?: string; readonly upstream: string; readonly location: string }
  | { readonly http: (listen: string) => string };

/** The path of the binary; undefined if it is not installed. */
export function findNginx(): string | undefined;

/** See `launch-nginx.cjs`. */
export function launchNginx(
  configuration: NginxConfiguration,
): Promise<{ readonly port: number; stop(): Promise<void> }>;
