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
