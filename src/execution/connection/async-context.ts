import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A value of the current asynchronous context, as `AsyncLocalStorage`, for work that is awaited: once the work has
 * settled, its value may be lost to what it has left running.
 *
 * The storage is disabled while nothing runs in it. An enabled storage makes Node before version 24 call hooks for every
 * promise of the process, which costs a tenth to a fifth of each request, even of those without a context.
 */
export class AsyncContext<Value> {
  private readonly storage = new AsyncLocalStorage<Value>();
  private running = 0;

  get value(): Value | undefined {
    return this.running === 0 ? undefined : this.storage.getStore();
  }

  /** Runs work outside of the context. */
  exit(work: () => void): void {
    if (this.running === 0) work();
    else this.storage.exit(work);
  }

  async run<Result>(value: Value, work: () => Promise<Result>): Promise<Result> {
    this.running += 1;
    try {
      return await this.storage.run(value, work);
    } finally {
      this.running -= 1;
      if (this.running === 0) this.storage.disable();
    }
  }
}
