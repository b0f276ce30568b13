/** For memories of a limited size. */

interface Memory<Key> {
  readonly size: number;
  keys(): Iterable<Key>;
  delete(key: Key): boolean;
}

/** Removes what was added first to the map or set, if it has more entries than `max`. */
export function forgetOldest<Key>(memory: Memory<Key>, max: number): void {
  if (memory.size <= max) return;
  for (const oldest of memory.keys()) {
    memory.delete(oldest);
    return;
  }
}
