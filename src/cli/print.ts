/** To stdout. Whoever reads it may leave early (`beckon status | head -1`): that is no error. */
export function print(text: string): void {
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => {});
  process.stdout.write(text);
}
