import { setImmediate } from 'node:timers';

/** Milliseconds for which one piece of work may hold the event loop before others have their turn. */
export const MAX_BLOCKING_MILLISECONDS = 5;

/** Those who wait for a turn, in the order in which they came. */
const waiting: (() => void)[] = [];
/** Measurements that the end of the present turn ends. */
const measured = new Set<BlockingTime>();
let scheduled = false;

/**
 * Goes back to the event loop, behind all others who wait for a turn: however many long pieces of work there are, one of them
 * goes on in each turn of the loop, and requests, timers and sockets are served between any two.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

/** How long a piece of work has held the event loop: until it is asked, or until the end of the turn in which the work began to wait. */
export class BlockingTime {
  private begun = 0;
  private ended: number | undefined = 0;
  private before = 0;

  constructor() {
    this.resume();
  }

  get milliseconds(): number {
    return this.before + (this.ended ?? performance.now()) - this.begun;
  }

  /** Counts on where the loop has turned meanwhile: what the work has waited for has come. */
  resume(): void {
    if (this.ended === undefined) return;
    this.before = this.milliseconds;
    this.begun = performance.now();
    this.ended = undefined;
    measured.add(this);
    schedule();
  }

  /** Called by the loop, at the end of a turn. */
  end(at: number): void {
    this.ended ??= at;
  }
}

/** Work of many small parts, which takes a turn of the loop whenever it has held it for long enough. */
export class SlicedWork {
  private held = new BlockingTime();

  /** Whether to `pause` before the next part. */
  get isLong(): boolean {
    this.held.resume();
    return this.held.milliseconds >= MAX_BLOCKING_MILLISECONDS;
  }

  async pause(): Promise<void> {
    await nextTurn();
    this.held = new BlockingTime();
  }
}

/** The parts of a long piece of work, with turns of the event loop between where they take long. */
export async function* inSlices<Part>(parts: Iterable<Part>): AsyncGenerator<Part> {
  const work = new SlicedWork();
  for (const part of parts) {
    if (work.isLong) await work.pause();
    yield part;
  }
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  setImmediate(turn);
}

function turn(): void {
  scheduled = false;
  const now = performance.now();
  for (const each of measured) each.end(now);
  measured.clear();
  waiting.shift()?.();
  if (waiting.length > 0) schedule();
}
