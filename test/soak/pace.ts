import { setTimeout as wait } from 'node:timers/promises';

/** Limits how often its callers proceed, all of them together. A caller that is late does not make up for it. */
export class Pace {
  private next = 0;

  /** `rate`: turns per second; 0 for no limit. */
  constructor(private readonly rate: number) {}

  async turn(): Promise<void> {
    if (this.rate === 0) return;
    const now = performance.now();
    const at = Math.max(now, this.next);
    this.next = at + 1000 / this.rate;
    if (at > now) await wait(at - now);
  }
}
