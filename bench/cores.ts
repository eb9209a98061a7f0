import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const SERVER_CORE = '0';
const LOAD_CORE = '1';

/** Whether the server gets a core of its own: on Linux with at least two cores. */
export const PINNED =
  availableParallelism() > 1 && spawnSync('taskset', ['-c', SERVER_CORE, 'true']).status === 0;

export function serverCommand(words: readonly string[]): {
  readonly command: string;
  readonly args: readonly string[];
} {
  const [command = '', ...args] = PINNED ? ['taskset', '-c', SERVER_CORE, ...words] : words;
  return { command, args };
}

/** Moves this process, which generates the load, to the other cores. */
export function leaveServerCore(): void {
  if (PINNED) spawnSync('taskset', ['-a', '-p', '-c', LOAD_CORE, String(process.pid)]);
}
