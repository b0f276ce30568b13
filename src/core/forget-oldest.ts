/** For memories of a limited size. */

interface Memory<Key> {
  readonly size: number;
  keys(): Iterable<Key>;
  delete(key: Key): boolean;
}

/** Adds the key to a memory of at most `max` keys. Returns false if it is known. */
export function rememberOnce<Key>(seen: Set<Key>, key: Key, max: number): boolean {
  if (seen.has(key)) return false;
  seen.add(key);
  forgetOldest(seen, max);
  return true;
}

/** Removes what was added first to the map or set, if it has more entries than `max`. */
export function forgetOldest<Key>(memory: Memory<Key>, max: number): void {
  if (memory.size <= max) return;
  for (const oldest of memory.keys()) {
    memory.delete(oldest);
    return;
  }
}
