import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds by the id of a process or thread. */
export type CpuByProcess = ReadonlyMap<number, number>;

/** The CPU time of each process so far, including all running threads. Undefined except for processes of this machine on Linux. */
export function cpuOfProcesses(ids: readonly number[]): CpuByProcess | undefined {
  try {
    return new Map(ids.map((id) => [id, cpuOf(id)]));
  } catch {
    return undefined;
  }
}

/** The same of threads, by their ids of the operating system. */
export function cpuOfThreads(ids: readonly number[]): CpuByProcess | undefined {
  try {
    return new Map(ids.map((id) => [id, runTime(`/proc/${id}`)]));
  } catch {
    return undefined;
  }
}

/** The CPU time between two measurements. New processes count from 0, and processes that have exited are not included. */
export function spent(before: CpuByProcess, after: CpuByProcess): number {
  return [...after].map(([id, cpu]) => cpu - (before.get(id) ?? 0)).reduce((sum, each) => sum + each, 0);
}

function cpuOf(id: number): number {
  const threads = readdirSync(`/proc/${id}/task`).map((thread) => runTime(`/proc/${id}/task/${thread}`));
  return threads.reduce((sum, each) => sum + each, 0);
}

function runTime(folder: string): number {
  return Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}
