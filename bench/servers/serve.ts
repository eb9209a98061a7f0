import type { AddressInfo, Server } from 'node:net';

/** A message of a server to its runner, over the IPC channel. */
export type Report =
  | { readonly kind: 'listening'; readonly port: number; readonly facts?: Readonly<Record<string, number>> }
  | { readonly kind: 'usage'; readonly cpuMicroseconds: number; readonly rssBytes: number };

/** Starts a contestant, sends its port to the runner, reports its CPU time on request, and exits with its runner. */
export async function serve(
  start: () => Promise<{ readonly server: Server; readonly facts?: Readonly<Record<string, number>> }>,
): Promise<void> {
  process.on('disconnect', () => process.exit(0));
  // Every message is a request for the CPU time.
  process.on('message', () => {
    report(usage());
  });
  const { server, facts } = await start();
  const { port } = server.address() as AddressInfo;
  report({ kind: 'listening', port, ...(facts ? { facts } : {}) });
}

function usage(): Report {
  const { user, system } = process.cpuUsage();
  return { kind: 'usage', cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss() };
}

function report(told: Report): void {
  process.send?.(told);
}
