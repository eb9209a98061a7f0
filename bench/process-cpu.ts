import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds by process id. */
export type CpuByProcess = ReadonlyMap<number, number>;

/** CPU time so far of each process, all its threads that live included. Undefined but on Linux, which alone tells it, and of processes on this machine. */
export function cpuOfProcesses(ids: readonly number[]): CpuByProcess | undefined {
  try {
    return new Map(ids.map((id) => [id, cpuOf(id)]));
  } catch {
    return undefined;
  }
}

/** Between two looks. Who is new began at 0, and who has ended is not seen. */
export function spent(before: CpuByProcess, after: CpuByProcess): number {
  return [...after].map(([id, cpu]) => cpu - (before.get(id) ?? 0)).reduce((sum, each) => sum + each, 0);
}

function cpuOf(id: number): number {
  const threads = readdirSync(`/proc/${id}/task`).map(
    (thread) => Number(readFileSync(`/proc/${id}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000,
  );
  return threads.reduce((sum, each) => sum + each, 0);
}
