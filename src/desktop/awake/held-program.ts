/** A program that holds something as long as it runs. */

/**
 * Starts it, and calls `onLost` if it ends before it was released. Its input is a pipe that only beckon has the other end of, so a
 * program that reads it ends with beckon, however that ends.
 */
export function holdWithProgram(
  argv: readonly string[],
  onLost: (reason: string) => void,
): { release(): void } {
  let isReleased = false;
  const child = Bun.spawn([...argv], { stdin: "pipe", stdout: "ignore", stderr: "pipe" });
  child.unref();
  void child.exited.then(async (code) => {
    if (isReleased) return;
    const [line = ""] = (await child.stderr.text()).trim().split("\n");
    onLost(`${argv[0]} ended with ${code}${line === "" ? "" : `: ${line}`}`);
  });
  return {
    release() {
      isReleased = true;
      child.stdin.end();
      child.kill();
    },
  };
}
