import { setImmediate } from 'node:timers';
import { isPromise } from './maybe-promise.js';
import type { MaybePromise } from './maybe-promise.js';

/** Maximum time in milliseconds for which a task may block the event loop before it yields. */
export const MAX_BLOCKING_MILLISECONDS = 5;

/** Resolvers of `nextTurn`, first in, first out. */
const waiting: (() => void)[] = [];
/** Measurements that end with the current turn of the event loop. */
const measured = new Set<BlockingTime>();
let scheduled = false;

/**
 * Yields to the event loop and resumes after all earlier callers. Only one caller resumes in each turn of the loop, so that
 * requests, timers and sockets are served between any two, however many long tasks there are.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}

/** Measures the time for which a task has blocked the event loop: until now, or until the end of the turn in which it began to wait. */
export class BlockingTime {
  private startedAt = 0;
  private ended: number | undefined = 0;
  private before = 0;

  constructor() {
    this.resume();
  }

  get milliseconds(): number {
    return this.before + (this.ended ?? performance.now()) - this.startedAt;
  }

  /** Continues the measurement after the task has waited. */
  resume(): void {
    if (this.ended === undefined) return;
    this.before = this.milliseconds;
    this.startedAt = performance.now();
    this.ended = undefined;
    measured.add(this);
    schedule();
  }

  /** Ends the measurement at the end of a turn. */
  end(at: number): void {
    this.ended ??= at;
  }
}

/** A task of many small parts, which yields to the event loop after `MAX_BLOCKING_MILLISECONDS`. */
export class SlicedWork {
  private blockingTime = new BlockingTime();

  /** Whether to `pause` before the next part. */
  get isLong(): boolean {
    this.blockingTime.resume();
    return this.blockingTime.milliseconds >= MAX_BLOCKING_MILLISECONDS;
  }

  async pause(): Promise<void> {
    await nextTurn();
    this.blockingTime = new BlockingTime();
  }
}

/** Iterates over the parts of a long task, and yields to the event loop in between if they take long. */
export async function* inSlices<Part>(parts: Iterable<Part>): AsyncGenerator<Part> {
  const work = new SlicedWork();
  for (const part of parts) {
    if (work.isLong) await work.pause();
    yield part;
  }
}

/**
 * Calls `visit` for the parts of a long task, one after the other, and yields to the event loop in between as `inSlices`; without a promise
 * if no call returns one, and all of them take less time than that.
 */
export function eachInSlices<Part>(
  parts: Iterable<Part>,
  visit: (part: Part) => MaybePromise<void>,
): MaybePromise<void> {
  const work = new SlicedWork();
  const rest = parts[Symbol.iterator]();
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    const visited = work.isLong ? work.pause().then(() => visit(next.value)) : visit(next.value);
    if (isPromise(visited)) return visitOthers(visited, { rest, visit, work });
  }
}

async function visitOthers<Part>(
  visited: Promise<void>,
  {
    rest,
    visit,
    work,
  }: {
    readonly rest: Iterator<Part>;
    readonly visit: (part: Part) => MaybePromise<void>;
    readonly work: SlicedWork;
  },
): Promise<void> {
  await visited;
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    if (work.isLong) await work.pause();
    const more = visit(next.value);
    if (isPromise(more)) await more;
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
