/** Keeps a cache bounded: called after an entry was added, forgets the oldest one if there are now more than `max`. */
export function evictOldest<Key>(cache: Map<Key, unknown>, max: number): void {
  if (cache.size <= max) return;
  for (const oldest of cache.keys()) {
    cache.delete(oldest);
    return;
  }
}
