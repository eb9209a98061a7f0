/** What a process holds at one moment, after its garbage was collected. */
export interface MemorySample {
  readonly seconds: number;
  readonly heap: number;
  /** Without what a database in memory holds: rows are data, and there are more of them after each request that creates one. */
  readonly rss: number;
  /** What a database in memory holds, in bytes. */
  readonly data: number;
}

/** Growth from the window after the warm-up to the last one that counts as flat, in bytes: a share, or an amount that noise alone makes. */
const BOUNDS = {
  heap: { share: 0.1, amount: 16 * 2 ** 20 },
  rss: { share: 0.15, amount: 48 * 2 ** 20 },
} as const;

/** Which figures grew beyond their bound: medians of the second fifth of the samples, after the warm-up, and of the last. */
export function grownFigures(samples: readonly MemorySample[]): readonly string[] {
  const fifth = Math.max(1, Math.floor(samples.length / 5));
  const before = samples.slice(fifth, 2 * fifth);
  const after = samples.slice(-fifth);
  return (['heap', 'rss'] as const).flatMap((name) => {
    const [first, last] = [medianOf(before, name), medianOf(after, name)];
    const bound = first + Math.max(first * BOUNDS[name].share, BOUNDS[name].amount);
    return last > bound
      ? [`${name} grew from ${megabytes(first)} to ${megabytes(last)}, and ${megabytes(bound)} is the bound`]
      : [];
  });
}

function medianOf(samples: readonly MemorySample[], name: 'heap' | 'rss'): number {
  const values = samples.map((sample) => sample[name]).sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? 0;
}

export function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

/** `data` in bytes: what a database in memory holds. */
export function sampleMemory(begin: number, data: number): MemorySample {
  // Twice: what finalizers hold goes with the second.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { seconds: Math.round((Date.now() - begin) / 1000), heap: heapUsed, rss: rss - data, data };
}
