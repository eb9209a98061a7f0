import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const SERVER_CORE = '0';
const LOAD_CORE = '1';

/** Linux with a second core: the server has one for itself, as far as other processes let it. */
export const PINNED =
  availableParallelism() > 1 && spawnSync('taskset', ['-c', SERVER_CORE, 'true']).status === 0;

export function serverCommand(words: readonly string[]): {
  readonly command: string;
  readonly args: readonly string[];
} {
  const [command = '', ...args] = PINNED ? ['taskset', '-c', SERVER_CORE, ...words] : words;
  return { command, args };
}

/** This process makes the load: it leaves the server's core. */
export function leaveServerCore(): void {
  if (PINNED) spawnSync('taskset', ['-a', '-p', '-c', LOAD_CORE, String(process.pid)]);
}
