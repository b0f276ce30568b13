/** Polls until `check` is true and returns how long that took, in ms. Fails after `timeoutMs`. */
export async function waitUntil(
  check: () => unknown,
  timeoutMs: number,
  what: string = String(check),
): Promise<number> {
  const started = performance.now();
  for (;;) {
    if (await check()) return performance.now() - started;
    if (performance.now() - started > timeoutMs) throw new Error(`not true within ${timeoutMs} ms: ${what}`);
    await Bun.sleep(5);
  }
}

/** Reads again and again until the value is right. Throws with the last value if it never is. */
export async function waitForValue<T>(
  read: () => T | Promise<T>,
  isRight: (value: T) => boolean,
  maxMs = 10_000,
): Promise<T> {
  const end = performance.now() + maxMs;
  for (;;) {
    const value = await read();
    if (isRight(value)) return value;
    if (performance.now() > end) {
      throw new Error(`after ${maxMs} ms still: ${JSON.stringify(value)?.slice(0, 2_000)}`);
    }
    await Bun.sleep(20);
  }
}
