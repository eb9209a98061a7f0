import type { AddressInfo, Server } from 'node:net';

/** What a server tells its runner, over the channel that it was started with. */
export type Report =
  | { readonly kind: 'listening'; readonly port: number; readonly facts?: Readonly<Record<string, number>> }
  | { readonly kind: 'usage'; readonly cpuMicroseconds: number; readonly rssBytes: number };

/** Starts a contestant, tells the runner its port, answers for its use of CPU, and ends with its runner. */
export async function serve(
  start: () => Promise<{ readonly server: Server; readonly facts?: Readonly<Record<string, number>> }>,
): Promise<void> {
  process.on('disconnect', () => process.exit(0));
  // Every message asks the same.
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
