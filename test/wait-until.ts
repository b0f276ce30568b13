/** How tests wait: for a condition, or, if a span of real time is part of what is tested, for that span and with the reason. */

/** Polls until `check` is true and returns how long that took, in ms. Fails after `timeoutMs` with what was expected. */
export async function waitUntil(
  check: () => unknown,
  timeoutMs: number,
  what: string | (() => string | Promise<string>) = String(check),
  pollMs = 5,
): Promise<number> {
  const started = performance.now();
  for (;;) {
    if (await check()) return performance.now() - started;
    if (performance.now() - started > timeoutMs)
      throw new Error(`not true within ${timeoutMs} ms: ${typeof what === "string" ? what : await what()}`);
    await Bun.sleep(pollMs);
  }
}

/** Reads again and again until the value is right. Throws with the last value if it never is. */
export async function waitForValue<T>(
  read: () => T | Promise<T>,
  isRight: (value: T) => boolean,
  maxMs = 10_000,
): Promise<T> {
  let value = await read();
  const isReached = async () => {
    if (isRight(value)) return true;
    value = await read();
    return isRight(value);
  };
  await waitUntil(isReached, maxMs, () => `the value is still ${JSON.stringify(value)?.slice(0, 2_000)}`, 20);
  return value;
}

/**
 * Waits for a fixed time. Only where nothing can be waited for: a rate, a rule about time in the program that is tested, another
 * program that does not show when it is ready. `why` says which; a house rule forbids every other sleep.
 */
export const letTimePass = (ms: number, why: string): Promise<void> => {
  if (why === "") throw new Error("a wait for a fixed time needs a reason");
  return Bun.sleep(ms);
};
