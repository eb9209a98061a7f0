import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { cpuOfProcesses } from './process-cpu.js';
import type { CpuByProcess } from './process-cpu.js';
import { ROOT } from './root.js';

/** A running cluster of the sample application. */
export interface SampleCluster {
  readonly workers: number;
  readonly port: number;
  /** The application name of its database connections, to which each worker appends its number. */
  readonly application: string;
  /** The CPU time of the workers and of the primary so far; undefined if it cannot be measured. */
  cpu(): { readonly workers: CpuByProcess; readonly supervisor: CpuByProcess } | undefined;
  stop(): Promise<void>;
}

const START_LIMIT = 120_000;

/** Starts it as `npm run start:cluster` does, on any core. Throws with its output if it fails. */
export async function startSampleCluster(
  workers: number,
  environment: Readonly<Record<string, string>>,
): Promise<SampleCluster> {
  const port = await freePort();
  const application = `bench-cluster-${workers}-${process.pid}`;
  const child = spawn(process.execPath, [join(ROOT, 'dist/sample-app/cluster.js')], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...environment,
      NODE_ENV: 'production',
      NO_COLOR: '1',
      TZ: 'UTC',
      WORKERS: String(workers),
      PORT: String(port),
      PGAPPNAME: application,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    const limit = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`The cluster did not start in time: ${said}`));
    }, START_LIMIT);
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      if (!said.includes('Listening on')) return;
      clearTimeout(limit);
      resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    void ended.then(() => {
      clearTimeout(limit);
      reject(new Error(`The cluster did not start: ${said}`));
    });
  });
  const answering = [...said.matchAll(/Worker \d+ answers: process (\d+)/g)].map(([, id]) => Number(id));
  return {
    workers,
    port,
    application,
    cpu: () => {
      const [ofWorkers, ofSupervisor] = [cpuOfProcesses(answering), cpuOfProcesses([child.pid ?? 0])];
      return ofWorkers && ofSupervisor && { workers: ofWorkers, supervisor: ofSupervisor };
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
}
