import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import type { ClusterSettings } from './cluster-settings.js';
import { HOST, logger } from './serve.js';

const MINUTE = 60_000;

/** A worker and its number, which its replacement inherits. */
interface WorkerEntry {
  readonly number: number;
  readonly worker: Worker;
  listens: boolean;
}

/**
 * Keeps `workers` processes running on one port, until it is stopped or they exit too often. It serves no requests itself:
 * `node:cluster` distributes the connections of the port among the workers.
 */
export class Supervisor {
  private readonly workers = new Map<number, WorkerEntry>();
  private state: 'starting' | 'serving' | 'stopping' = 'starting';
  /** The times of the lost workers in the last minute. */
  private losses: readonly number[] = [];
  private exitCode = 0;
  private overdue: NodeJS.Timeout | undefined;
  private resolveExitCode: (code: number) => void = () => undefined;

  constructor(
    private readonly settings: ClusterSettings,
    private readonly application: string,
  ) {}

  /** Resolves to the exit code when no worker is left: 0 if it was stopped and all workers closed in time, else 1. */
  run(): Promise<number> {
    cluster.on('listening', (worker, { port }) => {
      this.listening(worker, port);
    });
    cluster.on('exit', (worker, code: number | null, signal: string | null) => {
      this.ended(worker, code === null || code === 0 ? (signal ?? '0') : String(code));
    });
    // A terminal sends its signal to the workers too. A second signal has no effect.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.state === 'stopping') return;
        logger.log(`${signal}: stopping ${this.workers.size} workers`);
        this.stop(0);
      });
    }
    for (let number = 1; number <= this.settings.workers; number++) this.fork(number);
    return new Promise((resolve) => (this.resolveExitCode = resolve));
  }

  /** The database connections of each worker have their own application name. */
  private fork(number: number): void {
    const worker = cluster.fork({ PGAPPNAME: `${this.application} worker ${number}` });
    this.workers.set(worker.id, { number, worker, listens: false });
  }

  private listening(worker: Worker, port: number): void {
    const entry = this.workers.get(worker.id);
    if (!entry) return;
    entry.listens = true;
    logger.log(`Worker ${entry.number} answers: process ${worker.process.pid ?? '?'}`);
    if (this.state !== 'starting' || ![...this.workers.values()].every(({ listens }) => listens)) return;
    this.state = 'serving';
    logger.log(`Listening on http://${HOST}:${port}/ with ${this.workers.size} workers`);
  }

  private ended(worker: Worker, how: string): void {
    const entry = this.workers.get(worker.id);
    if (!entry) return;
    this.workers.delete(worker.id);
    switch (this.state) {
      case 'stopping':
        if (how !== '0' && entry.listens) this.exitCode = 1;
        break;
      case 'starting':
        logger.error(`Worker ${entry.number} ended (${how}) before all had started: stopping`);
        this.stop(1);
        break;
      case 'serving':
        this.replace(entry, how);
        break;
      default:
        this.state satisfies never;
    }
    if (this.state === 'stopping' && this.workers.size === 0) this.finish();
  }

  /**
   * Replaces a lost worker. After too many losses within a minute, a restart does not help, and the cluster stops with an
   * error. A worker that closed after a signal is not lost.
   */
  private replace({ number, worker, listens }: WorkerEntry, how: string): void {
    const now = Date.now();
    const isLoss = !listens || how !== '0';
    this.losses = [...this.losses.filter((time) => now - time < MINUTE), ...(isLoss ? [now] : [])];
    const lost = `Worker ${number} (process ${worker.process.pid ?? '?'}) ended (${how})`;
    if (this.losses.length > this.settings.restarts) {
      logger.error(`${lost}, as ${this.losses.length} workers did within a minute: stopping`);
      this.stop(1);
      return;
    }
    logger[isLoss ? 'warn' : 'log'](`${lost}: starting another`);
    this.fork(number);
  }

  /** Stops the workers, which complete their running requests. A worker that exceeds the timeout is killed, which is a failure. */
  private stop(exitCode: number): void {
    this.state = 'stopping';
    this.exitCode = exitCode;
    for (const { worker } of this.workers.values()) worker.process.kill('SIGTERM');
    this.overdue = setTimeout(() => {
      for (const { number, worker } of this.workers.values()) {
        logger.error(`Worker ${number} did not close within ${this.settings.shutdownSeconds} s: ending it`);
        this.exitCode = 1;
        worker.process.kill('SIGKILL');
      }
    }, this.settings.shutdownSeconds * 1000);
  }

  private finish(): void {
    clearTimeout(this.overdue);
    logger.log('All workers have ended');
    this.resolveExitCode(this.exitCode);
  }
}
