import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import type { ClusterSettings } from './cluster-settings.js';
import { HOST, logger } from './serve.js';

const MINUTE = 60_000;

/** A worker, and its place: the one that replaces it takes the same. */
interface Post {
  readonly place: number;
  readonly worker: Worker;
  listens: boolean;
}

/**
 * Keeps `workers` processes answering on one port, until it is told to stop or they end again and again. It serves
 * nothing itself: it takes connections for the port and hands them to the workers in turns, as `node:cluster` does.
 */
export class Supervisor {
  private readonly posts = new Map<number, Post>();
  private state: 'starting' | 'serving' | 'stopping' = 'starting';
  /** When workers were lost, in the last minute. */
  private losses: readonly number[] = [];
  private exitCode = 0;
  private overdue: NodeJS.Timeout | undefined;
  private allEnded: (code: number) => void = () => undefined;

  constructor(
    private readonly settings: ClusterSettings,
    private readonly application: string,
  ) {}

  /** Resolves when no worker is left: 0 where it was told to stop and all closed in time, else 1. */
  run(): Promise<number> {
    cluster.on('listening', (worker, { port }) => {
      this.listening(worker, port);
    });
    cluster.on('exit', (worker, code: number | null, signal: string | null) => {
      this.ended(worker, code === null || code === 0 ? (signal ?? '0') : String(code));
    });
    // A terminal sends its signal to the workers as well; a second one changes nothing.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.state === 'stopping') return;
        logger.log(`${signal}: stopping ${this.posts.size} workers`);
        this.stop(0);
      });
    }
    for (let place = 1; place <= this.settings.workers; place++) this.fork(place);
    return new Promise((resolve) => (this.allEnded = resolve));
  }

  /** The database sees each worker by a name of its own. */
  private fork(place: number): void {
    const worker = cluster.fork({ PGAPPNAME: `${this.application} worker ${place}` });
    this.posts.set(worker.id, { place, worker, listens: false });
  }

  private listening(worker: Worker, port: number): void {
    const post = this.posts.get(worker.id);
    if (!post) return;
    post.listens = true;
    logger.log(`Worker ${post.place} answers: process ${worker.process.pid ?? '?'}`);
    if (this.state !== 'starting' || ![...this.posts.values()].every(({ listens }) => listens)) return;
    this.state = 'serving';
    logger.log(`Listening on http://${HOST}:${port}/ with ${this.posts.size} workers`);
  }

  private ended(worker: Worker, how: string): void {
    const post = this.posts.get(worker.id);
    if (!post) return;
    this.posts.delete(worker.id);
    switch (this.state) {
      case 'stopping':
        if (how !== '0' && post.listens) this.exitCode = 1;
        break;
      case 'starting':
        logger.error(`Worker ${post.place} ended (${how}) before all had started: stopping`);
        this.stop(1);
        break;
      case 'serving':
        this.replace(post, how);
        break;
      default:
        this.state satisfies never;
    }
    if (this.state === 'stopping' && this.posts.size === 0) this.finish();
  }

  /**
   * What is lost again and again is not mended by starting it: whoever has started this process has to know. One that was
   * told to end, and has closed as it should, is no loss.
   */
  private replace({ place, worker, listens }: Post, how: string): void {
    const now = Date.now();
    const isLoss = !listens || how !== '0';
    this.losses = [...this.losses.filter((time) => now - time < MINUTE), ...(isLoss ? [now] : [])];
    const lost = `Worker ${place} (process ${worker.process.pid ?? '?'}) ended (${how})`;
    if (this.losses.length > this.settings.restarts) {
      logger.error(`${lost}, as ${this.losses.length} workers did within a minute: stopping`);
      this.stop(1);
      return;
    }
    logger[isLoss ? 'warn' : 'log'](`${lost}: starting another`);
    this.fork(place);
  }

  /** Each worker finishes the requests that run. One that takes too long is ended, which is a failure. */
  private stop(exitCode: number): void {
    this.state = 'stopping';
    this.exitCode = exitCode;
    for (const { worker } of this.posts.values()) worker.process.kill('SIGTERM');
    this.overdue = setTimeout(() => {
      for (const { place, worker } of this.posts.values()) {
        logger.error(`Worker ${place} did not close within ${this.settings.shutdownSeconds} s: ending it`);
        this.exitCode = 1;
        worker.process.kill('SIGKILL');
      }
    }, this.settings.shutdownSeconds * 1000);
  }

  private finish(): void {
    clearTimeout(this.overdue);
    logger.log('All workers have ended');
    this.allEnded(this.exitCode);
  }
}
