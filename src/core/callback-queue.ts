import { AsyncResource } from 'node:async_hooks';

/** Runs callbacks in their order, a limited number of them at once. */
export class CallbackQueue {
  private readonly waiting: (() => Promise<void>)[] = [];
  private readonly idle: (() => void)[] = [];
  private running = 0;

  constructor(private readonly atOnce: number) {}

  /** The number of callbacks that have not ended. */
  get size(): number {
    return this.running + this.waiting.length;
  }

  /**
   * Starts a callback in a later turn of the event loop, in the current asynchronous context.
   * @param callback must not reject.
   */
  add(callback: () => Promise<void>): void {
    this.waiting.push(AsyncResource.bind(callback));
    setImmediate(this.start);
  }

  /** Resolves once no callback runs or waits. */
  ended(): Promise<void> {
    return this.size === 0 ? Promise.resolve() : new Promise((resolve) => this.idle.push(resolve));
  }

  private readonly start = (): void => {
    while (this.running < this.atOnce) {
      const callback = this.waiting.shift();
      if (!callback) break;
      this.running += 1;
      void callback().finally(() => {
        this.running -= 1;
        this.start();
      });
    }
    if (this.size === 0) for (const resolve of this.idle.splice(0)) resolve();
  };
}
